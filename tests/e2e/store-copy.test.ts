import { describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasPostgres, startPostgres } from '#tests/fixtures/postgres.ts';
import { type DeviceSecrets, type Server, shell, startServer } from '#tests/fixtures/server.ts';

/** Enrols over EST with the device's password and returns the status; the key and the certificate stay in `NAME.pem`. */
function enrol(server: Server, { common_name: name, password }: DeviceSecrets): string {
  const { stdout } = shell(
    server.directory,
    `openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ${name}.key -subj /CN=${name} -outform DER 2>/dev/null | openssl base64 -A |
     curl -sk -o ${name}.p7 -w '%{http_code}' --user '${name}:${password}' -H 'Content-Type: application/pkcs10' --data-binary @- ${server.baseUrl}/.well-known/est/simpleenroll
     openssl base64 -d -in ${name}.p7 | openssl pkcs7 -inform DER -print_certs -out ${name}.pem 2>/dev/null`,
  );
  return stdout.trim().slice(0, 3);
}

/** Renews over EST with the certificate, and returns the status. */
function renew(server: Server, { common_name: name }: DeviceSecrets): string {
  const { stdout } = shell(
    server.directory,
    `openssl req -new -key ${name}.key -subj /CN=${name} -outform DER 2>/dev/null | openssl base64 -A |
     curl -sk -o /dev/null -w '%{http_code}' --cert ${name}.pem --key ${name}.key -H 'Content-Type: application/pkcs10' --data-binary @- ${server.baseUrl}/.well-known/est/simplereenroll`,
  );
  return stdout.trim();
}

interface Crl {
  readonly number: number;
  readonly serials: readonly string[];
}

/** The CRL of the CA that issues for devices. */
function crl(server: Server): Crl {
  const { stdout } = shell(
    server.directory,
    `curl -s http://localhost:${server.httpPort}/crl/2.crl | openssl crl -inform DER -noout -text`,
  );
  return {
    number: Number(/CRL Number:\s*(\d+)/.exec(stdout)?.[1]),
    serials: [...stdout.matchAll(/Serial Number: ([0-9A-F]+)/g)].map(([, serial]) => serial!),
  };
}

const inventory = (server: Server): unknown =>
  JSON.parse(server.cli('certificate', 'find', '--json')) as unknown;

function setStore(server: Server, lines: string): void {
  const file = join(server.directory, 'postern.toml');
  const text = readFileSync(file, 'utf8').replace(/\n\[store\][^[]*/, '\n');
  writeFileSync(file, `${text}\n${lines}\n`);
}

/** What the command prints, or why it fails. */
function printed(command: () => string): string {
  try {
    return command();
  } catch (error) {
    return String(error);
  }
}

describe.skipIf(!hasPostgres)('postern store copy', () => {
  test('moves an installation from SQLite to PostgreSQL and back', async () => {
    await using stack = new AsyncDisposableStack();
    const database = stack.adopt(await startPostgres(), (server) => server.stop());
    await using server = await startServer();
    const [pump, valve] = [await server.register('pump'), await server.register('valve')];
    for (const device of [pump, valve]) expect(enrol(server, device)).toBe('200');
    const [revoked] = JSON.parse(server.cli('certificate', 'find', 'valve', '--json')) as { id: number }[];
    server.cli('certificate', 'revoke', String(revoked!.id), '--reason', 'keyCompromise');
    const before = { crl: crl(server), inventory: inventory(server) };
    expect(before.crl.serials).toHaveLength(1);
    const url = await database.createDatabase();

    expect(() => server.cli('store', 'copy', '--to', url)).toThrow('stop every gateway');
    await server.stop();
    const copied = server.cli('store', 'copy', '--to', url);
    expect(copied).toContain('The audit trail of the copy is intact');
    const [lines] = /^\[store\]\n[\s\S]*/m.exec(copied)!;
    setStore(server, lines.trim().replace(/ {3}#.*$/, ''));
    expect(() => server.cli('store', 'copy', '--to', url)).toThrow('not empty');
    await server.start();
    expect(inventory(server)).toEqual(before.inventory);
    expect(crl(server)).toEqual(before.crl);
    expect(renew(server, pump)).toBe('200');
    expect(renew(server, valve)).not.toBe('200');
    expect(server.cli('audit', 'verify')).toContain(': intact');
    const later = { crl: crl(server), inventory: inventory(server) };

    expect(() => server.cli('store', 'copy', '--to', 'sqlite:back.db')).toThrow('stop every gateway');
    await server.stop();
    const back = JSON.parse(server.cli('store', 'copy', '--to', 'sqlite:back.db', '--json'));
    expect(back).toMatchObject({ audit_intact: true });
    expect(back.records).toBeGreaterThan(20);
    setStore(server, `[store]\nplugin = "sqlite"\npath = "back.db"`);
    await server.start();
    expect(inventory(server)).toEqual(later.inventory);
    expect(crl(server)).toEqual(later.crl);
    expect(renew(server, pump)).toBe('200');
    const events = server.cli('audit', 'verify');
    expect(events).toContain(': intact');
  }, 120_000);

  test('a copy that is killed leaves an empty database, and the next one succeeds', async () => {
    await using stack = new AsyncDisposableStack();
    const database = stack.adopt(await startPostgres(), (server) => server.stop());
    await using server = await startServer();
    const url = await database.createDatabase();
    await server.register('pump');
    await server.stop();
    const place = [
      '--data',
      join(server.directory, 'data'),
      '--config',
      join(server.directory, 'postern.toml'),
    ];
    for (const patience of [300, 500, 700]) {
      const copy = Bun.spawn(
        [join(import.meta.dir, '../../postern'), 'store', 'copy', '--to', url, ...place],
        { cwd: server.directory, stdout: 'ignore', stderr: 'ignore' },
      );
      const ended = await Promise.race([copy.exited, Bun.sleep(patience).then(() => 'running')]);
      copy.kill('SIGKILL');
      await copy.exited;
      if (ended !== 'running') break;
    }
    // Either nothing has been copied, or everything.
    expect(printed(() => server.cli('store', 'copy', '--to', url))).toMatch(
      /audit trail of the copy is intact|not empty/,
    );
    setStore(server, `[store]\nplugin = "postgres"\nurl = ${JSON.stringify(url)}`);
    await server.start();
    expect(server.cli('device', 'list')).toContain('pump');
  }, 120_000);

  test('what is no destination is refused with a reason', async () => {
    await using server = await startServer();
    await server.stop();
    expect(() => server.cli('store', 'copy')).toThrow('--to is missing');
    expect(() => server.cli('store', 'copy', '--to', 'mysql://host/db')).toThrow('store.url');
    expect(() => server.cli('store', 'copy', '--to', 'sqlite:')).toThrow('not empty');
  });
});
