import { closeSync, existsSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Plugin } from '../kit/contract.ts';
import { ConfigurationError, readConfiguration, type ServerConfiguration } from './config.ts';
import { loadPlugin } from './registry.ts';
import type { Source } from './schema.ts';

/** Where an installation is, from the options of the command line. */
export interface Place {
  /** Default: the variable POSTERN_DATA, else `./data`. */
  readonly data?: string | undefined;
  /** Default: the variable POSTERN_CONFIG, else `postern.toml` in the working directory or in the data directory, if there is one. */
  readonly config?: string | undefined;
  readonly httpsPort?: number | undefined;
  readonly httpPort?: number | undefined;
}

export interface LoadedConfiguration {
  readonly configuration: ServerConfiguration;
  /** An absolute path. */
  readonly dataDirectory: string;
  /** The absolute path of the file that was read; undefined if there is none. */
  readonly file: string | undefined;
  /** The tables of the file, before defaults and references; may contain secrets. */
  readonly tables: unknown;
  /** The keys of [server] that the command line sets. */
  readonly overrides: Readonly<Record<string, number>>;
}

/** Finds, reads and checks the configuration. Throws a ConfigurationError. */
export async function loadConfiguration(
  { data, config, httpsPort, httpPort }: Place,
  catalog: readonly Plugin[],
): Promise<LoadedConfiguration> {
  const dataDirectory = resolve(data ?? (process.env.POSTERN_DATA || 'data'));
  const named = config ?? (process.env.POSTERN_CONFIG || undefined);
  const candidates = [resolve('postern.toml'), join(dataDirectory, 'postern.toml')];
  const file = named === undefined ? candidates.find((path) => existsSync(path)) : resolve(named);
  const directory = file === undefined ? process.cwd() : dirname(file);
  const tables = file === undefined ? {} : readToml(file);
  const overrides = {
    ...(httpsPort !== undefined && { https_port: httpsPort }),
    ...(httpPort !== undefined && { http_port: httpPort }),
  };
  const configuration = await readConfiguration({
    tables,
    overrides,
    source: sourceIn(directory),
    catalog,
    load: (specifier) => loadPlugin(specifier, directory),
  });
  return { configuration, dataDirectory, file, tables, overrides };
}

/** Returns the source of values that a configuration in `directory` refers to: environment variables and files. */
export const sourceIn = (directory: string): Source => ({ environment: process.env, directory, readSecret });

function readToml(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigurationError([`${file}: ${why(error)}`]);
  }
  try {
    return Bun.TOML.parse(text);
  } catch (error) {
    // After the colon, the parser quotes the file, which may contain secrets.
    const [message] = (error as Error).message.replace(/^TOML Parse error: /, '').split(':');
    throw new ConfigurationError([`${file}, near line ${lineOfError(text)}: ${message}`]);
  }
}

/** Returns the line with the error, which the parser does not report: the text before that line still parses. */
function lineOfError(text: string): number {
  const lines = text.split('\n');
  for (let n = lines.length - 1; n > 0; n--) {
    try {
      Bun.TOML.parse(lines.slice(0, n).join('\n'));
      return n + 1;
    } catch {}
  }
  return 1;
}

const maxSecretOctets = 65_536;

/** Reads a secret from a file that only its owner can read. A line feed at the end is removed. */
function readSecret(path: string): string {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'r');
  } catch (error) {
    throw new Error(`the file ${why(error)}`);
  }
  try {
    const file = fstatSync(descriptor);
    const { mode, size } = file;
    if (file.isDirectory()) throw new Error('the file is a directory');
    // systemd hands a credential to the account of a unit by an access control list, which shows as the mode of the group.
    const others = resolve(path).startsWith('/run/credentials/') ? 0o037 : 0o077;
    if ((mode & others) !== 0) throw new Error('other accounts can read the file: run chmod 600 on it');
    if (size > maxSecretOctets) throw new Error(`the file is larger than ${maxSecretOctets / 1024} KiB`);
    return readFileSync(descriptor, 'utf8').replace(/\r?\n$/, '');
  } finally {
    closeSync(descriptor);
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'is not readable by this account',
  EISDIR: 'is a directory',
};

const why = (error: unknown): string =>
  reasons[(error as NodeJS.ErrnoException).code ?? ''] ?? 'cannot be read';
