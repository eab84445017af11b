import { type Static, type TObject, Type } from '@sinclair/typebox';
import { TrustedProxies } from '#adapters/inbound/http/evidence.ts';
import { type Plugin, type Slot, slots } from './contract.ts';
import { isTable, Problems, readTable, type Source, suggestion, type Table } from './schema.ts';

const closed = { additionalProperties: false } as const;
const port = (usual: number) => Type.Integer({ minimum: 0, maximum: 65_535, default: usual });
const optionalCount = (most: number) => Type.Optional(Type.Integer({ minimum: 1, maximum: most }));
const url = (title: string, pattern: string) => Type.Optional(Type.String({ title, pattern }));

const serverName = '^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|[0-9A-Fa-f:.]{2,45})$';

/** The tables that are Postern's own. Every member may be left out. */
const sections = {
  server: Type.Object(
    {
      /** 0 for any free port. */
      https_port: port(8443),
      http_port: port(8080),
      /** The address to listen at; every one when it is left out. */
      host: Type.Optional(Type.String({ minLength: 1 })),
      /** How people and devices reach the HTTPS listener. */
      base_url: url('a URL like https://pki.example:8443, without a path', '^https://[^/?#@\\s]+/?$'),
      /** How devices reach CRLs and CA certificates; it stands in certificates. */
      public_url: url('a URL like http://pki.example:8080, without a path', '^https?://[^/?#@\\s]+/?$'),
      /** DNS names and IP addresses in the TLS certificate that is made at the first start. */
      names: Type.Optional(
        Type.Array(Type.String({ title: 'a DNS name or an IP address', pattern: serverName }), {
          minItems: 1,
        }),
      ),
      /** Processes that serve. */
      workers: optionalCount(256),
      /** Addresses and ranges (CIDR) whose Client-Cert and X-Forwarded-For count. */
      trusted_proxies: Type.Array(Type.String(), { default: [] }),
    },
    closed,
  ),
  secrets: Type.Object(
    {
      key_file: Type.Optional(Type.String({ minLength: 1, pathname: true })),
      passphrase: Type.Optional(Type.String({ minLength: 1 })),
    },
    closed,
  ),
  /** Where backups are made. The directories are records, `/api/backups/`. */
  backup: Type.Object(
    {
      /** What they are encrypted under; without it none is made. */
      passphrase: Type.Optional(Type.String({ minLength: 12, title: 'text of at least 12 characters' })),
      /** How many stay in a directory. Default: all. */
      keep: optionalCount(100_000),
      /** The private key (OpenSSH or PEM) that signs in to `sftp://` directories: `{ file = "…" }`. */
      sftp_key: Type.Optional(Type.String({ minLength: 1, title: 'a private key' })),
      sftp_key_passphrase: Type.Optional(Type.String({ minLength: 1 })),
      /** The server's key: a line of `ssh-keyscan`, or `SHA256:…`. */
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
  /** Left out: the defaults of the listener and of the core. */
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

/** A plugin with its name in the configuration and the table that it reads, checked. */
export interface Chosen<S extends Slot = Slot> {
  readonly name: string;
  readonly plugin: Plugin<S>;
  readonly config: Table;
}

export type Configuration = { readonly [S in Section]: Static<(typeof sections)[S]> } & {
  readonly [S in Slot]: readonly Chosen<S>[];
};

export interface ConfigurationInput {
  /** The parsed file; undefined without one. */
  readonly tables: unknown;
  /** Of `[server]`, from the command line: they win. */
  readonly overrides: { readonly https_port?: number; readonly http_port?: number };
  readonly source: Source;
  readonly catalog: readonly Plugin[];
  /** The plugin that a module from outside exports. Throws an Error that says what is wrong. */
  readonly load: (specifier: string) => Promise<Plugin>;
}

/** The configuration is at fault; every line names a path and what is wrong there, and no value. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/**
 * Checks everything at once and opens nothing: each table against its schema, each plugin's table against the plugin's, how
 * many plugins a slot takes, and what tables say of each other. Throws a ConfigurationError with all there is to say.
 */
export async function readConfiguration(input: ConfigurationInput): Promise<Configuration> {
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
  const configuration = { ...own, ...chosen } as unknown as Configuration;
  crossCheck(configuration, problems);
  if (problems.lines.length > 0) throw new ConfigurationError(problems.lines);
  return configuration;
}

const table = (value: unknown): Table => (isTable(value) ? value : {});

/** Without a table: SQLite, key files, and every inbound plugin there is. */
const usual: { readonly [S in Slot]: (plugin: Plugin) => boolean } = {
  store: ({ name }) => name === 'sqlite',
  keys: ({ name }) => name === 'keyfile',
  issuers: () => false,
  inbound: () => true,
};

async function choose(
  slot: Slot,
  given: unknown,
  input: ConfigurationInput,
  problems: Problems,
): Promise<Chosen[]> {
  const { least, most } = slots[slot];
  if (given !== undefined && !isTable(given)) {
    problems.add(slot, 'must be a table');
    return [];
  }
  const entries: [name: string, path: string, table: unknown][] =
    given === undefined
      ? input.catalog
          .filter((plugin) => plugin.slot === slot && usual[slot](plugin))
          .map(({ name }) =>
            most === 1 ? [slot, slot, { plugin: name }] : [name, `${slot}.${name}`, { plugin: name }],
          )
      : most === 1
        ? [[slot, slot, given]]
        : Object.entries(given).map(([name, table]) => [name, `${slot}.${name.slice(0, 100)}`, table]);
  if (entries.length < least) problems.add(slot, `needs ${least === 1 ? 'a plugin' : `${least} plugins`}`);
  const chosen: Chosen[] = [];
  for (const [name, path, own] of entries) {
    if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name)) {
      problems.add(path, 'a name has letters, digits, - and _ only, at most 64');
    } else if (!isTable(own)) {
      problems.add(path, 'must be a table');
    } else {
      const plugin = await find(slot, name, path, own, input, problems);
      if (!plugin) continue;
      const { plugin: _, module: __, ...members } = own;
      chosen.push({ name, plugin, config: readTable(members, plugin.config, path, input.source, problems) });
    }
  }
  return chosen;
}

const choice = Type.Object({
  plugin: Type.Optional(Type.String({ minLength: 1 })),
  module: Type.Optional(Type.String({ minLength: 1 })),
});

/** By `module`, by `plugin`, or else the built-in that is called as the table is. */
async function find(
  slot: Slot,
  name: string,
  path: string,
  own: Table,
  { catalog, source, load }: ConfigurationInput,
  problems: Problems,
): Promise<Plugin | undefined> {
  const said = Object.fromEntries(Object.entries(own).filter(([key]) => key in choice.properties));
  const wanted: Static<typeof choice> = readTable(said, choice, path, source, problems);
  if (problems.has(`${path}.plugin`) || problems.has(`${path}.module`)) return undefined;
  if (wanted.plugin !== undefined && wanted.module !== undefined) {
    problems.add(path, 'has both plugin and module: one says it all');
    return undefined;
  }
  if (wanted.module !== undefined) {
    try {
      const plugin = await load(wanted.module);
      if (plugin.slot === slot) return plugin;
      problems.add(`${path}.module`, `the plugin is one for ${plugin.slot}, not for ${slot}`);
    } catch (error) {
      problems.add(`${path}.module`, error instanceof Error ? error.message : 'cannot be loaded');
    }
    return undefined;
  }
  const builtIn = catalog.filter((plugin) => plugin.slot === slot);
  const plugin = builtIn.find((candidate) => candidate.name === (wanted.plugin ?? name));
  if (!plugin) {
    const names = builtIn.map((candidate) => candidate.name);
    const list = names.length > 0 ? `; built in for ${slot}: ${names.join(', ')}` : '';
    if (wanted.plugin === undefined) problems.add(path, `says neither plugin nor module${list}`);
    else problems.add(`${path}.plugin`, `no such plugin${suggestion(wanted.plugin, names)}${list}`);
  }
  return plugin;
}

function crossCheck({ server, secrets, backup }: Configuration, problems: Problems): void {
  if (server.https_port === server.http_port && server.https_port !== 0) {
    problems.add('server.http_port', 'is the https_port too');
  }
  if ((backup.sftp_key === undefined) !== (backup.sftp_host_key === undefined)) {
    problems.add('backup', 'needs sftp_key and sftp_host_key together, or neither');
  }
  if (secrets.key_file !== undefined && secrets.passphrase !== undefined) {
    problems.add('secrets', 'has both key_file and passphrase: one says it all');
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
