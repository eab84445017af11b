import { describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { connect } from 'node:tls';
import { hasPostgres, startPostgres } from '#tests/fixtures/postgres.ts';
import { type Server, startServer } from '#tests/fixtures/server.ts';

const launcher = resolve(import.meta.dir, '../../postern');

async function healthy(server: Server): Promise<boolean> {
  const response = await fetch(`${server.baseUrl}/api/health/`, { tls: { rejectUnauthorized: false } });
  return response.ok;
}

/** Returns the process ids of the children of a process. */
const childrenOf = (pid: number): number[] =>
  Bun.spawnSync(['ps', '-o', 'pid=', '--ppid', String(pid)])
    .stdout.toString()
    .split('\n')
    .map(Number)
    .filter((child) => child > 0);

test('SIGTERM completes a request in progress, and the exit status is 0', async () => {
  await using server = await startServer();
  const socket = connect({ port: server.httpsPort, host: '127.0.0.1', rejectUnauthorized: false });
  await new Promise<void>((resolve) => socket.once('secureConnect', resolve));
  const body = '{"csr":"AA=="}';
  const head = `POST /rest/default/enroll HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  socket.write(head + body.slice(0, 5));
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk.toString();
  });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await Bun.sleep(200);
  const stopped = server.stop();
  await Bun.sleep(300);
  socket.write(body.slice(5));
  expect(await stopped).toBe(0);
  await closed;
  expect(answer).toStartWith('HTTP/1.1 401 ');
}, 60_000);

test('a request that never ends delays the shutdown by a few seconds only', async () => {
  await using server = await startServer();
  const socket = connect({ port: server.httpsPort, host: '127.0.0.1', rejectUnauthorized: false });
  socket.on('error', () => undefined);
  await new Promise<void>((resolve) => socket.once('secureConnect', resolve));
  socket.write('POST /rest/default/enroll HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{');
  await Bun.sleep(200);
  const begun = performance.now();
  expect(await server.stop()).toBe(0);
  expect(performance.now() - begun).toBeLessThan(7000);
  expect(server.log()).not.toContain('stopped before all work was complete');
}, 60_000);

test('a second signal stops the server immediately', async () => {
  await using server = await startServer();
  const socket = connect({ port: server.httpsPort, host: '127.0.0.1', rejectUnauthorized: false });
  socket.on('error', () => undefined);
  await new Promise<void>((resolve) => socket.once('secureConnect', resolve));
  socket.write('POST /rest/default/enroll HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{');
  await Bun.sleep(200);
  const begun = performance.now();
  const stopped = server.stop();
  await Bun.sleep(700);
  process.kill(server.pid, 'SIGINT');
  expect(await stopped).toBe(1);
  expect(performance.now() - begun).toBeLessThan(7000);
}, 60_000);

test('several workers serve one port; a worker that dies is replaced, and all stop with the server', async () => {
  await using server = await startServer({ config: '[server]\nworkers = 2\n' });
  const { pid } = server;
  const workers = childrenOf(pid);
  expect(workers).toHaveLength(2);
  expect(await healthy(server)).toBe(true);

  // Without the check, workers of another service could listen there too.
  await expect(
    startServer({ config: '[server]\nworkers = 2\n', ports: [server.httpsPort, server.httpPort] }),
  ).rejects.toThrow(`postern: port ${server.httpsPort} is in use by another process`);

  process.kill(workers[0]!, 'SIGKILL');
  const deadline = performance.now() + 10_000;
  let now = childrenOf(pid);
  while ((now.length < 2 || now.includes(workers[0]!)) && performance.now() < deadline) {
    await Bun.sleep(50);
    now = childrenOf(pid);
  }
  expect(now).toContain(workers[1]!);
  expect(now).not.toContain(workers[0]!);
  expect(server.log()).toContain('a worker exited and is being restarted');
  expect(await healthy(server)).toBe(true);

  expect(await server.stop()).toBe(0);
  for (const worker of now) expect(() => process.kill(worker, 0)).toThrow();
}, 60_000);

test('workers stop when their server is killed', async () => {
  await using server = await startServer({ config: '[server]\nworkers = 2\n' });
  const workers = childrenOf(server.pid);
  process.kill(server.pid, 'SIGKILL');
  const alive = (): number[] =>
    workers.filter((worker) => {
      try {
        process.kill(worker, 0);
        return true;
      } catch {
        return false;
      }
    });
  const deadline = performance.now() + 10_000;
  while (alive().length > 0 && performance.now() < deadline) await Bun.sleep(50);
  expect(alive()).toEqual([]);
}, 60_000);

test.each([1, 2])(
  'a second serve on a data directory in use (%p workers) names it and stops, and a killed server does not block the next',
  async (workers) => {
    await using server = await startServer({ config: `[server]\nworkers = ${workers}\n` });
    const data = join(server.directory, 'data');
    const place = ['--data', data, '--config', join(server.directory, 'postern.toml')];
    const second = Bun.spawnSync([launcher, 'serve', ...place, '--https-port', '0', '--http-port', '0']);
    expect([second.exitCode, second.stdout.toString()]).toEqual([1, '']);
    expect(second.stderr.toString()).toContain(
      `the data directory ${data} is in use by another postern serve, at ${server.baseUrl}: stop that process first`,
    );
    expect(server.device('pump-1').commands.est).toContain(String(server.httpsPort));
    expect(await healthy(server)).toBe(true);
    await server.kill();
    await server.start();
    expect(await healthy(server)).toBe(true);
  },
  40_000,
);

describe.if(hasPostgres)('with PostgreSQL', () => {
  test('two gateways with workers share one database and its devices', async () => {
    const postgres = await startPostgres();
    try {
      const store = `[store]\nplugin = "postgres"\nurl = "${postgres.url}"\n`;
      const config = `[server]\nworkers = 2\n${store}`;
      await using one = await startServer({ config });
      const keys = join(one.directory, 'data');
      await using two = await startServer({
        config: `${config}[secrets]\nkey_file = "${keys}/master.key"\n[keys.keyfile]\ndirectory = "${keys}/keys"\n`,
      });
      expect(one.output).toHaveLength(2);
      expect(two.output).toEqual([`postern ready ${two.baseUrl}`]);
      const names = (server: Server) => JSON.parse(server.cli('ca', 'list', '--json'));
      expect(names(two)).toEqual(names(one));
      one.device('pump-1');
      expect(() => two.device('pump-1')).toThrow('another device already has this value');
      expect(await healthy(two)).toBe(true);

      // The same keys, as in an HSM, with its own master key.
      const file = join(two.directory, 'foreign.toml');
      writeFileSync(file, `${config}[keys.keyfile]\ndirectory = "${keys}/keys"\n`);
      const place = ['--data', join(two.directory, 'foreign'), '--config', file];
      for (const command of [
        ['serve', '--https-port', '0', '--http-port', '0'],
        ['device', 'add', 'pump-2'],
      ]) {
        const { exitCode, stdout, stderr } = Bun.spawnSync([launcher, ...command, ...place]);
        expect([exitCode, stdout.toString(), stderr.toString()]).toEqual([
          1,
          '',
          expect.stringContaining(
            'the master key of this data directory is not the one that the database was made with: copy master.json',
          ),
        ]);
      }
      one.device('pump-2');
      expect(two.cli('audit', 'verify')).toContain(': intact');
    } finally {
      await postgres.stop();
    }
  }, 60_000);
});
