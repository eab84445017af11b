import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { X509Certificate } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminPassword, type Server, startServer } from '#tests/fixtures/server.ts';

const launcher = join(import.meta.dir, '../../postern');
const nowhere = mkdtempSync(join(tmpdir(), 'postern-cli-'));
afterAll(() => rmSync(nowhere, { recursive: true }));

interface Result {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

function postern(
  args: readonly string[],
  options: { stdin?: string; env?: Record<string, string> } = {},
): Result {
  const { exitCode, stdout, stderr } = Bun.spawnSync([launcher, ...args], {
    cwd: nowhere,
    env: { ...process.env, POSTERN_ADMIN_PASSWORD: '', ...options.env },
    stdin: Buffer.from(options.stdin ?? ''),
  });
  return { status: exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}

const names = [
  'serve',
  'check',
  'device add',
  'user create',
  'user password',
  'backup',
  'restore',
  'ca list',
  'ca export',
  'domain list',
  'plugin list',
];

describe('help', () => {
  test('without a command goes to standard error, with status 2', () => {
    const { status, stdout, stderr } = postern([]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    for (const name of names) expect(stderr).toContain(`  ${name} `);
  });

  test('--help lists every command', () => {
    const { status, stdout, stderr } = postern(['--help']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    for (const name of names) expect(stdout).toContain(`  ${name} `);
  });

  test.each(names)('postern %s --help lists the options', (name) => {
    const { status, stdout } = postern([...name.split(' '), '--help']);
    expect(status).toBe(0);
    expect(stdout).toStartWith(`Usage: postern ${name}`);
    for (const option of ['--data DIR', '--config FILE', '--help']) expect(stdout).toContain(option);
  });

  test('postern ca --help lists the commands of that group', () => {
    const { status, stdout } = postern(['ca', '--help']);
    expect(status).toBe(0);
    expect(stdout).toContain('ca export ID');
    expect(stdout).not.toContain('device add');
  });
});

describe('wrong usage gives status 2 and opens nothing', () => {
  const rows: readonly [args: readonly string[], says: string][] = [
    [['frobnicate'], 'no such command: frobnicate'],
    [['device'], 'device add NAME'],
    [['device', 'remove', 'x'], 'no such command: device remove'],
    [['device', 'add'], 'takes NAME, but 0 given'],
    [['device', 'add', 'a', 'b'], 'takes NAME, but 2 given'],
    [['device', 'add', ' '], 'NAME must have 1 to 100 characters'],
    [['device', 'add', 'a\u001bb'], 'no control characters'],
    [['device', 'add', 'x', '--colour', 'red'], "Unknown option '--colour'"],
    [['serve', '--https-port', 'https'], '--https-port must be a port number'],
    [['serve', '--https-port', '65536'], '--https-port must be a port number'],
    [['user', 'create', 'bob'], '--role is missing'],
    [['user', 'create', 'bob', '--role', 'Operator'], 'no password'],
    [['ca', 'export', 'root'], 'ID must be a number'],
    [['ca', 'list', '--data', ''], '--data is empty'],
  ];
  for (const [args, says] of rows) {
    test(`postern ${args.join(' ')}`, () => {
      const { status, stdout, stderr } = postern(args);
      expect(stderr).toContain(says);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(existsSync(join(nowhere, 'data'))).toBe(false);
    });
  }
});

describe('an invalid configuration gives status 78', () => {
  const file = join(nowhere, 'faulty.toml');
  writeFileSync(file, '[server]\nworker = 3\n[keys.hsm]\nplugin = "nope"\n');

  test.each(['check', 'serve', 'ca list', 'device add x', 'plugin list'])('postern %s', (words) => {
    const { status, stdout, stderr } = postern([...words.split(' '), '--config', file]);
    expect({ status, stdout }).toEqual({ status: 78, stdout: '' });
    expect(stderr).toContain('  server.worker: unknown key (did you mean "workers"?)\n');
    expect(stderr).toContain('  keys.hsm.plugin: unknown plugin; built in for keys: ');
    expect(existsSync(join(nowhere, 'data'))).toBe(false);
  });

  test('a missing file', () => {
    const { status, stderr } = postern(['check', '--config', 'nowhere.toml']);
    expect({ status, stderr }).toEqual({
      status: 78,
      stderr: expect.stringContaining('nowhere.toml: does not exist'),
    });
  });
});

test.each(['ca list', 'audit verify', 'backup x'])('before the first start, postern %s fails', (words) => {
  const { status, stdout, stderr } = postern(words.split(' '), {
    env: { POSTERN_BACKUP_PASSPHRASE: 'of no consequence' },
  });
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toStartWith(`postern: ${join(nowhere, 'data')} is not a data directory of Postern\n`);
  expect(existsSync(join(nowhere, 'data'))).toBe(false);
});

test('check reports problems and opens nothing', () => {
  const { status, stdout } = postern(['check', '--json', '--https-port', '9443']);
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    file: null,
    data: join(nowhere, 'data'),
    base_url: 'https://localhost:9443',
    plugins: { store: ['store'], keys: ['keyfile'], issuers: [] },
  });
  expect(existsSync(join(nowhere, 'data'))).toBe(false);
});

test('check lists the disabled inbound plugins', () => {
  const file = join(nowhere, 'est-only.toml');
  writeFileSync(file, '[inbound.est]\n[inbound.management]\n');
  const { stdout } = postern(['check', '--config', file]);
  expect(stdout).toContain('Disabled inbound plugins: cmp, rest, publication, console, docs.');
  const { inbound_off: off } = JSON.parse(postern(['check', '--json', '--config', file]).stdout);
  expect(off).toEqual(['cmp', 'rest', 'publication', 'console', 'docs']);
  expect(JSON.parse(postern(['check', '--json']).stdout).inbound_off).toEqual([]);
});

describe('beside a running server', () => {
  let server: Server;
  let data: string;
  beforeAll(async () => {
    server = await startServer();
    data = join(server.directory, 'data');
  }, 60_000);
  afterAll(() => server[Symbol.asyncDispose]());

  const run = (args: readonly string[], options = {}): Result => postern([...args, '--data', data], options);
  const signIn = async (username: string, password: string): Promise<number> => {
    const response = await fetch(`${server.baseUrl}/api/token/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username, password }),
      tls: { rejectUnauthorized: false },
    });
    return response.status;
  };

  test('messages are printed before the ready line', () => {
    expect(server.output).toEqual([
      'The user admin has been created, with the password in POSTERN_ADMIN_PASSWORD.',
      `postern ready ${server.baseUrl}`,
    ]);
  });

  test('the data directory is accessible to its owner only', () => {
    for (const name of ['.', 'keys', 'logs', 'postern.db', 'master.key']) {
      expect(statSync(join(data, name)).mode & 0o077).toBe(0);
    }
  });

  test('ca list and ca export show the root and the issuing CA', () => {
    const cas = JSON.parse(run(['ca', 'list', '--json']).stdout);
    expect(cas).toMatchObject([
      { id: 1, unique_name: 'root', type: 'auto-generated root', is_active: true },
      { id: 2, unique_name: 'issuing', type: 'auto-generated', is_active: true },
    ]);
    const [issuing, root] = run(['ca', 'export', '2', '--chain']).stdout.split(/(?<=END CERTIFICATE-----\n)/);
    expect(new X509Certificate(issuing!).checkIssued(new X509Certificate(root!))).toBe(true);
    expect(run(['ca', 'export', '1']).stdout).toBe(root!);
    expect(run(['ca', 'list']).stdout).toMatch(/^ID {2}NAME .*\n1 {3}root .*\n2 {3}issuing .*\n$/);
    expect(run(['ca', 'export', '99'])).toMatchObject({
      status: 1,
      stderr: 'postern: there is no such issuing CA\n',
    });
  });

  test('a damaged file or record is named without its contents', () => {
    const file = join(data, 'addresses.json');
    const addresses = readFileSync(file);
    writeFileSync(file, '{"baseUrl":"https://a-secret');
    const says = (stderr: string) => ({ status: 1, stdout: '', stderr: `postern: ${stderr}\n` });
    expect(run(['ca', 'list'])).toEqual(
      says(`${file} is damaged: delete it, and the next start writes a new one`),
    );
    writeFileSync(file, addresses);

    using db = new Database(join(data, 'postern.db'));
    const insert =
      "insert into roles (created_at, unique_name, permissions, is_protected) values (0, 'Line', '[\"a-secret', 0)";
    const { lastInsertRowid: role } = db.run(insert);
    const create = ['user', 'create', 'bob', '--role', 'Line'];
    expect(run(create, { stdin: 'a password, and a long one\n' })).toEqual(
      says(`permissions of role ${role} in the store is damaged`),
    );
    db.run('delete from roles where id = ?', [role]);
  });

  test('domain list shows the CA and the profiles', () => {
    const [domain] = JSON.parse(run(['domain', 'list', '--json']).stdout);
    expect(domain).toMatchObject({ unique_name: 'default', issuing_ca: 'issuing' });
    expect(domain.profiles).toContain('domain_credential');
  });

  test('device add creates a device once, with the URLs of the server', () => {
    const added = JSON.parse(run(['device', 'add', 'pump 7', '--json']).stdout);
    expect(added).toMatchObject({
      common_name: 'pump 7',
      domain: 'default',
      username: 'pump 7',
      password: expect.stringMatching(/^[\w-]{43}$/),
      cmp_reference: 'pump 7',
      cmp_shared_secret: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(added.commands.est).toContain(`${server.baseUrl}/.well-known/est/default/simpleenroll`);
    expect(run(['device', 'add', 'pump 7']).status).toBe(1);
    expect(run(['device', 'add', 'pump 8', '--domain', 'nope'])).toMatchObject({
      status: 1,
      stderr: 'postern: there is no domain nope: see postern domain list\n',
    });
  });

  test('user create reads the password from standard input, and the user can sign in', async () => {
    const created = run(['user', 'create', 'bob', '--role', 'Operator'], { stdin: 'bobs password\n' });
    expect(created).toMatchObject({
      status: 0,
      stdout: 'The user bob has been created, with the role Operator.\n',
    });
    expect(await signIn('bob', 'bobs password')).toBe(200);
    expect(run(['user', 'create', 'eve', '--role', 'King'], { stdin: 'eves password\n' }).status).toBe(1);
  });

  test('user password sets a new one, also from the environment', async () => {
    expect(await signIn('admin', adminPassword)).toBe(200);
    const env = { POSTERN_ADMIN_PASSWORD: 'a new password' };
    expect(run(['user', 'password', 'admin'], { env }).status).toBe(0);
    expect(await signIn('admin', 'a new password')).toBe(200);
    expect(await signIn('admin', adminPassword)).toBe(401);
    expect(run(['user', 'password', 'nobody'], { env }).status).toBe(1);
  });

  test.each([1, 2])(
    'with %d workers, a server that waits for another one to start stops on SIGTERM',
    async (workers) => {
      const other = join(nowhere, `waiting-${workers}`);
      mkdirSync(other, { mode: 0o700 });
      copyFileSync(join(data, 'master.key'), join(other, 'master.key'));
      using source = new Database(join(data, 'postern.db'));
      source.run('vacuum into ?', [join(other, 'postern.db')]);
      chmodSync(join(other, 'postern.db'), 0o600);
      {
        using db = new Database(join(other, 'postern.db'));
        const lease = 'insert or replace into leases (name, holder, expires_at) values (?, ?, ?)';
        db.run(lease, ['bootstrap', 'another', Date.now() + 45_000]);
      }
      const config = join(nowhere, 'workers.toml');
      writeFileSync(config, `[server]\nworkers = ${workers}\n`);
      const ports = ['--https-port', '0', '--http-port', '0', '--config', config];
      const waiting = Bun.spawn([launcher, 'serve', '--data', other, ...ports], {
        cwd: nowhere,
        stdout: 'pipe',
        stderr: 'pipe',
      });
      for await (const line of waiting.stderr) if (Buffer.from(line).includes('waiting')) break;
      waiting.kill('SIGTERM');
      expect(await waiting.exited).toBe(0);
      expect(await waiting.stdout.text()).toBe('');
    },
  );

  test('a second server on the same port reports it and stops', () => {
    const ports = ['--https-port', String(server.httpsPort), '--http-port', '0'];
    writeFileSync(join(nowhere, 'loopback.toml'), '[server]\nhost = "127.0.0.1"\n');
    const { status, stderr } = postern([
      'serve',
      '--data',
      join(nowhere, 'second'),
      ...ports,
      '--config',
      join(nowhere, 'loopback.toml'),
    ]);
    expect(status).toBe(1);
    expect(stderr).toContain(`postern: port ${server.httpsPort} is in use by another process\n`);
  });
});
