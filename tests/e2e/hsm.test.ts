import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { X509Certificate } from 'node:crypto';
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inOrder } from '#tests/fixtures/in-order.ts';
import {
  adminPassword,
  type DeviceSecrets,
  type Server,
  shell,
  startServer,
} from '#tests/fixtures/server.ts';
import {
  hasProxy,
  hasSoftHsm,
  type PulledToken,
  pin,
  type SoftHsm,
  startSoftHsm,
  throughProxy,
} from '#tests/fixtures/tokens.ts';

const patience = 60_000;
const tls = { rejectUnauthorized: false };

/** The Management API, signed in; the body of the answer. */
async function api(server: Server, method: string, path: string, body?: unknown) {
  const send = (path: string, body: unknown, authorization?: string) =>
    fetch(`${server.baseUrl}/api/${path}`, {
      method: path === 'token/' ? 'POST' : method,
      headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      tls,
    });
  const { access } = (await (
    await send('token/', { username: 'admin', password: adminPassword })
  ).json()) as {
    access: string;
  };
  const response = await send(path, body, `Bearer ${access}`);
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of an answer by expecting it
  return { status: response.status, body: (await response.json()) as any };
}

const files = '[keys.files]\nplugin = "keyfile"\n';
const token = (lines: string): string =>
  `[keys.hsm]\nplugin = "pkcs11"\ntoken = "token"\npin = "${pin}"\n${lines}`;

/** Runs a line in the server's directory; its output. Fails the test when the line does. */
function run(server: Server, line: string): string {
  const { status, stdout, stderr } = shell(server.directory, line);
  expect({ line, status, stderr }).toEqual({ line, status: 0, stderr });
  return stdout;
}

describe.skipIf(!hasSoftHsm)('CAs with keys in SoftHSM, created over the API', () => {
  let hsm: SoftHsm;
  let server: Server;
  let device: DeviceSecrets;
  let root: { id: number };
  let issuing: { id: number };

  beforeAll(async () => {
    hsm = startSoftHsm();
    const { SOFTHSM2_CONF: file } = hsm.environment;
    const { library } = hsm.module;
    server = await startServer({
      config: files + token(`library = "${library}"\nenvironment = ["SOFTHSM2_CONF=${file}"]\n`),
    });
  }, patience);
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    hsm.remove();
  });

  inOrder('are created, used and available after a restart', { timeout: 5 * patience }, (step) => {
    step('a root and an issuing CA below it', async () => {
      const type = { issuing_ca_type: 3, key_store: 'hsm' };
      const made = await api(server, 'POST', 'issuing-cas/', {
        ...type,
        unique_name: 'hsm root',
        common_name: 'HSM Root',
        key_type: 'rsa-3072',
      });
      expect([made.status, made.body.issuing_ca_type_display]).toEqual([201, 'Local-PKCS11']);
      root = made.body;
      const below = await api(server, 'POST', 'issuing-cas/', {
        ...type,
        unique_name: 'hsm issuing',
        common_name: 'HSM Issuing',
        parent: root.id,
      });
      expect(below.status).toBe(201);
      issuing = below.body;
    });

    step(
      'a device of their domain enrols and renews over EST, REST and CMP, and OpenSSL verifies it strictly',
      async () => {
        const { body } = await api(server, 'GET', 'domains/?unique_name=default');
        const moved = await api(server, 'PATCH', `domains/${body[0].id}/`, { issuing_ca: issuing.id });
        expect(moved.status).toBe(200);
        device = server.device('pump-1');
        const { key, ca, est, est_renew, rest, rest_renew, cmp, cmp_renew } = device.commands;
        run(server, key!);
        run(server, ca!);
        // The service's own certificate is still of the CA before.
        appendFileSync(join(server.directory, 'ca.pem'), server.cli('ca', 'export', '1'));
        for (const line of [est, est_renew, rest, rest_renew, cmp, cmp_renew]) {
          run(server, line!);
          const verify = 'openssl verify -x509_strict -CAfile ca.pem -untrusted ca.pem pump-1.pem';
          expect(run(server, verify)).toContain('pump-1.pem: OK');
          const issuer = run(server, 'openssl x509 -in pump-1.pem -noout -issuer');
          expect(issuer).toContain('HSM Issuing');
        }
      },
    );

    step('sign their CRLs in the HSM', async () => {
      for (const { id } of [root, issuing]) {
        expect((await api(server, 'POST', `issuing-cas/${id}/generate-crl/`)).status).toBeLessThan(300);
        run(server, `curl -sf -o ${id}.crl http://localhost:${server.httpPort}/crl/${id}.crl`);
        writeFileSync(join(server.directory, 'issuer.pem'), server.cli('ca', 'export', String(id)));
        const said = shell(
          server.directory,
          `openssl crl -inform DER -in ${id}.crl -noout -CAfile issuer.pem`,
        );
        expect(said.stderr).toContain('verify OK');
      }
    });

    step('can be created by label from a key and certificate of another tool', async () => {
      run(server, 'openssl ecparam -name secp384r1 -genkey -noout -out own.key');
      run(server, 'openssl pkcs8 -topk8 -nocrypt -in own.key -out own.pk8');
      run(
        server,
        `SOFTHSM2_CONF=${hsm.environment.SOFTHSM2_CONF} softhsm2-util --import own.pk8 --token token --label 'plant root' --id 77 --pin ${pin}`,
      );
      const extensions =
        '-addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign';
      const config = "-config <(printf '[req]\\ndistinguished_name=n\\n[n]\\n')";
      run(
        server,
        `openssl req ${config} -x509 -new -key own.key -subj '/CN=Plant Root' -days 100 ${extensions} -out own.pem`,
      );
      const imported = await api(server, 'POST', 'issuing-cas/', {
        issuing_ca_type: 3,
        key_store: 'hsm',
        unique_name: 'plant root',
        key_id: 'plant root',
        certificate: readFileSync(join(server.directory, 'own.pem'), 'utf8'),
      });
      expect([imported.status, imported.body.common_name]).toEqual([201, 'Plant Root']);
      const crl = await api(server, 'POST', `issuing-cas/${imported.body.id}/generate-crl/`);
      expect(crl.status).toBeLessThan(300);
    });

    step('leave no private key in our files and no PIN in the log', async () => {
      const stored = readdirSync(join(server.directory, 'data'), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'));
      expect(stored.length).toBeGreaterThan(3);
      expect(stored.filter((text) => text.includes(pin))).toEqual([]);
      expect(server.log()).not.toContain(pin);
    });

    step('do not delay the shutdown of the service, and work after a start', async () => {
      expect(await server.stop()).toBe(0);
      await server.start();
      run(server, device.commands.est!);
      expect(run(server, 'openssl x509 -in pump-1.pem -noout -issuer')).toContain('HSM Issuing');
    });
  });
});

describe.skipIf(!hasProxy)('a CA whose token is disconnected', () => {
  let hsm: SoftHsm;
  let proxy: PulledToken;
  let server: Server;
  let device: DeviceSecrets;
  let csr: string;

  beforeAll(async () => {
    hsm = startSoftHsm();
    proxy = await throughProxy(hsm);
    const { library, environment } = proxy.module;
    const [variable] = Object.entries(environment!).map(([name, value]) => `${name}=${value}`);
    server = await startServer({
      // The first one is where the first start makes its CAs.
      config: `${token(`library = "${library}"\nenvironment = ["${variable}"]\ntimeout_seconds = 5\n`)}${files}`,
    });
    device = server.device('pump-1');
    run(server, device.commands.key!);
    csr = run(server, 'openssl req -new -key pump-1.key -subj /CN=pump-1 -outform DER | base64 -w0').trim();
  }, patience);
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await proxy.pull();
    hsm.remove();
  });

  const enrol = (): Promise<Response> =>
    fetch(`${server.baseUrl}/rest/default/enroll`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Basic ${btoa(`${device.username}:${device.password}`)}`,
      },
      body: JSON.stringify({ csr }),
      tls,
    });

  const certificates = (status: string): { serial_number: string }[] => {
    using database = new Database(join(server.directory, 'data', 'postern.db'), { readonly: true });
    return database.query('select serial_number from certificates where status = ?').all(status) as {
      serial_number: string;
    }[];
  };

  async function enrolAgain(): Promise<X509Certificate> {
    for (let tries = 0; tries < 100; tries++) {
      const response = await enrol();
      if (response.ok) {
        return new X509Certificate(((await response.json()) as { certificate: string }).certificate);
      }
      expect(response.status).toBe(503);
      await Bun.sleep(100);
    }
    throw new Error('the token did not come back');
  }

  test(
    'answers 503 with Retry-After meanwhile, is reported by health, and recovers by itself',
    async () => {
      await enrolAgain();
      const before = certificates('good').length;
      await proxy.pull();
      const refused = await enrol();
      expect(refused.status).toBe(503);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      const health = await fetch(`${server.baseUrl}/api/health/`, { tls });
      expect(health.status).toBe(503);
      expect(await health.text()).toContain('the token is not present');
      expect(certificates('good')).toHaveLength(before);
      expect(certificates('intended')).toEqual([]);
      await proxy.putBack();
      await enrolAgain();
      expect((await fetch(`${server.baseUrl}/api/health/`, { tls })).status).toBe(200);
    },
    patience,
  );

  test('after kill -9 between intent and signature settles the intent and signs nothing twice', async () => {
    proxy.freeze();
    const unanswered = enrol().catch(() => 'cut off');
    while (certificates('intended').length === 0) await Bun.sleep(20);
    const [intent] = certificates('intended');
    await server.kill();
    expect(await unanswered).toBe('cut off');
    await proxy.pull();
    await proxy.putBack();
    expect(certificates('intended')).toEqual([intent!]);
    {
      // As if the grace for what another instance is signing at this moment, and the lease of the dead, were over.
      using database = new Database(join(server.directory, 'data', 'postern.db'));
      database.run("update certificates set created_at = created_at - 660000 where status = 'intended'");
      database.run('delete from leases');
    }
    await server.start();
    while (certificates('intended').length > 0) await Bun.sleep(100);
    expect(certificates('failed')).toContainEqual(intent!);
    const settled = await api(server, 'GET', 'audit-events/?action=certificate.settle');
    expect(settled.body).toHaveLength(1);
    const after = await enrolAgain();
    expect(after.serialNumber).not.toBe(intent!.serial_number);
  }, 90_000);
});
