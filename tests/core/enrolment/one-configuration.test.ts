import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import type { Store } from '#core/ports/store.ts';
import type { Evidence } from '#core/requester/evidence.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { formatDistinguishedName } from '#core/x509/name.ts';
import { given, person, policy, verdict, waiting } from '#tests/fixtures/approvals.ts';
import {
  type Installation,
  installation,
  password,
  request,
  testClock,
} from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';

const key = testKey('p-256', 'pump');
const target = { protocol: 'est', domain: undefined, profile: undefined } as const;

let site: Installation;
let pump: Evidence;
/** Runs once, when a request looks up its approval: after planning and before issuance. */
let whileCleared: (() => Promise<unknown>) | undefined;

beforeEach(async () => {
  whileCleared = undefined;
  const clock = testClock();
  const opened = await openSqliteStore({ path: ':memory:', clock });
  const find: Store['find'] = async (kind, by) => {
    const change = kind === 'approval' ? whileCleared : undefined;
    if (change) whileCleared = undefined;
    await change?.();
    return opened.find(kind, by);
  };
  site = await installation({ store: Object.assign(Object.create(opened), { find }), clock });
  pump = password('pump-1', (await site.device('pump-1')).password);
});
afterEach(() => site[Symbol.asyncDispose]());

const enrol = async (whileAdmitted?: () => Promise<unknown>) => {
  const requester = await site.gateway.admit(pump, target);
  await whileAdmitted?.();
  const der = request(key, 'CN=pump-1');
  return site.gateway.enrol(requester, { operation: 'enrol', request: { kind: 'pkcs10', der } });
};

const webhook = (uniqueName: string) =>
  site.gateway.webhooks.create(site.admin, { uniqueName, url: `https://${uniqueName}.example/` });

const deliveries = async () => (await site.store.list('webhookDelivery', { limit: 100 })).records.length;

/** Gives the default domain another issuing CA. */
async function moveToNewCa(): Promise<void> {
  const { gateway, admin } = site;
  const ca = await gateway.issuingCas.create(admin, { uniqueName: 'new', type: 1, subject: 'CN=New CA' });
  await gateway.domains.update(admin, 1, { issuingCa: ca.id });
}

const issuerOf = (certificate: Uint8Array) => formatDistinguishedName(parseCertificate(certificate).issuer);

describe('a configuration that changes', () => {
  test('between admission and enrolment does not affect the request', async () => {
    const before = issuerOf(await given(enrol()));
    const certificate = await given(
      enrol(async () => {
        await moveToNewCa();
        await webhook('siem');
        await policy(site, { decision: 'deny' });
      }),
    );
    expect([issuerOf(certificate), await deliveries()]).toEqual([before, 0]);
    expect(await verdict(enrol())).toBe('forbidden');
  });

  test('between approval and issuance does not affect the request', async () => {
    const manual = await policy(site, { decision: 'manual' });
    const approve = async () =>
      site.gateway.approvals.approve(await person(site, `jo-${await deliveries()}`), await waiting(enrol()), {
        comment: 'agreed',
      });
    await approve();
    let isChanged = false;
    whileCleared = async () => {
      await webhook('siem');
      await site.gateway.approvalPolicies.remove(site.admin, manual.id);
      isChanged = true;
    };
    expect((await enrol()).kind).toBe('issued');
    expect([isChanged, await deliveries()]).toEqual([true, 0]);
    await enrol();
    expect(await deliveries()).toBe(1);
  });

  test('during a request of an administrator does not affect the request', async () => {
    await policy(site, { decision: 'manual', protocols: ['management'] });
    const { certificates, approvals } = site.gateway;
    const create = () => certificates.create(site.admin, { commonName: 'pump-2' });
    const pending = await create();
    if (!('kind' in pending)) throw new Error('not pending');
    await approvals.approve(await person(site, 'jo'), pending.id, { comment: 'agreed' });
    let isChanged = false;
    whileCleared = async () => {
      await webhook('siem');
      isChanged = true;
    };
    expect('kind' in (await create())).toBe(false);
    expect(isChanged).toBe(true);
    expect(await deliveries()).toBe(0);
  });
});
