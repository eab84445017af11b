import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findRevoked, parseCrl } from '#core/x509/crl.ts';
import { hasPostgres, type PostgresFixture, startPostgres } from '#tests/fixtures/postgres.ts';
import {
  adminPassword,
  type DeviceSecrets,
  type Server,
  shell,
  startServer,
} from '#tests/fixtures/server.ts';
import { nightly } from '#tests/property.ts';

const passphrase = 'correct horse battery staple';
const backupTable = `[backup]\npassphrase = "${passphrase}"\nkeep = 2\n`;

let postgres: PostgresFixture | undefined;
beforeAll(async () => {
  if (hasPostgres) postgres = await startPostgres();
}, 60_000);
afterAll(() => postgres?.stop());

const stores = {
  SQLite: async () => '[store]\nplugin = "sqlite"\n',
  PostgreSQL: async () => `[store]\nplugin = "postgres"\nurl = "${await postgres!.createDatabase()}"\n`,
} as const;
type Name = keyof typeof stores;

const configOf = async (store: Name): Promise<string> =>
  `[server]\nhost = "127.0.0.1"\nworkers = 1\n${backupTable}${await stores[store]()}`;

const tokens = new WeakMap<Server, string>();

/** A call of the Management API, signed in where it is the first, or the service knows the sign-in no more. */
async function api(server: Server, method: string, path: string, body?: unknown) {
  const call = (way: string, at: string, content: unknown, headers: Record<string, string>) =>
    fetch(`${server.baseUrl}${at}`, {
      method: way,
      headers: { 'content-type': 'application/json', ...headers },
      ...(content !== undefined && { body: JSON.stringify(content) }),
      tls: { rejectUnauthorized: false },
    });
  const signedIn = () => call(method, path, body, { authorization: `Bearer ${tokens.get(server)}` });
  let answer = await signedIn();
  if (answer.status === 401) {
    const signIn = await call('POST', '/api/token/', { username: 'admin', password: adminPassword }, {});
    tokens.set(server, ((await signIn.json()) as { access: string }).access);
    answer = await signedIn();
  }
  const text = await answer.text();
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of an answer by expecting it
  return { status: answer.status, body: (text === '' ? undefined : JSON.parse(text)) as any };
}

function run(server: Server, line: string): string {
  const { status, stdout, stderr } = shell(server.directory, line);
  expect({ line, status, stderr }).toEqual({ line, status: 0, stderr });
  return stdout;
}

/** Registers a device and enrols it over EST: its secrets and the serial number of its certificate. */
async function enrolled(
  server: Server,
  name: string,
): Promise<{ device: DeviceSecrets; serialNumber: string }> {
  const device = await server.register(name);
  for (const line of ['key', 'ca', 'est']) run(server, device.commands[line]!);
  return { device, serialNumber: serialOf(server, name) };
}

const serialOf = (server: Server, name: string): string =>
  run(server, `openssl x509 -in ${name}.pem -noout -serial`).trim().split('=')[1]!;

async function revoke(server: Server, serialNumber: string): Promise<void> {
  const { body } = await api(server, 'GET', `/api/certificates/?serial_number=${serialNumber}`);
  const answer = await api(server, 'POST', `/api/certificates/${body[0].id}/revoke/`, {
    reason: 'keyCompromise',
  });
  expect(answer.status).toBe(200);
}

async function newestCrl(server: Server): Promise<Buffer> {
  const answer = await fetch(`http://127.0.0.1:${server.httpPort}/crl/2.crl`);
  expect(answer.status).toBe(200);
  return Buffer.from(await answer.arrayBuffer());
}

/** Each as where it comes from, and as where it goes to; in the nightly run, also both the same. */
const pairs: [Name, Name][] = [
  ['SQLite', 'PostgreSQL'],
  ['PostgreSQL', 'SQLite'],
];
if (nightly) pairs.push(['SQLite', 'SQLite'], ['PostgreSQL', 'PostgreSQL']);

describe.each(pairs)('a backup of a service on %s can be restored on %s', (from, to) => {
  const needsPostgres = from !== 'SQLite' || to !== 'SQLite';
  const runs = needsPostgres && !hasPostgres ? test.skip : test;

  runs(
    'enrols and renews as before, and nothing revoked is good again',
    async () => {
      await using server = await startServer({
        config: (await configOf(from)).replace('host = "127.0.0.1"\n', ''),
      });
      const { directory } = server;
      const pump = await enrolled(server, 'pump-1');
      const before = await enrolled(server, 'revoked-before');
      const after = await enrolled(server, 'revoked-after');
      await revoke(server, before.serialNumber);

      const backups = join(directory, 'backups');
      mkdirSync(backups);
      const option = await api(server, 'POST', '/api/backups/', { remote_directory: backups });
      expect(option.status).toBe(201);
      const made = await api(server, 'POST', `/api/backups/${option.body.id}/run/`);
      expect([made.status, made.body.id]).toEqual([200, option.body.id]);
      const file = join(backups, made.body.file);
      expect(statSync(file).size).toBe(made.body.size);
      // Nothing in it can be read.
      expect(readFileSync(file).includes('pump-1')).toBe(false);

      await revoke(server, after.serialNumber);
      const later = await enrolled(server, 'issued-later');
      await revoke(server, later.serialNumber);
      const published = await newestCrl(server);
      writeFileSync(join(directory, 'published.crl'), published);
      await server.stop();

      renameSync(join(directory, 'data'), join(directory, 'lost'));
      writeFileSync(join(directory, 'postern.toml'), await configOf(to));
      const said = JSON.parse(
        server.cli('restore', file, '--crl', join(directory, 'published.crl'), '--json'),
      );
      expect(said).toMatchObject({ revoked: 1, revoked_unknown: 1, without_crl: ['root'] });
      await server.start();

      run(server, pump.device.commands.est_renew!);
      run(server, 'openssl verify -x509_strict -CAfile ca.pem pump-1.pem');
      run(server, pump.device.commands.est!);
      const crl = parseCrl(new Uint8Array(await newestCrl(server)));
      expect(Number(crl.number)).toBeGreaterThan(Number(parseCrl(new Uint8Array(published)).number));
      for (const { serialNumber } of [before, after, later]) {
        expect(findRevoked(crl, Buffer.from(serialNumber, 'hex'))?.reason).toBe('keyCompromise');
      }
      for (const { serialNumber } of [before, after]) {
        const { body } = await api(server, 'GET', `/api/certificates/?serial_number=${serialNumber}`);
        expect(body[0].status).toBe('revoked');
      }
      const refused = shell(directory, after.device.commands.est_renew!);
      expect(refused.status).not.toBe(0);

      const { body: events } = await api(server, 'GET', '/api/audit-events/?search=backup');
      // The result is recorded after the backup, which itself contains only the order.
      expect(events.map(({ action }: { action: string }) => action)).toEqual([
        'backup.restore',
        'backup.create',
      ]);
      expect(server.cli('audit', 'verify')).toContain(': intact');
    },
    60_000,
  );
});
