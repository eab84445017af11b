import {
  finishRotation,
  isRotating,
  prepareRotation,
} from '#adapters/outbound/system/master-key-rotation.ts';
import { lockDirectory } from '#adapters/outbound/system/platform.ts';
import type { LoadedConfiguration } from './config-file.ts';
import { masterKeyOptions } from './service.ts';

export interface RotationOptions {
  /** Only generates the new key. */
  readonly prepare: boolean;
  /** Does nothing unless a rotation was prepared or interrupted. */
  readonly resume: boolean;
  /** Encrypts everything with the new key. Returns the number of secrets. */
  reseal(): Promise<number>;
}

export interface Rotation {
  readonly state: 'none' | 'prepared' | 'rotated';
  readonly secrets: number;
  readonly source: 'file' | 'passphrase';
}

/** Replaces the master key. Can be repeated after an interruption at any point. Throws Errors with a message for the operator. */
export async function rotateMasterKey(
  loaded: LoadedConfiguration,
  { prepare, resume, reseal }: RotationOptions,
): Promise<Rotation> {
  const options = masterKeyOptions(loaded);
  const source = options.passphrase === undefined ? 'file' : 'passphrase';
  if (resume && !(await isRotating(options))) return { state: 'none', secrets: 0, source };
  using _lock = prepare ? undefined : lockOut(loaded);
  await prepareRotation(options);
  if (prepare) return { state: 'prepared', secrets: 0, source };
  const secrets = await reseal();
  await finishRotation(options);
  return { state: 'rotated', secrets, source };
}

/** Locks the data directory, if the store allows only one process, so that no gateway runs during the rotation. */
function lockOut({ configuration, dataDirectory }: LoadedConfiguration): Disposable | undefined {
  if (!configuration.store[0]?.plugin.oneProcess) return undefined;
  const lock = lockDirectory(dataDirectory);
  if (lock) return lock;
  throw new Error(`the data directory ${dataDirectory} is in use by postern serve: stop it first`);
}
