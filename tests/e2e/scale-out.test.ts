import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hash, X509Certificate } from 'node:crypto';
import { openPostgresStore } from '#adapters/outbound/sql/postgres.ts';
import { systemClock } from '#adapters/outbound/system/platform.ts';
import { parsePkiMessage } from '#adapters/wire/cmp/message.ts';
import type { Store } from '#core/ports/store.ts';
import { parseCrl } from '#core/x509/crl.ts';
import { CmpClient, crmf, failureOf, ir, issued } from '#tests/fixtures/cmp-client.ts';
import { request } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { hasPostgres, type PostgresFixture, startPostgres } from '#tests/fixtures/postgres.ts';
import { adminPassword, type DeviceSecrets, type Server, startServer } from '#tests/fixtures/server.ts';

const key = testKey('p-256', 'scale-out');
const csr = request(key, 'CN=pump-1');
const tls = { rejectUnauthorized: false };
const json = { 'content-type': 'application/json' };

describe.skipIf(!hasPostgres)('three gateways on one PostgreSQL', () => {
  let postgres: PostgresFixture;
  let url: string;
  let gateways: [Server, Server, Server];
  let device: DeviceSecrets & { readonly cmp_shared_secret: string };
  let store: Store;

  beforeAll(async () => {
    postgres = await startPostgres();
    url = await postgres.createDatabase();
    const config = `[server]\nworkers = 1\n[store]\nplugin = "postgres"\nurl = "${url}"\n`;
    const first = await startServer({ config });
    gateways = [
      first,
      ...(await Promise.all([1, 2].map(() => startServer({ beside: first })))),
    ] as typeof gateways;
    device = first.device('pump-1') as typeof device;
    store = await openPostgresStore({ url, clock: systemClock });
  }, 60_000);
  afterAll(async () => {
    await store?.close();
    for (const gateway of gateways?.toReversed() ?? []) await gateway[Symbol.asyncDispose]();
    await postgres?.stop();
  });

  let turn = 0;
  /** As a load balancer does it: each request to the next gateway, and on to another one where there is no connection. */
  async function ask(path: string, init: RequestInit): Promise<Response> {
    const deadline = Date.now() + 10_000;
    for (;;) {
      const { baseUrl } = gateways[turn++ % 3]!;
      try {
        const response = await fetch(`${baseUrl}${path}`, { ...init, tls } as RequestInit);
        // The whole answer: its end may be what is missing.
        return new Response(await response.arrayBuffer(), response);
      } catch (error) {
        if (Date.now() > deadline) throw error;
        await Bun.sleep(5);
      }
    }
  }

  const basic = () => `Basic ${Buffer.from(`pump-1:${device.password}`).toString('base64')}`;
  const enrol = () =>
    ask('/rest/default/enroll', {
      method: 'POST',
      headers: { ...json, authorization: basic() },
      body: JSON.stringify({ csr: Buffer.from(csr).toString('base64') }),
    });
  const simpleEnrol = () =>
    ask('/.well-known/est/simpleenroll', {
      method: 'POST',
      headers: { 'content-type': 'application/pkcs10', authorization: basic() },
      body: Buffer.from(csr).toString('base64'),
    });
  async function signIn(): Promise<string> {
    const body = JSON.stringify({ username: 'admin', password: adminPassword });
    const response = await ask('/api/token/', { method: 'POST', headers: json, body });
    return `Bearer ${((await response.json()) as { access: string }).access}`;
  }

  async function everything<K extends 'certificate' | 'auditEvent'>(kind: K) {
    const found = [];
    let cursor: string | undefined;
    do {
      const page = await store.list(kind, { limit: 1000, ...(cursor && { cursor }) });
      found.push(...page.records);
      cursor = page.next;
    } while (cursor);
    return found;
  }

  /** CMP messages, each to the next gateway. */
  const cmp = () =>
    new CmpClient(
      {
        async handle({ path, body }) {
          const { httpPort } = gateways[turn++ % 3]!;
          const response = await fetch(`http://127.0.0.1:${httpPort}${path}`, {
            method: 'POST',
            headers: { 'content-type': 'application/pkixcmp' },
            body: body.slice(),
          });
          return { status: response.status, headers: {}, body: await response.bytes() };
        },
      },
      { reference: 'pump-1', secret: device.cmp_shared_secret },
    );

  test('share sessions and CMP transactions from message to message', async () => {
    const client = cmp();
    const certificate = issued(await client.send(ir(crmf(key))));
    const status = { certHash: hash('sha256', certificate, 'buffer'), certReqId: 0 };
    expect((await client.send({ type: 'certConf', statuses: [status] })).body.type).toBe('pkiConf');
    const authorization = await signIn();
    for (const { baseUrl } of gateways) {
      const answer = await fetch(`${baseUrl}/api/devices/`, {
        headers: { authorization },
        tls,
      } as RequestInit);
      expect(answer.status).toBe(200);
    }
  });

  test('are killed and started under load: nothing fails, every certificate is stored once, each CRL number occurs once', async () => {
    const received: X509Certificate[] = [];
    const failed: string[] = [];
    /** By number: the CRLs that were seen with it. */
    const crls = new Map<bigint, Set<string>>();
    const authorization = await signIn();
    let stop = false;
    const looking = async (): Promise<void> => {
      const response = await ask('/crl/2.crl', {});
      if (response.status !== 200) return void failed.push(`CRL: ${response.status}`);
      const der = await response.bytes();
      const { number } = parseCrl(der);
      crls.set(number!, (crls.get(number!) ?? new Set()).add(hash('sha256', der)));
    };
    const enrolling = async (n: number): Promise<void> => {
      const response = await enrol();
      if (response.status !== 200) return void failed.push(`${response.status} ${await response.text()}`);
      const { certificate } = (await response.json()) as { certificate: string };
      received.push(new X509Certificate(certificate));
      if (n % 10 !== 9) return;
      const { serialNumber } = received.at(-1)!;
      const record = await store.find('certificate', { serialNumber });
      const revoked = await ask(`/api/certificates/${record?.id}/revoke/`, {
        method: 'POST',
        headers: { ...json, authorization },
        body: JSON.stringify({ reason: 'superseded' }),
      });
      // Of a request that was repeated the first one may have been done.
      if (revoked.status !== 200 && revoked.status !== 409) failed.push(`revoke: ${revoked.status}`);
      await looking();
    };
    const load = Promise.all(
      Array.from({ length: 6 }, async () => {
        for (let n = 0; !stop; n++) await enrolling(n);
      }),
    );
    const [a, b, c] = gateways;
    await Bun.sleep(500);
    await b.kill();
    await Bun.sleep(300);
    await b.start();
    expect(await c.stop()).toBe(0);
    await c.start();
    expect(await a.stop()).toBe(0);
    await a.start();
    await Bun.sleep(500);
    stop = true;
    await load;

    expect(failed).toEqual([]);
    expect(received.length).toBeGreaterThan(50);
    const stored = new Map<string, Uint8Array>();
    const certificates = await everything('certificate');
    for (const record of certificates as { serialNumber: string; der: Uint8Array }[])
      stored.set(record.serialNumber, record.der);
    expect(stored.size).toBe(certificates.length);
    expect(new Set(received.map(({ serialNumber }) => serialNumber)).size).toBe(received.length);
    for (const { serialNumber, raw } of received) {
      expect(Buffer.compare(stored.get(serialNumber)!, raw)).toBe(0);
    }
    expect(crls.size).toBeGreaterThan(3);
    for (const seen of crls.values()) expect(seen.size).toBe(1);
    const made = (await everything('auditEvent'))
      .filter((event) => 'action' in event && event.action === 'crl.generate')
      .map((event) => ('object' in event ? `${event.object} ${JSON.stringify(event.detail)}` : ''));
    expect(new Set(made).size).toBe(made.length);
    expect(a.cli('audit', 'verify')).toContain(': intact');
  }, 60_000);

  test('report an unavailable database in each protocol, and recover by themselves', async () => {
    const authorization = await signIn();
    await postgres.kill();
    try {
      const answers = {
        est: await simpleEnrol(),
        rest: await enrol(),
        management: await ask('/api/devices/', { headers: { authorization } }),
        health: await ask('/api/health/', {}),
      };
      for (const [protocol, { status, headers }] of Object.entries(answers)) {
        expect([protocol, status]).toEqual([protocol, 503]);
        if (protocol !== 'health') expect(headers.get('retry-after')).toMatch(/^\d+$/);
      }
      expect(await answers.health.json()).toMatchObject({
        status: 'unavailable',
        checks: { store: { ok: false, detail: 'the database is unreachable' } },
      });
      const client = cmp();
      const refusal = parsePkiMessage(await client.post(await client.build(ir(crmf(key)))));
      expect(failureOf(refusal)).toBe('systemUnavail');
    } finally {
      await postgres.start();
    }
    const since = Date.now();
    const states = async () =>
      Promise.all(
        gateways.map(
          async ({ baseUrl }) => (await fetch(`${baseUrl}/api/health/`, { tls } as RequestInit)).status,
        ),
      );
    while ((await states()).some((status) => status !== 200) && Date.now() - since < 5000)
      await Bun.sleep(50);
    expect(await states()).toEqual([200, 200, 200]);
    for (let n = 0; n < 3; n++) expect((await simpleEnrol()).status).toBe(200);
    expect(gateways[0].cli('audit', 'verify')).toContain(': intact');
  }, 60_000);
});
