import { afterAll, describe, expect, test } from 'bun:test';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Type } from '@sinclair/typebox';
import { catalog } from '#plugins/catalog.ts';
import { inboundOff } from '#plugins/host/choose.ts';
import { ConfigurationError, type ServerConfiguration } from '#plugins/host/config.ts';
import { loadConfiguration } from '#plugins/host/config-file.ts';
import { definePlugin, type Plugin } from '#plugins/kit/contract.ts';

const directory = mkdtempSync(join(tmpdir(), 'postern-config-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** A plugin like one for an HSM. It is never opened here. */
const hsm = definePlugin({
  slot: 'keys',
  name: 'hsm',
  summary: 'For tests.',
  config: Type.Object({
    library: Type.String({ minLength: 1, pathname: true }),
    pin: Type.String({ minLength: 1 }),
    slot: Type.Integer({ minimum: 0, maximum: 100, default: 7 }),
    mode: Type.Optional(Type.Union([Type.Literal('sync'), Type.Literal('async')])),
    labels: Type.Optional(Type.Array(Type.String())),
    nested: Type.Optional(Type.Object({ timeout: Type.Integer({ minimum: 1, maximum: 9 }) })),
  }),
  open: () => Promise.reject(new Error('never opened')),
});
const plugins: readonly Plugin[] = [...catalog, hsm];

function read(toml: string): Promise<ServerConfiguration> {
  const config = join(directory, 'postern.toml');
  writeFileSync(config, toml);
  return loadConfiguration({ config, data: join(directory, 'data') }, plugins).then(
    ({ configuration }) => configuration,
  );
}

async function problems(toml: string): Promise<readonly string[]> {
  try {
    await read(toml);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}

const good = '[keys.hsm]\nlibrary = "lib.so"\npin = "1234"\n';
const secret = 'hunter2-hunter2';

describe('an invalid value is reported with its path', () => {
  const rows: readonly [toml: string, problem: string][] = [
    ['[sever]', 'sever: unknown table (did you mean "server"?)'],
    ['[zebra]', 'zebra: unknown table'],
    ['server = 5', 'server: must be a table'],
    ['[server]\nhttps_prot = 1', 'server.https_prot: unknown key (did you mean "https_port"?)'],
    ['[server]\n"strange key" = 1', 'server."strange key": unknown key'],
    ['[server]\n"__proto__" = 1', 'server.__proto__: unknown key'],
    ['[server]\nhttps_port = 65536', 'server.https_port: must be a whole number from 0 to 65535'],
    ['[server]\nhttps_port = 84.43', 'server.https_port: must be a whole number from 0 to 65535'],
    ['[server]\nhttps_port = "8443"', 'server.https_port: must be a whole number from 0 to 65535'],
    ['[server]\nhttps_port = 2020-01-01', 'server.https_port: must be a whole number from 0 to 65535'],
    ['[server]\nhttp_port = 8443', 'server.http_port: must differ from https_port'],
    ['[server]\nworkers = 0', 'server.workers: must be a whole number from 1 to 256'],
    [
      '[server]\nbase_url = "http://pki.example"',
      'server.base_url: must be a URL like https://pki.example:8443, without a path',
    ],
    ['[server]\nnames = ["ok", "not ok"]', 'server.names.1: must be a DNS name or an IP address'],
    ['[server]\ntrusted_proxies = "10.0.0.1"', 'server.trusted_proxies: must be a list'],
    [
      '[server]\ntrusted_proxies = ["10.0.0.0/8", "10.0.0.0/33"]',
      'server.trusted_proxies.1: must be an address, or a range like 10.0.0.0/8',
    ],
    ['[log]\nlevel = "loud"', 'log.level: must be "debug" or "info" or "warn" or "error"'],
    ['[domains]\ndefault = ""', 'domains.default: must be non-empty text'],
    [
      '[metrics]\ntoken = "too short"',
      'metrics.token: must be a token of at least 32 letters, digits and -._~+/ (openssl rand -hex 32)',
    ],
    [
      '[limits]\nlogin_failures_per_nam = 3',
      'limits.login_failures_per_nam: unknown key (did you mean "login_failures_per_name"?)',
    ],
    [
      '[secrets]\nkey_file = "k"\npassphrase = "p"',
      'secrets: has both key_file and passphrase: remove one of them',
    ],
    [
      `[secrets]\npassphrase = "\${NOT_THERE}"`,
      'secrets.passphrase: the environment variable NOT_THERE is not set',
    ],
    [
      `[secrets]\npassphrase = "\${no name}"`,
      'secrets.passphrase: the text between the braces must be the name of an environment variable',
    ],
    ['[secrets]\npassphrase = { file = "nowhere" }', 'secrets.passphrase: the file does not exist'],
    [
      '[secrets]\npassphrase = { file = "open" }',
      'secrets.passphrase: other accounts can read the file: run chmod 600 on it',
    ],
    ['[secrets]\npassphrase = { file = "folder" }', 'secrets.passphrase: the file is a directory'],
    ['[secrets]\npassphrase = { file = "empty" }', 'secrets.passphrase: must be non-empty text'],
    ['[secrets]\npassphrase = { path = "x" }', 'secrets.passphrase: must be non-empty text'],
    ['store = "sqlite"', 'store: must be a table'],
    ['[store]\nplugin = "sqllite"', 'store.plugin: unknown plugin (did you mean "sqlite"?)'],
    ['[store]\nplugin = "postgres"', 'store.url: is missing'],
    [
      '[store]\nplugin = "postgres"\nurl = "mysql://x"',
      'store.url: must be a URL like postgres://user:password@host:5432/database',
    ],
    ['[store]\npath = "x.db"', 'store: needs plugin or module'],
    ['[store]\nplugin = 5', 'store.plugin: must be non-empty text'],
    ['[store]\nplugin = "sqlite"\npth = "x.db"', 'store.pth: unknown key (did you mean "path"?)'],
    ['[keys]', 'keys: needs a plugin'],
    ['[keys.hsm]\nlibary = "x"\npin = "1"', 'keys.hsm.libary: unknown key (did you mean "library"?)'],
    ['[keys.hsm]\npin = "1"', 'keys.hsm.library: is missing'],
    [`${good}slot = 101`, 'keys.hsm.slot: must be a whole number from 0 to 100'],
    [`${good}mode = "both"`, 'keys.hsm.mode: must be "sync" or "async"'],
    [`${good}labels = ["a", 2]`, 'keys.hsm.labels.1: must be text'],
    [`${good}nested = { tiemout = 2 }`, 'keys.hsm.nested.tiemout: unknown key (did you mean "timeout"?)'],
    [`${good}nested = { timeout = 10 }`, 'keys.hsm.nested.timeout: must be a whole number from 1 to 9'],
    ['keys = { hsm = 1 }', 'keys.hsm: must be a table'],
    [
      '[keys."a b"]\nplugin = "hsm"',
      'keys.a b: a name must have at most 64 characters: letters, digits, - and _',
    ],
    ['[keys.a]\nplugin = "est"', 'keys.a.plugin: unknown plugin'],
    ['[keys.a]\nplugin = "hsm"\nmodule = "./x.ts"', 'keys.a: has both plugin and module: remove one of them'],
    ['[keys.a]\nmodule = "./not-there.ts"', 'keys.a.module: cannot be loaded: '],
    ['[inbound.est]\nport = 1', 'inbound.est.port: unknown key'],
    ['[inbound]', 'inbound: needs a plugin'],
    ['[inbound]\ndefaults = false', 'inbound: needs a plugin'],
    ['[inbound.est]\nenabled = false', 'inbound: needs a plugin'],
    ['[inbound]\ndefaults = "yes"\n[inbound.est]', 'inbound.defaults: must be true or false'],
    ['[inbound.est]\nenabled = 1\n[inbound.cmp]', 'inbound.est.enabled: must be true or false'],
    ['[keys.keyfile]\nenabled = true', 'keys.keyfile.enabled: unknown key'],
    ['[issuers.plant]\nplugin = "smoke"', 'issuers.plant.plugin: unknown plugin'],
  ];
  for (const [name, mode, text] of [
    ['open', 0o644, secret],
    ['empty', 0o600, '\n'],
  ] as const) {
    writeFileSync(join(directory, name), text);
    chmodSync(join(directory, name), mode);
  }
  mkdirSync(join(directory, 'folder'), { mode: 0o700 });

  for (const [toml, problem] of rows) {
    test(toml.replaceAll('\n', ' ⏎ '), async () => {
      expect((await problems(toml)).filter((line) => line.startsWith(problem))).toHaveLength(1);
    });
  }

  test('all problems are reported together', async () => {
    const toml =
      '[server]\nhttps_port = -1\nworker = 2\n[keys.hsm]\nlibary = "x"\n[store]\nplugin = "oracle"\n';
    expect(await problems(toml)).toEqual([
      'server.worker: unknown key (did you mean "workers"?)',
      'server.https_port: must be a whole number from 0 to 65535',
      `store.plugin: unknown plugin; built in for store: ${namesOf('store')}`,
      'keys.hsm.libary: unknown key (did you mean "library"?)',
      'keys.hsm.library: is missing',
      'keys.hsm.pin: is missing',
    ]);
  });
});

const namesOf = (slot: string): string =>
  plugins
    .filter((plugin) => plugin.slot === slot)
    .map(({ name }) => name)
    .join(', ');

describe('values are never printed', () => {
  process.env.POSTERN_TEST_SECRET = secret;
  const rows: readonly string[] = [
    `[secrets]\npassphrase = ${secret}`,
    `[secrets]\npassphrase = "${secret}`,
    `[secrets]\npassphrase = "\\${secret}"`,
    `[secrets]\npassphrase = ["${secret}"]`,
    '[secrets]\npassphrase = { file = "open" }',
    `[secrets]\npassphrase = { file = "/tmp/${secret}" }`,
    `[secrets]\npassphrase = "\${${secret}}"`,
    `[secrets]\nkey_file = "${secret}"\npassphrase = "${secret}"`,
    `[log]\nlevel = "\${POSTERN_TEST_SECRET}"`,
    `[server]\nhttps_port = "\${POSTERN_TEST_SECRET}"`,
    `[store]\nplugin = "${secret}"`,
    `${good}mode = "${secret}"`,
    `[keys.hsm]\npin = { ${secret} = 1 }\nlibrary = 1`.replace(secret, 'file'),
  ];
  for (const toml of rows) {
    test(toml.replaceAll('\n', ' ⏎ '), async () => {
      const said = await problems(toml);
      expect(said).not.toBeEmpty();
      expect(said.join('\n')).not.toContain(secret);
    });
  }
});

describe('invalid TOML', () => {
  const rows: readonly [toml: string, line: number, message: string][] = [
    ['[server]\nhttps_port = 1\n\nworkers = \n[log]\n', 4, ''],
    ['[server]\nhttps_port = 1\nhttps_port = 2\n', 3, "Cannot redefine key 'https_port'"],
    ['= 1', 1, ''],
  ];
  for (const [toml, line, message] of rows) {
    test(`${toml.replaceAll('\n', ' ⏎ ')} is rejected with its line`, async () => {
      expect(await problems(toml)).toEqual([
        expect.stringContaining(`${join(directory, 'postern.toml')}, near line ${line}: ${message}`),
      ]);
    });
  }
});

describe('a valid configuration', () => {
  test('without a file has SQLite, key files and every inbound plugin', async () => {
    const data = join(directory, 'fresh');
    const { configuration, file, dataDirectory } = await loadConfiguration({ data }, catalog);
    expect(file).toBeUndefined();
    expect(dataDirectory).toBe(data);
    expect(configuration.store.map(({ plugin }) => plugin.name)).toEqual(['sqlite']);
    expect(configuration.keys.map(({ name }) => name)).toEqual(['keyfile']);
    expect(configuration.issuers).toEqual([]);
    const inbound = catalog.filter(({ slot }) => slot === 'inbound').map(({ name }) => name);
    expect(configuration.inbound.map(({ name }) => name)).toEqual(inbound);
    expect(inbound).toContain('est');
    const { https_port, http_port, trusted_proxies } = configuration.server;
    expect([https_port, http_port, trusted_proxies]).toEqual([8443, 8080, []]);
    expect(configuration.log.level).toBe('info');
    expect(configuration.domains.default).toBe('default');
  });

  describe('[inbound]', () => {
    const all = catalog.filter(({ slot }) => slot === 'inbound').map(({ name }) => name);
    const chosen = async (toml: string) =>
      (await read(toml)).inbound.map(({ name, plugin }) =>
        name === plugin.name ? name : `${name}=${plugin.name}`,
      );

    test('has exactly the plugins of its tables, without `defaults`', async () => {
      expect(await chosen('[inbound.est]\n[inbound.api]\nplugin = "management"')).toEqual([
        'est',
        'api=management',
      ]);
    });

    test('with `defaults = true` adds its tables to the built-in plugins', async () => {
      const module = JSON.stringify(join(import.meta.dir, '../../plugins/kit/examples/ocsp/plugin.ts'));
      expect(await chosen(`[inbound]\ndefaults = true\n[inbound.ocsp]\nmodule = ${module}`)).toEqual([
        ...all,
        'ocsp',
      ]);
    });

    test('replaces a default plugin by a table for it', async () => {
      const toml = '[inbound]\ndefaults = true\n[inbound.api]\nplugin = "management"\ndevice_import_mib = 7';
      expect(await chosen(toml)).toEqual([...all.filter((name) => name !== 'management'), 'api=management']);
    });

    test('disables a plugin with `enabled = false`', async () => {
      const toml = '[inbound]\ndefaults = true\n[inbound.rest]\nenabled = false';
      expect(await chosen(toml)).toEqual(all.filter((name) => name !== 'rest'));
      expect(inboundOff(catalog, (await read(toml)).inbound)).toEqual(['rest']);
    });
  });

  test('is read from postern.toml in the data directory, and overridden on the command line', async () => {
    const data = join(directory, 'with-file');
    mkdirSync(data);
    writeFileSync(join(data, 'postern.toml'), '[server]\nhttps_port = 1000\nhttp_port = 1001\n');
    const { configuration, file } = await loadConfiguration({ data, httpPort: 2000 }, catalog);
    expect(file).toBe(join(data, 'postern.toml'));
    expect([configuration.server.https_port, configuration.server.http_port]).toEqual([1000, 2000]);
  });

  test('uses the plugin with the name of the table, or that in `plugin`', async () => {
    const { keys } = await read(`${good}[keys.second]\nplugin = "keyfile"\n`);
    expect(keys.map(({ name, plugin }) => [name, plugin.name])).toEqual([
      ['hsm', 'hsm'],
      ['second', 'keyfile'],
    ]);
    expect(keys[0]!.config).toEqual({ library: join(directory, 'lib.so'), pin: '1234', slot: 7 });
  });

  test('reads a secret from a relative file, without its final line feed', async () => {
    const path = join(directory, 'pin');
    writeFileSync(path, ` \${12}34 \n`, { mode: 0o600 });
    const { keys } = await read('[keys.hsm]\nlibrary = "/opt/lib.so"\npin = { file = "pin" }\n');
    expect(keys[0]!.config).toMatchObject({ library: '/opt/lib.so', pin: ` \${12}34 ` });
  });

  test(`replaces environment variables in text, numbers and parts of either; $\${ is a literal \${`, async () => {
    Object.assign(process.env, { POSTERN_TEST_PORT: '844', POSTERN_TEST_PIN: '0042' });
    const { server, keys } = await read(
      `[server]\nhttps_port = "\${POSTERN_TEST_PORT}3"\n[keys.hsm]\nlibrary = "/l"\npin = "\${POSTERN_TEST_PIN}-$\${X}"\n`,
    );
    expect(server.https_port).toBe(8443);
    expect(keys[0]!.config).toMatchObject({ pin: `0042-\${X}` });
  });
});
