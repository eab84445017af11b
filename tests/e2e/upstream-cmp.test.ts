import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fingerprint } from '#core/x509/certificate.ts';
import { extendedKeyUsageExtension, keyUsageExtension } from '#core/x509/extensions/usage.ts';
import { oid } from '#core/x509/oids.ts';
import { verifyPkcs10 } from '#core/x509/request.ts';
import { type EstUpstream, estUpstream, answer as httpAnswer } from '#tests/fixtures/est-upstream.ts';
import { inOrder } from '#tests/fixtures/in-order.ts';
import { request as pkcs10 } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { pem } from '#tests/fixtures/openssl.ts';
import { type OpensslCmpServer, opensslCmpServer } from '#tests/fixtures/openssl-cmp-server.ts';
import { registrationAuthority } from '#tests/fixtures/registration-authority.ts';
import {
  adminPassword,
  type DeviceSecrets,
  type Server,
  shell,
  startServer,
} from '#tests/fixtures/server.ts';
import { type TcpProxy, tcpProxy } from '#tests/fixtures/tcp-proxy.ts';

// Device → EST or CMP → gateway → CMP → a second Postern, or the server of `openssl cmp`; and device → CMP → gateway → EST. To the
// second Postern by a shared secret, and with the devices' own messages inside those of the gateway.
let scripted: EstUpstream;
/** The CA behind the server of `openssl cmp`. */
let corporate: EstUpstream;
let mock: OpensslCmpServer;
let upstream: Server;
/** Before the second Postern, for nested messages. */
let between: TcpProxy;
let gateway: Server;
type Device = DeviceSecrets & { readonly cmp_shared_secret: string };
let pump: Device;
const mockKey = testKey('p-256', 'of the mock’s device');

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

const tokens = new Map<Server, string>();

async function api(server: Server, method: string, path: string, body?: object): Promise<Answer> {
  const tls = { rejectUnauthorized: false };
  const headers = { 'content-type': 'application/json' };
  if (!tokens.has(server)) {
    const login = await fetch(`${server.baseUrl}/api/token/`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ username: 'admin', password: adminPassword }),
      tls,
    });
    tokens.set(server, ((await login.json()) as { access: string }).access);
  }
  const response = await fetch(`${server.baseUrl}${path}`, {
    method,
    headers: { ...headers, authorization: `Bearer ${tokens.get(server)}` },
    ...(body && { body: JSON.stringify(body) }),
    tls,
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

const idOf = ({ body }: Answer): number => (body as { id: number }).id;
const list = async (server: Server, path: string) =>
  (await api(server, 'GET', path)).body as Record<string, unknown>[];

function run(line: string): string {
  const { stdout, stderr } = shell(gateway.directory, line);
  return stdout + stderr;
}

const makeRequest = (name: string, key = ''): string =>
  run(`${key || `openssl ecparam -name prime256v1 -genkey -noout -out ${name}.key`}
    openssl req -new -key ${name}.key -subj /CN=pump-1 -out ${name}.csr
    openssl req -in ${name}.csr -outform DER | base64 >${name}.b64`);

/** The status; what was issued is in `<name>.pem` then. */
function est(name: string): number {
  const how = `-u 'pump-1:${pump.password}' -H 'Content-Type: application/pkcs10' --data-binary @${name}.b64`;
  const url = `${gateway.baseUrl}/.well-known/est/~tls_client/simpleenroll`;
  const status = Number(run(`curl -sk -o ${name}.out -w '%{http_code}' ${how} '${url}'`));
  if (status === 200) run(`base64 -d ${name}.out | openssl pkcs7 -inform DER -print_certs -out ${name}.pem`);
  return status;
}

async function estInTime(name: string): Promise<number> {
  let status = 202;
  for (let n = 0; n < 40 && status === 202; n++) {
    status = est(name);
    if (status === 202) await Bun.sleep(250);
  }
  return status;
}

/** What `openssl cmp` said; what was issued is in `<name>.pem`. The upstream may be in this very process. */
async function cmp(name: string, how: string): Promise<string> {
  const line = `openssl cmp -config '' -server 127.0.0.1:${gateway.httpPort} -path .well-known/cmp/p/~tls_client \
    -ref pump-1 -secret 'pass:${pump.cmp_shared_secret}' -certout ${name}.pem ${how} 2>&1`;
  const client = Bun.spawn(['bash', '-c', line], { cwd: gateway.directory, stdout: 'pipe' });
  return new Response(client.stdout).text();
}

const belongsTo = (root: string, issuing: string, name: string): string =>
  run(`openssl verify -x509_strict -CAfile ${root}.pem -untrusted ${issuing}.pem ${name}.pem`);
const isOfUpstream = (name: string): string => belongsTo('upstream-root', 'upstream-ca', name);
const isOfMachines = (name: string): string => belongsTo('upstream-root', 'machines-ca', name);

/** What `openssl cmp` said to a request that the device signs with its certificate; what was issued is in `<name>.pem`. */
async function signed(name: string, how: string): Promise<string> {
  const line = `openssl cmp -config '' -server 127.0.0.1:${gateway.httpPort} -path .well-known/cmp \
    -cert own.pem -key own.key -trusted root.pem -certout ${name}.pem ${how} 2>&1`;
  const client = Bun.spawn(['bash', '-c', line], { cwd: gateway.directory, stdout: 'pipe' });
  return new Response(client.stdout).text();
}

/** Revokes the certificate in a file at the gateway. */
async function revokedHere(name: string) {
  const serial = run(`openssl x509 -in ${name}.pem -noout -serial`).trim().split('=')[1];
  const [ours] = await list(gateway, `/api/certificates/?search=${serial}`);
  const path = `/api/certificates/${ours!.id}/revoke/`;
  const revoked = await api(gateway, 'POST', path, { reason: 'keyCompromise' });
  return { serial, ours, revoked };
}

const makeKey = (name: string): string =>
  run(`openssl ecparam -name prime256v1 -genkey -noout -out ${name}.key`);

/** Approves the one request that waits at the second Postern. */
async function approve(): Promise<Record<string, unknown>> {
  const [approval, ...more] = await list(upstream, '/api/approvals/?state=waiting');
  expect(more).toEqual([]);
  const shown = (await api(upstream, 'GET', `/api/approvals/${approval!.id}/`)).body;
  const { request_hash } = shown as { request_hash: string };
  const verdict = { comment: 'as agreed', request_hash };
  const decided = await api(upstream, 'POST', `/api/approvals/${approval!.id}/approve/`, verdict);
  expect([decided.status, decided.body]).toEqual([200, decided.body]);
  return approval!;
}

async function useIssuer(issuingCa: number): Promise<void> {
  const answer = await api(gateway, 'PATCH', '/api/domains/1/', { issuing_ca: issuingCa });
  expect([answer.status, answer.body]).toEqual([200, answer.body]);
}

const cas = { postern: 0, nested: 0, mock: 0, scripted: 0 };

beforeAll(async () => {
  scripted = await estUpstream(Date.now);
  corporate = await estUpstream(Date.now);
  const serverKey = testKey('p-256', 'mock server');
  const serverCertificate = corporate.certify(verifyPkcs10(pkcs10(serverKey, 'CN=CMP server')), {
    extensions: [keyUsageExtension(['digitalSignature']), extendedKeyUsageExtension([oid.cmcCa])],
  });
  const ours = testKey('p-256', 'gateway of the mock');
  mock = await opensslCmpServer(
    // One certificate, and polling for it, as its server has it.
    `-srv_cert server.pem -srv_key server.key -srv_trusted root.pem -srv_untrusted issuing.pem -rsp_cert device.pem
     -rsp_extracerts issuing.pem -poll_count 2 -check_after 1`.split(/\s+/),
    {
      'server.pem': pem('CERTIFICATE', serverCertificate),
      'server.key': serverKey.pem(),
      'root.pem': pem('CERTIFICATE', corporate.root),
      'issuing.pem': pem('CERTIFICATE', corporate.issuing),
      'device.pem': pem('CERTIFICATE', corporate.certify(verifyPkcs10(pkcs10(mockKey, 'CN=pump-1')))),
    },
  );
  upstream = await startServer();
  const secrets = upstream.device('gateway') as Device;
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
  expect([profile.status, profile.body]).toEqual([201, profile.body]);
  const authority = await api(upstream, 'POST', '/api/cert-profiles/', {
    unique_name: 'registration_authority',
    profile: registrationAuthority,
  });
  expect([authority.status, authority.body]).toEqual([201, authority.body]);
  const [domain] = await list(upstream, '/api/domains/');
  const offered = (one: Answer) => [...(domain!.profiles as object[]), { profile: idOf(one), alias: null }];
  const profiles = offered(profile);
  expect((await api(upstream, 'PATCH', '/api/domains/1/', { profiles })).status).toBe(200);
  const [issuing] = await list(upstream, '/api/issuing-cas/?issuing_ca_type=1');
  // Another CA, and the domain that it is for.
  const wish = { unique_name: 'machines', issuing_ca_type: 1, common_name: 'Machines CA' };
  const machines = await api(upstream, 'POST', '/api/issuing-cas/', wish);
  expect([machines.status, machines.body]).toEqual([201, machines.body]);
  const made = await api(upstream, 'POST', '/api/domains/', {
    unique_name: 'machines',
    issuing_ca: idOf(machines),
    profiles: offered(authority),
  });
  expect([made.status, made.body]).toEqual([201, made.body]);
  writeFileSync(join(upstream.directory, 'root.pem'), upstream.cli('ca', 'export', '1'));
  writeFileSync(
    join(upstream.directory, 'chain.pem'),
    pem('CERTIFICATE', corporate.issuing) + pem('CERTIFICATE', corporate.root),
  );
  writeFileSync(
    join(upstream.directory, 'ra.pem'),
    pem('CERTIFICATE', corporate.certify(verifyPkcs10(pkcs10(ours, 'CN=gateway')))) +
      pem('CERTIFICATE', corporate.issuing),
  );
  writeFileSync(join(upstream.directory, 'ra.key'), ours.pem());
  const inMachines = (name: string): Device =>
    JSON.parse(upstream.cli('device', 'add', name, '--domain', 'machines', '--json'));
  inMachines('pump-1');
  const { cmp_shared_secret: secret } = inMachines('authority');
  const enrolled = shell(
    upstream.directory,
    `openssl ecparam -name prime256v1 -genkey -noout -out authority.key
    openssl cmp -config '' -cmd ir -server 127.0.0.1:${upstream.httpPort} -implicit_confirm \
      -path .well-known/cmp/p/machines/registration_authority -ref authority -secret 'pass:${secret}' \
      -newkey authority.key -subject /CN=authority -certout authority.pem`,
  );
  expect(enrolled).toEqual({ ...enrolled, status: 0 });
  between = await tcpProxy(() => upstream.httpPort);
  gateway = await startServer({
    config: `
[issuers.postern]
plugin = "remote-cmp"
url = "http://127.0.0.1:${upstream.httpPort}"
path = ".well-known/cmp/p/default/forwarded"
reference = "gateway"
secret = "${secrets.cmp_shared_secret}"
trust = { file = "${join(upstream.directory, 'root.pem')}" }
poll_most_seconds = 1

[issuers.nested]
plugin = "remote-cmp"
url = "http://127.0.0.1:${between.port}"
path = ".well-known/cmp/p/machines"
forward = "nested"
client_certificate = "${join(upstream.directory, 'authority.pem')}"
client_key = "${join(upstream.directory, 'authority.key')}"
trust = { file = "${join(upstream.directory, 'root.pem')}" }
poll_most_seconds = 1

[issuers.mock]
plugin = "remote-cmp"
url = "${mock.url}"
client_certificate = "${join(upstream.directory, 'ra.pem')}"
client_key = "${join(upstream.directory, 'ra.key')}"
trust = { file = "${join(upstream.directory, 'chain.pem')}" }
ca_certificates = "${join(upstream.directory, 'chain.pem')}"
poll_least_seconds = 1

[issuers.scripted]
plugin = "remote-est"
url = "${scripted.url}"
trust = { fingerprint = "${fingerprint(scripted.root)}" }
`,
  });
  writeFileSync(join(gateway.directory, 'upstream-root.pem'), upstream.cli('ca', 'export', '1'));
  writeFileSync(
    join(gateway.directory, 'upstream-ca.pem'),
    upstream.cli('ca', 'export', String(issuing!.id)),
  );
  writeFileSync(
    join(gateway.directory, 'machines-ca.pem'),
    upstream.cli('ca', 'export', String(idOf(machines))),
  );
  writeFileSync(join(gateway.directory, 'scripted-root.pem'), pem('CERTIFICATE', scripted.root));
  writeFileSync(join(gateway.directory, 'scripted-ca.pem'), pem('CERTIFICATE', scripted.issuing));
  writeFileSync(join(gateway.directory, 'corporate-root.pem'), pem('CERTIFICATE', corporate.root));
  writeFileSync(join(gateway.directory, 'corporate-ca.pem'), pem('CERTIFICATE', corporate.issuing));
  for (const [name, type] of [
    ['postern', 5],
    ['nested', 5],
    ['mock', 5],
    ['scripted', 4],
  ] as const) {
    const made = await api(gateway, 'POST', '/api/issuing-cas/', {
      unique_name: name,
      issuing_ca_type: type,
      issuer: name,
    });
    expect([made.status, made.body]).toEqual([201, made.body]);
    cas[name] = idOf(made);
  }
  pump = gateway.device('pump-1') as Device;
}, 120_000);
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await between?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
  await mock?.[Symbol.asyncDispose]();
  await corporate?.[Symbol.asyncDispose]();
  await scripted?.[Symbol.asyncDispose]();
});

describe('through the gateway over CMP to a second Postern', () => {
  beforeAll(() => useIssuer(cas.postern));

  inOrder('requests, in order', { timeout: 240_000 }, (step) => {
    step('over EST, with a confirmation at the upstream CA', async () => {
      makeRequest('by-est');
      expect(est('by-est')).toBe(200);
      expect(isOfUpstream('by-est')).toBe('by-est.pem: OK\n');
      for (let n = 0; n < 40; n++) {
        const open = await list(gateway, '/api/upstream-requests/?state=received');
        if (open.length === 0) break;
        await Bun.sleep(250);
      }
      expect(await list(gateway, '/api/upstream-requests/?state=issued&issuer=postern')).toHaveLength(1);
      const [latest] = await list(upstream, '/api/transactions/?ordering=-id&page_size=1');
      expect(latest).toMatchObject({ operation: 'p10cr', state: 'done' });
    });

    step('over CMP with both kinds of requests', async () => {
      makeRequest('by-p10cr');
      expect(await cmp('by-p10cr', '-cmd p10cr -csr by-p10cr.csr')).toContain('received PKICONF');
      expect(isOfUpstream('by-p10cr')).toBe('by-p10cr.pem: OK\n');
      makeRequest('by-cr');
      expect(await cmp('by-cr', '-cmd cr -newkey by-cr.key -subject /CN=pump-1')).toContain(
        'received PKICONF',
      );
      expect(isOfUpstream('by-cr')).toBe('by-cr.pem: OK\n');
    });

    step('with an approval there: the device polls here, and the gateway there', async () => {
      const policy = await api(upstream, 'POST', '/api/approval-policies/', {
        unique_name: 'look twice',
        priority: 1,
        decision: 'manual',
      });
      expect([policy.status, policy.body]).toEqual([201, policy.body]);
      makeRequest('approved');
      expect(est('approved')).toBe(202);
      await approve();
      expect(await estInTime('approved')).toBe(200);
      expect(isOfUpstream('approved')).toBe('approved.pem: OK\n');
      expect((await api(upstream, 'DELETE', `/api/approval-policies/${idOf(policy)}/`)).status).toBe(204);
    });

    step('a revocation fails with the shared secret, and everything else continues', async () => {
      const { ours, revoked } = await revokedHere('by-est');
      expect(revoked.status).toBe(400);
      expect(JSON.stringify(revoked.body)).toContain(
        'does not accept a revocation protected by a shared secret',
      );
      const { body } = await api(gateway, 'GET', `/api/certificates/${ours!.id}/`);
      expect(body).toMatchObject({ status: 'good' });
      makeRequest('afterwards');
      expect(est('afterwards')).toBe(200);
    });

    step('while the upstream CA is down: 503, and a certificate afterwards', async () => {
      await upstream.stop();
      makeRequest('down');
      expect(est('down')).toBe(503);
      await upstream.start();
      let status = 503;
      for (let n = 0; n < 40 && status !== 200; n++) {
        await Bun.sleep(500);
        status = est('down');
      }
      expect(status).toBe(200);
      expect(isOfUpstream('down')).toBe('down.pem: OK\n');
    });
  });
});

describe('through the gateway with the message of the device inside, to a second Postern', () => {
  beforeAll(async () => {
    await useIssuer(cas.nested);
    writeFileSync(join(gateway.directory, 'root.pem'), gateway.cli('ca', 'export', '1'));
    makeKey('own');
    // By a secret that the upstream does not know: on the word of the gateway.
    const first = await cmp('own', '-path .well-known/cmp -cmd cr -newkey own.key -subject /CN=pump-1');
    expect(first).toContain('received PKICONF');
    expect(isOfMachines('own')).toBe('own.pem: OK\n');
  });

  /** Who did it to the certificate in a file, as the second Postern has it. */
  async function doneThere(name: string, action: string): Promise<unknown> {
    const serial = run(`openssl x509 -in ${name}.pem -noout -serial`).trim().split('=')[1];
    const [theirs] = await list(upstream, `/api/certificates/?search=${serial}`);
    const about = `action=${action}&object=certificate:${theirs!.id}`;
    const [event, ...more] = await list(upstream, `/api/audit-events/?${about}`);
    expect(more).toEqual([]);
    return (event?.actor as { name: string } | undefined)?.name;
  }
  const latest = async () => (await list(upstream, '/api/transactions/?ordering=-id&page_size=1'))[0]!;

  inOrder('messages, in order', { timeout: 300_000 }, (step) => {
    step('cr: the upstream CA gets it from the device, and its confirmation from the gateway', async () => {
      makeKey('by-signed-cr');
      const said = await signed('by-signed-cr', '-cmd cr -newkey by-signed-cr.key -subject /CN=pump-1');
      expect(said).toContain('received PKICONF');
      expect(isOfMachines('by-signed-cr')).toBe('by-signed-cr.pem: OK\n');
      expect(await doneThere('own', 'certificate.issue')).toBe('authority');
      expect(await doneThere('by-signed-cr', 'certificate.issue')).toBe('pump-1');
      expect(await doneThere('by-signed-cr', 'certificate.confirm')).toBe('authority');
      expect(await latest()).toMatchObject({ operation: 'cr', state: 'done' });
    });

    step('a revocation is forwarded with its reason', async () => {
      const { serial, revoked } = await revokedHere('by-signed-cr');
      expect([revoked.status, revoked.body]).toEqual([200, revoked.body]);
      const [theirs] = await list(upstream, `/api/certificates/?search=${serial}`);
      const { body } = await api(upstream, 'GET', `/api/certificates/${theirs!.id}/`);
      expect(JSON.stringify(body)).toContain('keyCompromise');
    });

    step('kur without a confirmation by the device', async () => {
      makeKey('by-kur');
      const said = await signed('by-kur', '-cmd kur -newkey by-kur.key -implicit_confirm');
      expect(said).toContain('received KUP');
      expect(said).not.toContain('CERTCONF');
      expect(isOfMachines('by-kur')).toBe('by-kur.pem: OK\n');
      expect(await doneThere('by-kur', 'certificate.issue')).toBe('pump-1');
      expect(await doneThere('by-kur', 'certificate.confirm')).toBeUndefined();
      expect(await latest()).toMatchObject({ operation: 'kur', state: 'done' });
    });

    step('with an approval there and the gateway killed in between: the request continues', async () => {
      const policy = await api(upstream, 'POST', '/api/approval-policies/', {
        unique_name: 'look thrice',
        priority: 1,
        decision: 'manual',
      });
      expect([policy.status, policy.body]).toEqual([201, policy.body]);
      makeKey('decided');
      const wish = '-cmd cr -newkey decided.key -subject /CN=pump-1';
      expect(await signed('decided', `${wish} -total_timeout 2`)).toContain('received POLLREP');
      await gateway.kill();
      await gateway.start();
      expect(await approve()).toMatchObject({ device_name: 'pump-1' });
      const said = await signed('decided', `${wish} -total_timeout 30`);
      expect(said).toContain('received PKICONF');
      expect(isOfMachines('decided')).toBe('decided.pem: OK\n');
      expect(await doneThere('decided', 'certificate.issue')).toBe('pump-1');
      expect(await latest()).toMatchObject({ operation: 'cr', state: 'done' });
      expect((await api(upstream, 'DELETE', `/api/approval-policies/${idOf(policy)}/`)).status).toBe(204);
    });

    step(
      'with the response cut off and the gateway killed: the same message is sent again, and one certificate issued',
      async () => {
        const before = (await list(upstream, '/api/transactions/')).length;
        makeKey('cut');
        const wish = '-cmd cr -newkey cut.key -subject /CN=pump-1';
        between.mode = { cut: 0 };
        expect(await signed('cut', wish)).toContain('systemUnavail');
        await gateway.kill();
        between.mode = 'pass';
        await gateway.start();
        let said = '';
        for (let n = 0; n < 40 && !said.includes('received PKICONF'); n++) {
          await Bun.sleep(500);
          said = await signed('cut', wish);
        }
        expect(isOfMachines('cut')).toBe('cut.pem: OK\n');
        expect(await list(upstream, '/api/transactions/')).toHaveLength(before + 1);
        expect(await doneThere('cut', 'certificate.issue')).toBe('pump-1');
      },
    );

    step(
      'with duplicated responses on one connection: each device gets its own certificate once',
      async () => {
        const before = (await list(upstream, '/api/transactions/')).length;
        between.mode = 'twice';
        for (const name of ['twice-1', 'twice-2']) {
          makeKey(name);
          const said = await signed(name, `-cmd cr -newkey ${name}.key -subject /CN=pump-1`);
          expect(said).toContain('received PKICONF');
          expect(isOfMachines(name)).toBe(`${name}.pem: OK\n`);
          const [ours, its] = [
            `openssl x509 -in ${name}.pem -noout -pubkey`,
            `openssl pkey -in ${name}.key -pubout`,
          ];
          expect(run(ours)).toBe(run(its));
        }
        between.mode = 'pass';
        expect(await list(upstream, '/api/transactions/')).toHaveLength(before + 2);
      },
    );

    step(
      'signed by a certificate that the upstream CA revoked: the device learns so, and others continue',
      async () => {
        const serial = run('openssl x509 -in by-kur.pem -noout -serial').trim().split('=')[1];
        const [theirs] = await list(upstream, `/api/certificates/?search=${serial}`);
        await api(upstream, 'POST', `/api/certificates/${theirs!.id}/revoke/`, { reason: 'keyCompromise' });
        makeKey('refused');
        const refused = '-cmd cr -newkey refused.key -subject /CN=pump-1 -cert by-kur.pem -key by-kur.key';
        expect(await signed('refused', refused)).toContain(
          'rejects the message of the device (signerNotTrusted)',
        );
        expect(await signed('refused', '-cmd cr -newkey refused.key -subject /CN=pump-1')).toContain(
          'received PKICONF',
        );
      },
    );

    step('when only nested messages are allowed, a message with a MAC and EST are rejected', async () => {
      await gateway.stop();
      const file = join(gateway.directory, 'postern.toml');
      writeFileSync(file, readFileSync(file, 'utf8').replace('"nested"', '"nested-only"'));
      await gateway.start();
      makeRequest('only');
      const how = '-path .well-known/cmp -cmd p10cr -csr only.csr';
      expect(await cmp('only', how)).toContain('requires a CMP message signed by the device');
      expect(est('only')).toBeGreaterThanOrEqual(400);
      expect(await signed('only', '-cmd p10cr -csr only.csr')).toContain('received PKICONF');
      expect(await doneThere('only', 'certificate.issue')).toBe('pump-1');
    });
  });
});

test('through the gateway to the server of openssl cmp, with polling', async () => {
  await useIssuer(cas.mock);
  writeFileSync(join(gateway.directory, 'mock.key'), mockKey.pem());
  makeRequest('mock', 'true');
  expect(est('mock')).toBe(202);
  expect(await estInTime('mock')).toBe(200);
  expect(belongsTo('corporate-root', 'corporate-ca', 'mock')).toBe('mock.pem: OK\n');
  expect(await mock.says('received CERTCONF')).toBe(true);
  expect(mock.output().split('received P10CR')).toHaveLength(2);
}, 60_000);

test('from CMP at the gateway to EST at the upstream CA, with polling on both', async () => {
  await useIssuer(cas.scripted);
  scripted.script(() => httpAnswer(202, 'later', { 'retry-after': '2' }));
  makeRequest('both');
  const said = await cmp('both', '-cmd p10cr -csr both.csr -total_timeout 20');
  expect(said).toContain('received POLLREP');
  expect(said).toContain('received PKICONF');
  expect(belongsTo('scripted-root', 'scripted-ca', 'both')).toBe('both.pem: OK\n');
}, 60_000);
