import type { Static } from '@sinclair/typebox';
import { TrustedProxies } from '#adapters/inbound/http/evidence.ts';
import { type Slot, slots } from '../kit/contract.ts';
import { type Choice, type Chosen, choose } from './choose.ts';
import { isTable, Problems, readTable, suggestion, type Table } from './schema.ts';
import { sections } from './sections.ts';

type Section = keyof typeof sections;

/** The validated contents of postern.toml. */
export type ServerConfiguration = { readonly [S in Section]: Static<(typeof sections)[S]> } & {
  readonly [S in Slot]: readonly Chosen<S>[];
};

export interface ConfigurationInput extends Choice {
  /** The parsed file; undefined without one. */
  readonly tables: unknown;
  /** Options of the command line, which take precedence over `[server]`. */
  readonly overrides: { readonly https_port?: number; readonly http_port?: number };
}

/** The configuration is invalid. Each problem names a path and what is wrong there, but no value. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/**
 * Validates the whole configuration without opening anything: each table against its schema, the table of each plugin against the
 * schema of the plugin, the number of plugins per slot, and rules across tables. Throws a ConfigurationError with all problems.
 */
export async function readConfiguration(input: ConfigurationInput): Promise<ServerConfiguration> {
  const problems = new Problems();
  const tables = isTable(input.tables) ? input.tables : {};
  for (const key of Object.keys(tables)) {
    const known = [...Object.keys(sections), ...Object.keys(slots)];
    if (!known.includes(key)) problems.add(key.slice(0, 100), `unknown table${suggestion(key, known)}`);
  }
  const given: Record<string, unknown> = {
    ...tables,
    server: { ...table(tables.server), ...input.overrides },
  };
  if (tables.server !== undefined && !isTable(tables.server)) given.server = tables.server;
  const own = Object.fromEntries(
    Object.entries(sections).map(([name, schema]) => [
      name,
      readTable(given[name] ?? {}, schema, name, input.source, problems),
    ]),
  );
  const chosen: Record<string, readonly Chosen[]> = {};
  for (const slot of Object.keys(slots) as Slot[]) {
    chosen[slot] = await choose(slot, tables[slot], input, problems);
  }
  const configuration = { ...own, ...chosen } as unknown as ServerConfiguration;
  crossCheck(configuration, problems);
  if (problems.lines.length > 0) throw new ConfigurationError(problems.lines);
  return configuration;
}

const table = (value: unknown): Table => (isTable(value) ? value : {});

function crossCheck({ server, secrets, backup }: ServerConfiguration, problems: Problems): void {
  if (server.https_port === server.http_port && server.https_port !== 0) {
    problems.add('server.http_port', 'must differ from https_port');
  }
  if ((backup.sftp_key === undefined) !== (backup.sftp_host_key === undefined)) {
    problems.add('backup', 'needs sftp_key and sftp_host_key together, or neither');
  }
  if (secrets.key_file !== undefined && secrets.passphrase !== undefined) {
    problems.add('secrets', 'has both key_file and passphrase: remove one of them');
  }
  if (secrets.new_passphrase !== undefined && secrets.passphrase === undefined) {
    problems.add('secrets.new_passphrase', 'requires passphrase, the current one');
  }
  if (!problems.has('server.trusted_proxies')) {
    server.trusted_proxies.forEach((range, n) => {
      try {
        new TrustedProxies([range]);
      } catch {
        problems.add(`server.trusted_proxies.${n}`, 'must be an address, or a range like 10.0.0.0/8');
      }
    });
  }
}
