import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { parseCrl, revokedEntries } from '#core/x509/crl.ts';
import { inOrder } from '#tests/fixtures/in-order.ts';
import { type Server, startServer } from '#tests/fixtures/server.ts';

const launcher = join(import.meta.dir, '../../postern');

interface Result {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly bytes: Uint8Array;
}

let server: Server;
let token: string;
beforeAll(async () => {
  server = await startServer();
  token = (await api('POST', '/api/token/', { username: 'admin', password: 'e2e admin password' })).access;
}, 60_000);
afterAll(() => server[Symbol.asyncDispose]());

function postern(args: readonly string[], env: Record<string, string> = {}): Result {
  const { exitCode, stdout, stderr } = Bun.spawnSync([launcher, ...args], {
    cwd: server.directory,
    env: { ...process.env, POSTERN_ADMIN_PASSWORD: '', ...env },
    stdin: Buffer.from(''),
  });
  return { status: exitCode, stdout: stdout.toString(), stderr: stderr.toString(), bytes: stdout };
}

const run = (...args: readonly string[]): Result =>
  postern([...args, '--data', join(server.directory, 'data')]);

/** Returns the JSON that a command prints. */
function json(...args: readonly string[]) {
  const { status, stdout, stderr } = run(...args, '--json');
  expect({ args, status, stderr }).toEqual({ args, status: 0, stderr: '' });
  return JSON.parse(stdout);
}

// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of an answer by expecting it
async function api(method: string, path: string, body?: unknown): Promise<any> {
  const response = await fetch(`${server.baseUrl}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    tls: { rejectUnauthorized: false },
  });
  return response.json();
}

const actions = async (object: string): Promise<readonly [string, string][]> =>
  (await api('GET', `/api/audit-events/?object=${object}`)).map(
    (event: { action: string; actor: { kind: string; name: string } }) => [
      event.action,
      `${event.actor.kind} ${event.actor.name.replace(/\(.*/, '').trim()}`,
    ],
  );

test('--version prints the version of the package', () => {
  const { version } = JSON.parse(readFileSync(join(import.meta.dir, '../../package.json'), 'utf8'));
  expect(postern(['--version'])).toMatchObject({ status: 0, stdout: `postern ${version}\n` });
});

/** Commands whose output is no data: a log, a script, a manual page. */
const withoutJson = ['serve', 'completion', 'manual'];

test('every command accepts --help, and all that print data accept --json', () => {
  const names = [...postern(['--help']).stdout.matchAll(/^ {2}([a-z-]+(?: [a-z]+)?) /gm)].map(
    ([, name]) => name!,
  );
  expect(names.length).toBeGreaterThan(20);
  for (const name of names) {
    const { status, stdout } = postern([...name.split(' '), '--help']);
    expect([name, status, stdout.includes('--help')]).toEqual([name, 0, true]);
    expect([name, stdout.includes('--json')]).toEqual([name, !withoutJson.includes(name)]);
  }
}, 60_000);

describe('a misspelt command or option gets a suggestion', () => {
  test.each([
    [['devcie', 'list'], 'no such command: devcie list (did you mean "device list"?)'],
    [['device', 'lst'], 'no such command: device lst (did you mean "device list"?)'],
    [['srve'], 'no such command: srve (did you mean "serve"?)'],
    [['frobnicate'], 'no such command: frobnicate\n'],
    [['ca', 'list', '--jsn'], 'Unknown option \'--jsn\' (did you mean "--json"?)'],
    [['device', 'list', '--state', 'blockd'], 'one of registered, active, blocked (did you mean "blocked"?)'],
    [['certificate', 'revoke', '1', '--reason', 'superceded'], '(did you mean "superseded"?)'],
    [['device', 'list', '--limit', '0'], '--limit must be a number from 1 to'],
  ])('postern %j', (args, says) => {
    const { status, stdout, stderr } = postern(args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(says);
  });
});

inOrder('devices', { timeout: 120_000 }, (step) => {
  step('are added', async () => {
    for (const common_name of ['pump-1', 'pump-2', 'valve-1'])
      await api('POST', '/api/devices/', { common_name });
  });

  step('device list shows all devices, or those selected', async () => {
    const all = json('device', 'list');
    expect(all).toMatchObject([
      { common_name: 'pump-1', domain: 'default', state: 'registered', blocked_at: null, next_expiry: null },
      { common_name: 'pump-2' },
      { common_name: 'valve-1' },
    ]);
    const names = (...args: readonly string[]) =>
      json('device', 'list', ...args).map((one: { common_name: string }) => one.common_name);
    expect(names('--search', 'pump')).toEqual(['pump-1', 'pump-2']);
    expect(names('--limit', '1')).toEqual(['pump-1']);
    expect(names('--state', 'blocked')).toEqual([]);
    expect(run('device', 'list').stdout).toMatch(/^ID {2}NAME .*\n\d+ +pump-1 .*\n/);
    expect(run('device', 'list', '--domain', 'nowhere')).toMatchObject({
      status: 1,
      stderr: 'postern: there is no domain nowhere: see postern domain list\n',
    });
  });

  step(
    'device block, unblock and delete work like the API, and are audited as the command line',
    async () => {
      const { id } = json('device', 'show', 'pump-1');
      expect(run('device', 'block', 'pump-1', '--comment', 'stolen').stdout).toBe(
        'The device pump-1 has been blocked.\n',
      );
      expect(await api('GET', `/api/devices/${id}/`)).toMatchObject({ state: 'blocked' });
      expect(run('device', 'block', 'pump-1')).toMatchObject({
        status: 1,
        stderr: 'postern: the device is already blocked\n',
      });
      expect(json('device', 'unblock', String(id))).toEqual({ id, common_name: 'pump-1', unblocked: true });
      expect(json('device', 'delete', 'pump-1')).toEqual({ id, common_name: 'pump-1', deleted: true });
      expect(run('device', 'show', 'pump-1')).toMatchObject({
        status: 1,
        stderr: 'postern: there is no device pump-1: see postern device list\n',
      });
      expect((await actions(`device:${id}`)).slice(0, 3)).toEqual([
        ['device.delete', 'system command line'],
        ['device.unblock', 'system command line'],
        ['device.block', 'system command line'],
      ]);
    },
  );

  step('an invalid field is named as on the command line', async () => {
    const again = run('device', 'add', 'pump-2');
    expect(again.status).toBe(1);
    expect(again.stderr).toStartWith('postern: NAME: ');
    const files = ['--certificate', 'nothing.pem', '--key', 'nothing.key'];
    for (const name of ['nothing.pem', 'nothing.key']) writeFileSync(join(server.directory, name), 'nothing');
    expect(run('tls', 'set', ...files).stderr).toStartWith('postern: --certificate or --pkcs12: ');
  });
});

describe('certificates and CAs', () => {
  test('certificate find, show and revoke work, and crl export has the revocation', async () => {
    const made = await api('POST', '/api/certificates/', { common_name: 'terminal 7' });
    const serial: string = made.serial_number;
    const [found, ...others] = json('certificate', 'find', 'terminal');
    expect(others).toEqual([]);
    expect(found).toMatchObject({
      id: made.id,
      serial_number: serial,
      status: 'good',
      fingerprint: made.fingerprint,
    });
    const colons = serial.toLowerCase().match(/../g)!.join(':');
    expect(json('certificate', 'find', colons)).toEqual([found]);
    expect(json('certificate', 'find', '--expires-within', '36000', '--status', 'good')).toContainEqual(
      found,
    );
    expect(json('certificate', 'show', serial)).toEqual({
      ...found,
      subject_alternative_names: made.subject_alternative_names,
      pem: made.pem,
    });
    expect(run('certificate', 'show', String(made.id)).stdout).toEndWith(`\n${made.pem}`);
    expect(run('certificate', 'find', '--limit', '1').stderr).toBe(
      'postern: more than 1 certificates match: raise --limit to see more\n',
    );

    expect(json('certificate', 'revoke', colons, '--reason', 'superseded')).toMatchObject({
      id: made.id,
      status: 'revoked',
      revocation_reason: 'superseded',
    });
    expect(run('certificate', 'revoke', serial).status).toBe(1);
    const der = run('crl', 'export', String(made.issuing_ca), '--der');
    const serials = (crl: Uint8Array) =>
      [...revokedEntries(parseCrl(crl))].map((entry) =>
        Buffer.from(entry.serial).toString('hex').toUpperCase(),
      );
    expect(serials(der.bytes)).toContain(serial);
    const { pem, number } = json('crl', 'export', String(made.issuing_ca));
    expect(number).toBeGreaterThan(0);
    expect(run('crl', 'export', String(made.issuing_ca)).stdout).toBe(pem);
    expect(Buffer.from(pem.replace(/-----[^-]+-----|\n/g, ''), 'base64')).toEqual(Buffer.from(der.bytes));
    expect((await actions(`certificate:${made.id}`))[0]).toEqual([
      'certificate.revoke',
      'system command line',
    ]);
  });

  test('ca list shows the fingerprint and expiry of each certificate', () => {
    const cas = json('ca', 'list');
    expect(run('ca', 'list').stdout).toMatch(/UNTIL +WARNING +FINGERPRINT/);
    for (const one of cas)
      expect(one).toMatchObject({ not_after: expect.stringMatching(/^20/), warning: null });
    for (const { id, fingerprint } of cas) {
      const { certificates } = json('ca', 'export', String(id));
      const certificate = new X509Certificate(certificates[0]);
      expect(certificate.fingerprint256.replaceAll(':', '')).toBe(fingerprint);
      expect(run('ca', 'list').stdout).toContain(fingerprint);
    }
  });
});

describe('tls set', () => {
  const served = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect({ port: server.httpsPort, host: '127.0.0.1', rejectUnauthorized: false }, () => {
        resolve(socket.getPeerCertificate().fingerprint256.replaceAll(':', ''));
        socket.destroy();
      });
      socket.on('error', reject);
    });

  test('makes the running server use a certificate from files, with or without a password', async () => {
    const shell = (command: string) => {
      const { exitCode, stderr } = Bun.spawnSync(['sh', '-c', command], { cwd: server.directory });
      expect([exitCode, exitCode === 0 || stderr.toString()]).toEqual([0, true]);
    };
    shell(`openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout own.key -out own.pem -subj /CN=own.example \
      -addext subjectAltName=DNS:own.example -days 30 &&
      openssl pkcs12 -export -inkey own.key -in own.pem -passout pass:geheim -out own.p12`);
    const set = json('tls', 'set', '--certificate', 'own.pem', '--key', 'own.key', '--name', 'mine');
    expect(set).toMatchObject({ unique_name: 'mine', common_name: 'own.example' });
    const deadline = performance.now() + 20_000;
    while ((await served()) !== set.fingerprint && performance.now() < deadline) await Bun.sleep(100);
    expect(await served()).toBe(set.fingerprint);

    const data = ['--data', join(server.directory, 'data')];
    const again = ['tls', 'set', '--pkcs12', 'own.p12', ...data];
    expect(postern(again).stderr).toStartWith('postern: POSTERN_TLS_PASSWORD: ');
    expect(postern(again, { POSTERN_TLS_PASSWORD: 'geheim' })).toMatchObject({
      status: 0,
      stdout: expect.stringContaining(set.fingerprint),
    });
    expect(postern(['tls', 'set', '--key', 'own.key', ...data])).toMatchObject({ status: 2 });
  }, 60_000);
});
