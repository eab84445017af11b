import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { hasPostgres, type PostgresFixture, startPostgres } from '#tests/fixtures/postgres.ts';
import { type DeviceSecrets, type Server, shell, startServer } from '#tests/fixtures/server.ts';

const command = resolve(import.meta.dir, '../../postern');

/** The status of an enrolment over EST with the device's password. */
function enrol(server: Server, { common_name: name, password }: DeviceSecrets): string {
  const { stdout } = shell(
    server.directory,
    `openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout k.pem -subj /CN=${name} -outform DER 2>/dev/null | openssl base64 -A |
     curl -sk -o answer -w '%{http_code}' --user '${name}:${password}' -H 'Content-Type: application/pkcs10' --data-binary @- ${server.baseUrl}/.well-known/est/simpleenroll`,
  );
  return stdout.trim();
}

const inData = (server: Server, name: string): string => join(server.directory, 'data', name);
const keyFiles = (server: Server): readonly string[] =>
  readdirSync(inData(server, 'keys'), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.key'))
    .map((name) => readFileSync(inData(server, `keys/${name}`), 'utf8'));

test('a rotation that is killed repeatedly continues, and loses nothing', async () => {
  await using server = await startServer();
  const devices = [await server.register('pump-1'), await server.register('pump-2')];
  expect(enrol(server, devices[0]!)).toBe('200');
  expect(() => server.cli('secrets', 'rotate')).toThrow('stop it first');
  await server.stop();
  const oldKey = readFileSync(inData(server, 'master.key'), 'utf8');
  const oldFiles = keyFiles(server);

  const place = [
    '--data',
    join(server.directory, 'data'),
    '--config',
    join(server.directory, 'postern.toml'),
  ];
  for (let n = 0; n < 8; n++) {
    const rotation = Bun.spawn([command, 'secrets', 'rotate', ...place], {
      cwd: server.directory,
      stdout: 'ignore',
      stderr: 'ignore',
    });
    // Once a rotation has begun; the first one makes this file.
    while (rotation.exitCode === null && !existsSync(inData(server, 'master.json.new'))) await Bun.sleep(5);
    await Promise.race([rotation.exited, Bun.sleep(80 * n)]);
    rotation.kill('SIGKILL');
    await rotation.exited;
    // Whatever has been reached: everything can be opened.
    if (n % 4 === 1) expect(server.cli('audit', 'verify')).toContain(': intact');
  }
  server.cli('secrets', 'rotate', '--resume');
  expect(server.cli('secrets', 'rotate', '--resume')).toContain(
    'No rotation of the master key is in progress',
  );
  expect(readFileSync(inData(server, 'master.key'), 'utf8')).not.toBe(oldKey);
  expect(keyFiles(server).filter((text) => oldFiles.includes(text))).toEqual([]);

  await server.start();
  for (const device of devices) expect(enrol(server, device)).toBe('200');
  expect(server.cli('audit', 'verify')).toContain(': intact');
  const log = JSON.parse(server.cli('audit', 'verify', '--json'));
  expect(log.problems).toEqual([]);
}, 60_000);

describe.skipIf(!hasPostgres)('gateways that share a PostgreSQL', () => {
  let postgres: PostgresFixture;
  beforeAll(async () => {
    postgres = await startPostgres();
  }, 60_000);
  afterAll(() => postgres.stop());

  const files = (names: readonly string[], from: Server, to: string): void => {
    mkdirSync(to, { recursive: true, mode: 0o700 });
    for (const name of names) cpSync(inData(from, name), join(to, name), { recursive: true });
  };

  test('rotate one after the other, and one without the new key stops with a message', async () => {
    const url = await postgres.createDatabase();
    const config = `[server]\nworkers = 1\n[store]\nplugin = "postgres"\nurl = "${url}"\n`;
    await using one = await startServer({ config });
    const device = await one.register('pump');
    // A directory of its own, with the same keys.
    const shared = ['master.json', 'master.key', 'keys'];
    const start = () => startServer({ config, prepare: (to) => files(shared, one, to) });
    await using two = await start();
    await using three = await start();
    expect([one, two, three].map((server) => enrol(server, device))).toEqual(['200', '200', '200']);

    one.cli('secrets', 'rotate', '--prepare');
    files(['master.json.new', 'master.key.new'], one, join(two.directory, 'data'));
    for (const server of [one, two]) {
      await server.stop();
      await server.start();
    }
    await one.stop();
    expect(one.cli('secrets', 'rotate', '--resume')).toContain('has been replaced');
    await one.start();
    expect([one, two].map((server) => enrol(server, device))).toEqual(['200', '200']);

    // The third has not been told.
    expect(await three.exited()).toBe(1);
    expect(three.log()).toContain('the master key was rotated on another gateway');

    await two.stop();
    two.cli('secrets', 'rotate', '--resume');
    await two.start();
    expect([one, two].map((server) => enrol(server, device))).toEqual(['200', '200']);
    expect(readFileSync(inData(two, 'master.key'), 'utf8')).toBe(
      readFileSync(inData(one, 'master.key'), 'utf8'),
    );
    await expect(three.start()).rejects.toThrow('is not the one that the database was made with');
  }, 90_000);
});
