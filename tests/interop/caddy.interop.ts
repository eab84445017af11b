import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Subprocess } from 'bun';
import { freePorts } from '#tests/fixtures/ports.ts';
import { type DeviceSecrets, type Server, shell, startServer } from '#tests/fixtures/server.ts';
import { goCommand } from './install.ts';

const caddy = await goCommand('github.com/caddyserver/caddy/v2/cmd/caddy@v2.11.9');
const page = readFileSync(resolve(import.meta.dir, '../../docs/how-to/load-balancer.md'), 'utf8');

describe.skipIf(!caddy)('behind Caddy, configured as docs/how-to/load-balancer.md says', () => {
  let server: Server;
  let device: DeviceSecrets;
  let proxy: Subprocess | undefined;
  let port: number;

  beforeAll(async () => {
    server = await startServer({ config: '[server]\ntrusted_proxies = ["127.0.0.1"]\n' });
    device = await server.register('pump-1');
    const { directory } = server;
    [port] = (await freePorts(1)) as [number];
    writeFileSync(join(directory, 'postern-root.pem'), server.cli('ca', 'export', '1'));
    const made = shell(
      directory,
      `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout pki.key -out pki.crt -subj /CN=localhost -addext subjectAltName=DNS:localhost &&
       openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout d.key -out d.csr -subj /CN=pump-1`,
    );
    expect(made.status).toBe(0);
    const [, text] = /^```caddyfile\n(.*?)^```/ms.exec(page)!;
    const here = text!
      .replace(/10\.0\.0\.1[123]:8443/g, `127.0.0.1:${server.httpsPort}`)
      .replace('pki.plant.example:9443', `localhost:${port}`)
      .replaceAll('pki.plant.example', 'localhost')
      .replaceAll('/etc/caddy/', `${directory}/`);
    writeFileSync(join(directory, 'Caddyfile'), here);
    proxy = Bun.spawn([caddy!, 'run', '--config', 'Caddyfile'], {
      cwd: directory,
      env: { ...process.env, HOME: directory, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory },
      stdout: 'ignore',
      stderr: Bun.file(join(directory, 'caddy.log')),
    });
    const deadline = Date.now() + 20_000;
    while (curl('api/health/').status !== 0) {
      if (Date.now() > deadline) throw new Error(shell(directory, 'cat caddy.log').stdout);
      await Bun.sleep(50);
    }
  });
  afterAll(async () => {
    proxy?.kill();
    await proxy?.exited;
    await server?.[Symbol.asyncDispose]();
  });

  const curl = (path: string, options = '') =>
    shell(server.directory, `curl -skf ${options} https://localhost:${port}/${path}`);
  /** EST with the request `d.csr`; the certificate goes to `to`. */
  const est = (operation: string, options: string, to: string) =>
    shell(
      server.directory,
      `openssl req -in d.csr -outform DER | openssl base64 -A | curl -skf -H 'Content-Type: application/pkcs10' --data-binary @- ${options} https://localhost:${port}/.well-known/est/${operation} | openssl base64 -d | openssl pkcs7 -inform DER -print_certs -out ${to}`,
    );

  test('a client without a certificate fetches the CA certificates', () => {
    expect(curl('.well-known/est/cacerts').status).toBe(0);
  });

  test('a device enrols with its password and renews with its certificate', () => {
    expect(est('simpleenroll', `-u pump-1:${device.password}`, 'd.pem')).toMatchObject({ status: 0 });
    expect(est('simplereenroll', '--cert d.pem --key d.key', 'renewed.pem')).toMatchObject({ status: 0 });
  });

  test('a client cannot present a certificate in a header field', () => {
    const der = shell(server.directory, 'openssl x509 -in d.pem -outform DER | openssl base64 -A').stdout;
    const forged = `-X POST -H 'Client-Cert: :${der}:' -H 'X-Forwarded-For: 192.0.2.1' -o /dev/null -w '%{http_code}'`;
    expect(curl('.well-known/est/simplereenroll', forged).stdout).toBe('401');
  });
});
