import { type Static, type TObject, Type } from '@sinclair/typebox';
import { TrustedProxies } from '#adapters/inbound/http/evidence.ts';
import { type Slot, slots } from '../kit/contract.ts';
import { type Choice, type Chosen, choose } from './choose.ts';
import { isTable, Problems, readTable, suggestion, type Table } from './schema.ts';

const closed = { additionalProperties: false } as const;
const port = (number: number) => Type.Integer({ minimum: 0, maximum: 65_535, default: number });
const optionalCount = (max: number) => Type.Optional(Type.Integer({ minimum: 1, maximum: max }));
const url = (title: string, pattern: string) => Type.Optional(Type.String({ title, pattern }));

const serverName = '^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|[0-9A-Fa-f:.]{2,45})$';

/** The tables of the configuration that do not belong to plugins. All members are optional. */
export const sections = {
  server: Type.Object(
    {
      /** 0: any free port. */
      https_port: port(8443),
      http_port: port(8080),
      /** The address to listen on. Default: all addresses. */
      host: Type.Optional(Type.String({ minLength: 1 })),
      /** The URL by which clients reach the HTTPS listener. */
      base_url: url('a URL like https://pki.example:8443, without a path', '^https://[^/?#@\\s]+/?$'),
      /** The URL by which clients reach CRLs and CA certificates; certificates contain it. */
      public_url: url('a URL like http://pki.example:8080, without a path', '^https?://[^/?#@\\s]+/?$'),
      /** DNS names and IP addresses in the TLS certificate that the first start issues. */
      names: Type.Optional(
        Type.Array(Type.String({ title: 'a DNS name or an IP address', pattern: serverName }), {
          minItems: 1,
        }),
      ),
      /** The number of processes that serve requests. */
      workers: optionalCount(256),
      /** Addresses and CIDR ranges of proxies whose Client-Cert and X-Forwarded-For fields are trusted. */
      trusted_proxies: Type.Array(Type.String(), { default: [] }),
    },
    closed,
  ),
  secrets: Type.Object(
    {
      key_file: Type.Optional(Type.String({ minLength: 1, pathname: true })),
      passphrase: Type.Optional(Type.String({ minLength: 1 })),
      /** The passphrase after `postern secrets rotate`. */
      new_passphrase: Type.Optional(Type.String({ minLength: 1 })),
    },
    closed,
  ),
  /** How backups are made. Their directories are records, see `/api/backups/`. */
  backup: Type.Object(
    {
      /** Encrypts the backups; without it no backup can be made. */
      passphrase: Type.Optional(Type.String({ minLength: 12, title: 'text of at least 12 characters' })),
      /** The number of backups kept in a directory. Default: all. */
      keep: optionalCount(100_000),
      /** The private key (OpenSSH or PEM) for `sftp://` directories: `{ file = "…" }`. */
      sftp_key: Type.Optional(Type.String({ minLength: 1, title: 'a private key' })),
      sftp_key_passphrase: Type.Optional(Type.String({ minLength: 1 })),
      /** The host key of the server: a line of `ssh-keyscan`, or `SHA256:…`. */
      sftp_host_key: Type.Optional(
        Type.String({ minLength: 1, title: 'a line of ssh-keyscan, or SHA256:…' }),
      ),
    },
    closed,
  ),
  log: Type.Object(
    {
      level: Type.Union(
        [Type.Literal('debug'), Type.Literal('info'), Type.Literal('warn'), Type.Literal('error')],
        { default: 'info' },
      ),
      /** Default: `logs` in the data directory. */
      directory: Type.Optional(Type.String({ minLength: 1, pathname: true })),
      max_bytes: Type.Optional(Type.Integer({ minimum: 65_536, maximum: 2 ** 40 })),
      max_files: optionalCount(1000),
    },
    closed,
  ),
  domains: Type.Object(
    { default: Type.String({ minLength: 1, maxLength: 100, default: 'default' }) },
    closed,
  ),
  /** Default: the limits of the listener and of the core. */
  limits: Type.Object(
    {
      login_failures_per_name: optionalCount(1000),
      login_failures_per_address: optionalCount(100_000),
      login_window_seconds: optionalCount(86_400),
      connections: optionalCount(1_000_000),
      handshake_seconds: optionalCount(600),
      header_seconds: optionalCount(600),
      body_seconds: optionalCount(3600),
      idle_seconds: optionalCount(3600),
      header_octets: Type.Optional(Type.Integer({ minimum: 1024, maximum: 1_048_576 })),
      header_fields: optionalCount(10_000),
      pipelined: optionalCount(1000),
    },
    closed,
  ),
} as const satisfies Record<string, TObject>;

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
