import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  adminPassword,
  type DeviceSecrets,
  type Server,
  shell,
  startServer,
} from '#tests/fixtures/server.ts';
import { javaLibraries } from './install.ts';

const sources = join(import.meta.dir, 'bouncycastle');
const libraries = await javaLibraries(join(sources, 'pom.xml'));

describe.skipIf(!libraries)("Bouncy Castle's EST client", () => {
  let server: Server;
  let device: DeviceSecrets;

  beforeAll(async () => {
    server = await startServer();
    device = await server.register('pump-1');
    writeFileSync(join(server.directory, 'root.pem'), server.cli('ca', 'export', '1'));
    const built = shell(server.directory, `javac -cp '${libraries}' -d classes '${sources}/EstClient.java'`);
    expect(built).toMatchObject({ status: 0 });
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  /** The options of `EstClient.java`; its standard output. */
  function client(operation: string, options: Record<string, string | number> = {}): string {
    const all = { server: `localhost:${server.httpsPort}`, root: 'root.pem', ...options };
    const words = Object.entries(all).map(([name, value]) => `'${name}=${value}'`);
    const command = `java -cp 'classes:${libraries}' EstClient ${operation} ${words.join(' ')}`;
    const { status, stdout, stderr } = shell(server.directory, command);
    if (status !== 0) throw new Error(stderr);
    return stdout.trim();
  }

  /** Saves a certificate that the client printed; its subject as OpenSSL prints it. */
  function save(name: string, certificate: string): string {
    writeFileSync(join(server.directory, name), certificate);
    return shell(server.directory, `openssl x509 -in ${name} -noout -subject`).stdout.trim();
  }

  /** Without credentials first: the client reads the challenge, and then nothing more of that response. */
  const enrolment = (changes: Record<string, string> = {}) => ({
    subject: 'CN=pump-1',
    user: device.username,
    password: device.password,
    newkey: 'pump-1.key',
    ...changes,
  });
  const certificate = { cert: 'pump-1.pem', key: 'pump-1.key' };

  test('fetches the CA certificates', () => {
    expect(client('cacerts').match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
  });

  test('finds no CSR attributes', () => {
    expect(client('csrattrs')).toBe('none');
  });

  test('enrols with a password once it is challenged', () => {
    expect(save('pump-1.pem', client('simpleenroll', enrolment()))).toBe('subject=CN = pump-1');
  });

  test('is refused with a wrong password', () => {
    expect(client('simpleenroll', enrolment({ password: 'wrong', newkey: 'wrong.key' }))).toBe('refused 401');
  });

  test('binds a request to its TLS 1.2 connection by tls-unique (RFC 7030 §3.5)', () => {
    const bound = client('simplereenroll', {
      subject: 'CN=pump-1',
      tls: 'TLSv1.2',
      binding: 'tls-unique',
      ...certificate,
    });
    expect(save('bound.pem', bound)).toBe('subject=CN = pump-1');
    const challenged = client('simpleenroll', enrolment({ tls: 'TLSv1.2', binding: 'tls-unique' }));
    expect(save('pump-1.pem', challenged)).toBe('subject=CN = pump-1');
  });

  test('is refused with the channel binding of another type', () => {
    const options = { subject: 'CN=pump-1', tls: 'TLSv1.2', binding: 'tls-server-end-point', ...certificate };
    expect(client('simplereenroll', options)).toBe('refused 400');
  });

  test('renews with its certificate', () => {
    const renewed = client('simplereenroll', { subject: 'CN=pump-1', ...certificate });
    expect(save('renewed.pem', renewed)).toBe('subject=CN = pump-1');
  });

  test('gets waiting while its request is pending', async () => {
    const { access } = await api<{ access: string }>('token/', {
      username: 'admin',
      password: adminPassword,
    });
    const policy = { unique_name: 'look twice', priority: 1, decision: 'manual' };
    await api('approval-policies/', policy, access);
    expect(client('simplereenroll', { subject: 'CN=pump-1', ...certificate })).toMatch(/^pending [1-9]\d*$/);
  });

  async function api<T>(path: string, body: object, token?: string): Promise<T> {
    const response = await fetch(`${server.baseUrl}/api/${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
      tls: { rejectUnauthorized: false },
    });
    expect(response.ok).toBe(true);
    return (await response.json()) as T;
  }
});
