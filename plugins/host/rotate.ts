import {
  finishRotation,
  isRotating,
  prepareRotation,
} from '#adapters/outbound/system/master-key-rotation.ts';
import { lockDirectory } from '#adapters/outbound/system/platform.ts';
import type { LoadedConfiguration } from './config-file.ts';
import { masterKeyOptions } from './service.ts';

export interface RotationOptions {
  /** Makes the new key and does no more. */
  readonly prepare: boolean;
  /** Does nothing unless a rotation has been prepared or was cut off. */
  readonly resume: boolean;
  /** Seals everything with the new key: how many secrets that was. */
  reseal(): Promise<number>;
}

export interface Rotation {
  readonly state: 'none' | 'prepared' | 'rotated';
  readonly secrets: number;
  readonly source: 'file' | 'passphrase';
}

/** Replaces the master key. May be called again after it was cut off at any point. Errors have a message for the operator. */
export async function rotateMasterKey(
  loaded: LoadedConfiguration,
  { prepare, resume, reseal }: RotationOptions,
): Promise<Rotation> {
  const options = masterKeyOptions(loaded);
  const source = options.passphrase === undefined ? 'file' : 'passphrase';
  if (resume && !(await isRotating(options))) return { state: 'none', secrets: 0, source };
  using _lock = prepare ? undefined : alone(loaded);
  await prepareRotation(options);
  if (prepare) return { state: 'prepared', secrets: 0, source };
  const secrets = await reseal();
  await finishRotation(options);
  return { state: 'rotated', secrets, source };
}

/** A gateway with a store of its own must not run meanwhile. */
function alone({ configuration, dataDirectory }: LoadedConfiguration): Disposable | undefined {
  if (!configuration.store[0]?.plugin.oneProcess) return undefined;
  const lock = lockDirectory(dataDirectory);
  if (lock) return lock;
  throw new Error(`the data directory ${dataDirectory} is in use by postern serve: stop it first`);
}
