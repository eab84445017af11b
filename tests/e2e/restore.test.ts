import { afterAll, beforeAll, expect, test } from 'bun:test';
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Server, startServer } from '#tests/fixtures/server.ts';

const passphrase = 'correct horse battery staple';
const launcher = resolve(import.meta.dir, '../../postern');
let server: Server;
let file: string;

beforeAll(async () => {
  server = await startServer();
  file = join(server.directory, 'b.backup');
  const { status, stderr } = postern(['backup', file], 'data');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  await server.stop();
}, 60_000);
afterAll(() => server[Symbol.asyncDispose]());

/** Runs on another data directory next to the server's, with the passphrase in the environment. */
function postern(args: readonly string[], data: string, secret = passphrase) {
  const place = ['--data', join(server.directory, data), '--config', join(server.directory, 'postern.toml')];
  const { exitCode, stdout, stderr } = Bun.spawnSync([launcher, ...args, ...place], {
    cwd: server.directory,
    env: { ...process.env, POSTERN_BACKUP_PASSPHRASE: secret, POSTERN_ADMIN_PASSWORD: 'e2e admin password' },
    stdin: Buffer.alloc(0),
  });
  return { status: exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}

const damaged = (name: string, change: (bytes: Buffer) => Buffer): string => {
  const path = join(server.directory, name);
  writeFileSync(path, change(readFileSync(file)));
  return path;
};

test('a backup is readable by its owner only, and reveals nothing to others', () => {
  expect(readFileSync(file).includes('BEGIN')).toBe(false);
  expect(postern(['backup', file], 'data')).toMatchObject({ status: 1 });
});

const refusals: [why: string, restore: () => ReturnType<typeof postern>, says: string][] = [
  ['a wrong passphrase', () => postern(['restore', file], 'new', 'not the passphrase'), 'wrong passphrase'],
  ['no backup passphrase', () => postern(['restore', file], 'new', ''), 'no backup passphrase'],
  [
    'a file that is cut off',
    () => postern(['restore', damaged('cut', (b) => b.subarray(0, -1))], 'new'),
    'passphrase',
  ],
  [
    'a bit that is another',
    () =>
      postern(
        [
          'restore',
          damaged('flipped', (b) => {
            b[b.length - 40]! ^= 1;
            return b;
          }),
        ],
        'new',
      ),
    'damaged',
  ],
  [
    'a file that is no backup',
    () => postern(['restore', launcher], 'new'),
    'the file is not a Postern backup',
  ],
  ['a file that is not there', () => postern(['restore', 'nowhere'], 'new'), 'cannot be read'],
  ['a CRL that is none', () => postern(['restore', file, '--crl', file], 'new'), 'PEM'],
];
test.each(refusals)(
  '%s is rejected, and nothing is written',
  (_, restore, says) => {
    const { status, stderr } = restore();
    expect([1, 2]).toContain(status);
    expect(stderr).toContain(says);
    expect(existsSync(join(server.directory, 'new'))).toBe(false);
  },
  20_000,
);

test('a data directory in use is rejected and stays unchanged', () => {
  const files = ['postern.db', 'master.key', 'master.json'].map((name) =>
    join(server.directory, 'data', name),
  );
  const before = files.map((path) => readFileSync(path).toString('base64'));
  const { status, stderr } = postern(['restore', file], 'data');
  expect([status, stderr]).toEqual([1, expect.stringContaining('not empty')]);
  expect(files.map((path) => readFileSync(path).toString('base64'))).toEqual(before);
}, 60_000);

test('the keys of another installation are not changed', () => {
  const other = join(server.directory, 'other');
  cpSync(join(server.directory, 'data'), other, { recursive: true });
  writeFileSync(join(other, 'master.json'), '{}');
  const { status, stderr } = postern(['restore', file], 'other');
  expect([status, stderr]).toEqual([1, expect.stringContaining('already exists: restore')]);
}, 60_000);

test('an interrupted restore prevents the start until it is completed', () => {
  const foreign = join(server.directory, 'foreign.crl');
  const { success } = Bun.spawnSync(['bash', '-c', foreignCrl], { cwd: server.directory, stderr: 'ignore' });
  expect(success).toBe(true);
  const cut = postern(['restore', file, '--crl', foreign], 'cut-off');
  expect([cut.status, cut.stderr]).toEqual([
    1,
    expect.stringContaining('none of the restored CAs has signed'),
  ]);

  const start = postern(['serve', '--https-port', '0', '--http-port', '0'], 'cut-off');
  expect([start.status, start.stderr]).toEqual([1, expect.stringContaining('run postern restore again')]);

  const again = postern(['restore', file], 'cut-off');
  expect([again.status, again.stderr]).toEqual([0, expect.stringContaining('WARNING: revocations after')]);
  expect(again.stdout).toContain('has been completed');
  expect(readdirSync(join(server.directory, 'cut-off', 'keys')).length).toBe(3);
  expect(postern(['restore', file], 'cut-off').stderr).toContain('not empty');
}, 60_000);

const foreignCrl = `
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout foreign.key -out foreign.pem -subj /CN=Foreign
touch foreign.index
printf '[ca]\\ndefault_ca=d\\n[d]\\ndatabase=foreign.index\\ndefault_md=sha256\\ndefault_crl_days=1\\n' > foreign.cnf
openssl ca -config foreign.cnf -gencrl -keyfile foreign.key -cert foreign.pem -out foreign.crl`;
