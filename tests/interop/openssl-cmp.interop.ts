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
import { laterOpenssl } from './install.ts';

// What `openssl cmp` can do from 3.2 on (root updates) and from 3.5 on (keys that are made by the CA).
const openssl = await laterOpenssl('trixie');

describe.skipIf(!openssl)('OpenSSL 3.5', () => {
  let server: Server;
  let device: DeviceSecrets & { readonly cmp_shared_secret: string };

  beforeAll(async () => {
    server = await startServer({
      config: `[inbound.management]\n[inbound.publication]\n[inbound.cmp]
central_key_format = "pkcs8"
central_key_wrap = "pwri-kek"
`,
    });
    device = server.device('pump-1') as typeof device;
    writeFileSync(join(server.directory, 'root.pem'), server.cli('ca', 'export', '1'));
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  const run = (line: string) => {
    const { status, stdout, stderr } = shell(server.directory, line);
    return { status, said: stdout + stderr };
  };
  let token = '';
  async function api<T>(path: string, body: object): Promise<T> {
    const response = await fetch(`${server.baseUrl}/api/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
      tls: { rejectUnauthorized: false },
    });
    const answer = await response.text();
    if (!response.ok) throw new Error(answer);
    return JSON.parse(answer) as T;
  }
  const cmp = (rest: string) =>
    run(`'${openssl}' cmp -config '' -server 127.0.0.1:${server.httpPort} -trusted root.pem ${rest}`);
  const bySecret = () => `-path .well-known/cmp -ref pump-1 -secret 'pass:${device.cmp_shared_secret}'`;
  const signed = (name: string) => `-cert ${name}.pem -key ${name}.key`;
  const isPair = (name: string) => {
    const { status, said } = run(`openssl x509 -in ${name}.pem -noout -pubkey >${name}.pub &&
      openssl pkey -in ${name}.key -pubout | cmp - ${name}.pub`);
    return { status, said };
  };

  test('gets a key that is made here, by its shared secret', () => {
    const { status, said } = cmp(
      `-cmd ir ${bySecret()} -subject /CN=pump-1 -centralkeygen -newkeyout by-secret.key -certout by-secret.pem`,
    );
    expect({ status, said }).toEqual({ status: 0, said });
    expect(said).toContain('received PKICONF');
    expect(isPair('by-secret')).toEqual({ status: 0, said: '' });
  });

  test.each([
    ['RSA', '-algorithm RSA -pkeyopt rsa_keygen_bits:2048'],
    ['EC', '-algorithm EC -pkeyopt ec_paramgen_curve:P-256'],
  ])('gets a key that is made here, by its domain credential for a key of %s', (_, kind) => {
    run(`openssl genpkey ${kind} -out own.key`);
    const first = cmp(`-cmd ir ${bySecret()} -subject /CN=pump-1 -newkey own.key -certout own.pem`);
    expect(first).toEqual({ status: 0, said: first.said });
    const path = '-path .well-known/cmp/p/~tls_client';
    const { status, said } = cmp(
      `-cmd cr ${path} ${signed('own')} -subject /CN=pump-1 -centralkeygen -newkeyout made.key -certout made.pem`,
    );
    expect({ status, said }).toEqual({ status: 0, said });
    expect(isPair('made')).toEqual({ status: 0, said: '' });
  });

  test('gets the new key of its root, and trusts that from then on', async () => {
    run('openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out own.key');
    cmp(`-cmd ir ${bySecret()} -subject /CN=pump-1 -newkey own.key -certout own.pem`);
    const subject = run('openssl x509 -in root.pem -noout -subject -nameopt RFC2253')
      .said.trim()
      .slice('subject='.length);
    const login = { username: 'admin', password: adminPassword };
    token = (await api<{ access: string }>('token/', login)).access;
    await api('issuing-cas/', { unique_name: 'next', issuing_ca_type: 0, subject });
    const update = `-cmd genm -infotype rootCaCert -path .well-known/cmp ${signed('own')}`;
    const files = '-oldwithold root.pem -newwithnew new.pem -newwithold link.pem -oldwithnew back.pem';
    const { status, said } = cmp(`${update} ${files}`);
    expect({ status, said }).toEqual({ status: 0, said });
    expect(
      run('openssl verify -CAfile root.pem link.pem; openssl verify -CAfile new.pem back.pem').said,
    ).toBe('link.pem: OK\nback.pem: OK\n');
    const { status: again, said: then } = cmp(
      `-cmd genm -infotype caCerts -cacertsout cas.pem -path .well-known/cmp ${signed('own')} -trusted new.pem`,
    );
    expect({ again, then }).toEqual({ again: 0, then });
  });
});
