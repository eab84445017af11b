import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fingerprint } from '#core/x509/certificate.ts';
import { subjectAltNameExtension } from '#core/x509/extensions/identity.ts';
import { extendedKeyUsageExtension } from '#core/x509/extensions/usage.ts';
import { parseGeneralName } from '#core/x509/general-name.ts';
import { oid } from '#core/x509/oids.ts';
import { verifyPkcs10 } from '#core/x509/request.ts';
import { type EstUpstream, estUpstream } from '#tests/fixtures/est-upstream.ts';
import { inOrder } from '#tests/fixtures/in-order.ts';
import { request as pkcs10 } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { pem } from '#tests/fixtures/openssl.ts';
import { freePorts } from '#tests/fixtures/ports.ts';
import { adminPassword, type DeviceSecrets, type Server, startServer } from '#tests/fixtures/server.ts';
import { type TcpProxy, tcpProxy } from '#tests/fixtures/tcp-proxy.ts';

// Device → EST, REST, CMP → gateway → EST → a second Postern, and a CA that a test can have do what it wants.
let scripted: EstUpstream;
/** Before the latter. */
let between: TcpProxy;
let upstream: Server;
let gateway: Server;
let pump: DeviceSecrets & { readonly cmp_shared_secret: string };

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly retryAfter: number;
}

async function api(server: Server, method: string, path: string, body?: object): Promise<Answer> {
  const tls = { rejectUnauthorized: false };
  const headers = { 'content-type': 'application/json' };
  const login = await fetch(`${server.baseUrl}/api/token/`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ username: 'admin', password: adminPassword }),
    tls,
  });
  const { access } = (await login.json()) as { access: string };
  const response = await fetch(`${server.baseUrl}${path}`, {
    method,
    headers: { ...headers, authorization: `Bearer ${access}` },
    ...(body && { body: JSON.stringify(body) }),
    tls,
  });
  const text = await response.text();
  return {
    status: response.status,
    body: text === '' ? undefined : JSON.parse(text),
    retryAfter: Number(response.headers.get('retry-after')),
  };
}

const idOf = ({ body }: Answer): number => (body as { id: number }).id;
const list = async (server: Server, path: string) =>
  (await api(server, 'GET', path)).body as Record<string, unknown>[];

/** Runs a line beside the gateway's files; its output, errors and all. The scripted upstream goes on meanwhile. */
async function run(line: string): Promise<string> {
  const cwd = gateway.directory;
  const shell = Bun.spawn(['bash', '-o', 'pipefail', '-c', `{ ${line}\n} 2>&1`], { cwd, stdout: 'pipe' });
  return new Response(shell.stdout).text();
}

/** A fresh key and request in files called `name`. */
const makeRequest = (name: string): Promise<string> =>
  run(`openssl ecparam -name prime256v1 -genkey -noout -out ${name}.key
    openssl req -new -key ${name}.key -subj /CN=pump-1 -out ${name}.csr
    openssl req -in ${name}.csr -outform DER | base64 >${name}.b64`);

/** The status; what was issued is in `<name>.pem` then. */
async function est(name: string): Promise<number> {
  const how = `-u 'pump-1:${pump.password}' -H 'Content-Type: application/pkcs10' --data-binary @${name}.b64`;
  const url = `${gateway.baseUrl}/.well-known/est/~tls_client/simpleenroll`;
  const status = Number(await run(`curl -sk -o ${name}.out -w '%{http_code}' ${how} '${url}'`));
  if (status === 200)
    await run(`base64 -d ${name}.out | openssl pkcs7 -inform DER -print_certs -out ${name}.pem`);
  return status;
}

const isOfUpstream = (name: string): Promise<string> =>
  run(`openssl verify -x509_strict -CAfile upstream-root.pem -untrusted upstream-ca.pem ${name}.pem`);

async function useIssuer(server: Server, issuingCa: number): Promise<void> {
  const answer = await api(server, 'PATCH', '/api/domains/1/', { issuing_ca: issuingCa });
  expect([answer.status, answer.body]).toEqual([200, answer.body]);
}

const cas = { postern: 0, scripted: 0 };

beforeAll(async () => {
  scripted = await estUpstream(Date.now);
  const key = testKey('p-256', 'in between');
  const certificate = scripted.certify(verifyPkcs10(pkcs10(key, 'CN=localhost')), {
    extensions: [
      extendedKeyUsageExtension([oid.serverAuth]),
      subjectAltNameExtension([parseGeneralName('DNS:localhost')]),
    ],
  });
  const cert = pem('CERTIFICATE', certificate) + pem('CERTIFICATE', scripted.issuing);
  between = await tcpProxy(() => scripted.port, { cert, key: key.pem() });
  upstream = await startServer();
  const secrets = upstream.device('gateway');
  writeFileSync(join(upstream.directory, 'root.pem'), upstream.cli('ca', 'export', '1'));
  const profile = await api(upstream, 'POST', '/api/cert-profiles/', {
    unique_name: 'forwarded',
    profile: {
      validity: { duration: 'P30D' },
      subject: { CN: {} },
      extensions: {
        basicConstraints: { ca: false },
        keyUsage: { fixed: ['digitalSignature'], unfit: 'drop' },
        extendedKeyUsage: { fixed: ['clientAuth'], unfit: 'drop' },
      },
    },
  });
  expect(profile.status).toBe(201);
  const [domain] = await list(upstream, '/api/domains/');
  const profiles = [...(domain!.profiles as object[]), { profile: idOf(profile), alias: null }];
  expect((await api(upstream, 'PATCH', '/api/domains/1/', { profiles })).status).toBe(200);
  const issuing = await list(upstream, '/api/issuing-cas/?issuing_ca_type=1');
  gateway = await startServer({
    config: `
[issuers.postern]
plugin = "remote-est"
url = "https://localhost:${upstream.httpsPort}"
label = "default/forwarded"
username = "gateway"
password = "${secrets.password}"
trust = { file = "${join(upstream.directory, 'root.pem')}" }
retry_after_most_seconds = 1

[issuers.scripted]
plugin = "remote-est"
url = "https://localhost:${between.port}"
trust = { fingerprint = "${fingerprint(scripted.root)}" }
timeout_seconds = 2
`,
  });
  writeFileSync(join(gateway.directory, 'upstream-root.pem'), upstream.cli('ca', 'export', '1'));
  writeFileSync(
    join(gateway.directory, 'upstream-ca.pem'),
    upstream.cli('ca', 'export', String(issuing[0]!.id)),
  );
  for (const name of ['postern', 'scripted'] as const) {
    const made = await api(gateway, 'POST', '/api/issuing-cas/', {
      unique_name: name,
      issuing_ca_type: 4,
      issuer: name,
    });
    expect([made.status, (made.body as { issuing_ca_type_display: string }).issuing_ca_type_display]).toEqual(
      [201, 'Remote-EST'],
    );
    cas[name] = idOf(made);
  }
  pump = gateway.device('pump-1') as typeof pump;
}, 120_000);
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
  await between?.[Symbol.asyncDispose]();
  await scripted?.[Symbol.asyncDispose]();
});

describe('through the gateway to a second Postern', () => {
  beforeAll(() => useIssuer(gateway, cas.postern));

  inOrder('requests, in order', { timeout: 240_000 }, (step) => {
    step('over EST', async () => {
      await makeRequest('by-est');
      expect(await est('by-est')).toBe(200);
      expect(await isOfUpstream('by-est')).toBe('by-est.pem: OK\n');
    });

    step('over REST, with the chain of the upstream CA', async () => {
      await makeRequest('by-rest');
      await run(`printf '{"csr":"%s"}' "$(tr -d '\\n' <by-rest.b64)" >by-rest.json`);
      const how = `-u 'pump-1:${pump.password}' -H 'Content-Type: application/json' --data-binary @by-rest.json`;
      const answer = await run(`curl -sk ${how} '${gateway.baseUrl}/rest/default/tls_client/enroll'`);
      const { certificate, certificate_chain: chain } = JSON.parse(answer);
      writeFileSync(join(gateway.directory, 'by-rest.pem'), certificate);
      expect(await isOfUpstream('by-rest')).toBe('by-rest.pem: OK\n');
      expect(chain).toHaveLength(2);
    });

    step(
      'over CMP with PKCS#10; a CRMF request cannot be forwarded and is rejected with the reason',
      async () => {
        await makeRequest('by-cmp');
        const cmp = (operation: string, how: string) =>
          run(`openssl cmp -config '' -cmd ${operation} -server 127.0.0.1:${gateway.httpPort} \
        -path .well-known/cmp/p/~tls_client -ref pump-1 -secret 'pass:${pump.cmp_shared_secret}' \
        -certout by-cmp.pem ${how}`);
        expect(await cmp('p10cr', '-csr by-cmp.csr')).toContain('received PKICONF');
        expect(await isOfUpstream('by-cmp')).toBe('by-cmp.pem: OK\n');
        await makeRequest('by-crmf');
        const refused = await cmp('cr', '-newkey by-crmf.key -subject /CN=pump-1');
        expect(refused).toContain('accepts only PKCS#10 requests, not CRMF');
      },
    );

    step('over EST again to renew: the gateway knows the certificate of the device', async () => {
      await makeRequest('renewed');
      const how = `--cert by-est.pem --key by-est.key -H 'Content-Type: application/pkcs10' --data-binary @renewed.b64`;
      const url = `${gateway.baseUrl}/.well-known/est/~tls_client/simplereenroll`;
      expect(await run(`curl -sk -o renewed.out -w '%{http_code}' ${how} '${url}'`)).toBe('200');
    });

    step('with an approval there: 202 here too until it is approved', async () => {
      const policy = await api(upstream, 'POST', '/api/approval-policies/', {
        unique_name: 'look twice',
        priority: 1,
        decision: 'manual',
      });
      expect([policy.status, policy.body]).toEqual([201, policy.body]);
      await makeRequest('approved');
      expect(await est('approved')).toBe(202);
      expect(await run('cat approved.out')).toBe('');
      expect(await est('approved')).toBe(202);
      const [approval, ...more] = await list(upstream, '/api/approvals/?state=waiting');
      expect(more).toEqual([]);
      const shown = (await api(upstream, 'GET', `/api/approvals/${approval!.id}/`)).body;
      const { request_hash } = shown as { request_hash: string };
      const verdict = { comment: 'as agreed', request_hash };
      const decided = await api(upstream, 'POST', `/api/approvals/${approval!.id}/approve/`, verdict);
      expect([decided.status, decided.body]).toEqual([200, decided.body]);
      let status = 202;
      for (let n = 0; n < 20 && status === 202; n++) {
        await Bun.sleep(300);
        status = await est('approved');
      }
      expect(status).toBe(200);
      expect(await isOfUpstream('approved')).toBe('approved.pem: OK\n');
      expect((await api(upstream, 'DELETE', `/api/approval-policies/${idOf(policy)}/`)).status).toBe(204);
    });

    step(
      'while the upstream CA is down: 503, and a certificate afterwards without a restart here',
      async () => {
        await upstream.stop();
        await makeRequest('down');
        expect(await est('down')).toBe(503);
        expect(await run('cat down.out')).toContain('cannot be reached');
        await upstream.start();
        let status = 503;
        for (let n = 0; n < 40 && status !== 200; n++) {
          await Bun.sleep(500);
          status = await est('down');
        }
        expect(status).toBe(200);
        const waiting = await list(gateway, '/api/upstream-requests/?state=asked');
        expect(waiting).toEqual([]);
      },
    );
  });
});

const issuedByScripted = '/api/upstream-requests/?issuer=scripted&state=issued';

test('killed between request and response: the gateway continues, with one certificate for the same request', async () => {
  await useIssuer(gateway, cas.scripted);
  await makeRequest('killed');
  const before = { received: scripted.received.length, issued: scripted.issued.length };
  const heard = (await list(gateway, issuedByScripted)).length;
  const asked = Promise.withResolvers<void>();
  scripted.script(async () => {
    asked.resolve();
    await Bun.sleep(60_000);
    return undefined;
  });
  const client = Bun.spawn(
    [
      'bash',
      '-c',
      `curl -sk -m 20 -u 'pump-1:${pump.password}' -H 'Content-Type: application/pkcs10' \
      --data-binary @killed.b64 '${gateway.baseUrl}/.well-known/est/~tls_client/simpleenroll'`,
    ],
    { cwd: gateway.directory, stdout: 'ignore', stderr: 'ignore' },
  );
  await asked.promise;
  await gateway.kill();
  await client.exited;
  await gateway.start();
  // The request is recorded, and not sent again before a response is possible.
  expect(await est('killed')).toBe(202);
  expect(scripted.received).toHaveLength(before.received + 1);
  let status = 202;
  for (let n = 0; n < 40 && status !== 200; n++) {
    await Bun.sleep(500);
    status = await est('killed');
  }
  expect(status).toBe(200);
  expect(await est('killed')).toBe(200);
  expect(scripted.received).toHaveLength(before.received + 2);
  const [first, second] = scripted.received.slice(before.received);
  expect(second!.request.der).toEqual(first!.request.der);
  const issued = new X509Certificate(scripted.issued[before.issued]!);
  const held = await list(gateway, `/api/certificates/?search=${issued.serialNumber}`);
  expect(held).toHaveLength(1);
  expect(await list(gateway, issuedByScripted)).toHaveLength(heard + 1);
}, 90_000);

test('an upstream CA that duplicates responses on one connection: each request gets its own certificate once', async () => {
  await useIssuer(gateway, cas.scripted);
  between.mode = 'twice';
  const issued = scripted.issued.length;
  for (const name of ['twice-1', 'twice-2']) {
    await makeRequest(name);
    expect(await est(name)).toBe(200);
    const key = await run(`openssl pkey -in ${name}.key -pubout`);
    expect(await run(`openssl x509 -in ${name}.pem -noout -pubkey`)).toBe(key);
  }
  between.mode = 'pass';
  expect(scripted.issued).toHaveLength(issued + 2);
  for (const der of scripted.issued.slice(issued)) {
    const { serialNumber } = new X509Certificate(der);
    expect(await list(gateway, `/api/certificates/?search=${serialNumber}`)).toHaveLength(1);
  }
});

test('an unreachable address or port is reported when the CA is created', async () => {
  const [port] = await freePorts(1);
  await using alone = await startServer({
    config: `[issuers.nobody]\nplugin = "remote-est"\nurl = "https://localhost:${port}"\n`,
  });
  const wish = { unique_name: 'nobody', issuing_ca_type: 4, issuer: 'nobody' };
  const { status, body } = await api(alone, 'POST', '/api/issuing-cas/', wish);
  expect(status).toBe(503);
  expect((body as { detail: string }).detail).toContain('the upstream CA cannot be reached');
}, 60_000);
