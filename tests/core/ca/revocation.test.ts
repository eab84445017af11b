import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { RevocationReason } from '#core/x509/crl.ts';
import { parseCrl, revokedEntries } from '#core/x509/crl.ts';
import { type Installation, installation, password, request } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';

let site: Installation;
let id: number;
beforeEach(async () => {
  site = await installation();
  const { password: secret } = await site.device('pump-1');
  await site.enrol(password('pump-1', secret), {}, request(testKey('p-256', 'revocation'), 'CN=pump-1'));
  id = (await site.store.list('certificate', { limit: 1 })).records[0]!.id;
});
afterEach(() => site[Symbol.asyncDispose]());

const revoke = (reason: RevocationReason) => site.gateway.certificates.revoke(site.admin, id, { reason });
const record = async () => (await site.store.get('certificate', id))!;
const events = async (action: string) =>
  (await site.audit(action)).filter(({ object }) => object === `certificate:${id}`);

describe('of several concurrent revocations', () => {
  test('one is done and audited, and the others are rejected', async () => {
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => revoke('superseded')));
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'conflict' });
    expect(await events('certificate.revoke')).toHaveLength(1);
  });

  test('a release does not undo a permanent revocation', async () => {
    await revoke('certificateHold');
    const outcomes = await Promise.allSettled([revoke('keyCompromise'), revoke('removeFromCRL')]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(await record()).toMatchObject({ status: 'revoked', revocationReason: 'keyCompromise' });
    expect(await events('certificate.release')).toEqual([]);
  });
});

describe('a certificate on hold', () => {
  test('keeps the date of the hold when it is revoked permanently', async () => {
    const heldAt = site.clock.now();
    await revoke('certificateHold');
    site.clock.advance(86_400_000);
    await revoke('keyCompromise');
    expect(await record()).toMatchObject({
      status: 'revoked',
      revokedAt: heldAt,
      revocationReason: 'keyCompromise',
    });
    const { ca } = await record();
    site.clock.advance(2000);
    const [entry] = [...revokedEntries(parseCrl(await site.gateway.crl(ca)))];
    expect(entry).toMatchObject({ revokedAt: heldAt, reason: 'keyCompromise' });
  });

  test('is released with an audit event that names the reason', async () => {
    await revoke('certificateHold');
    await revoke('removeFromCRL');
    expect(await record()).toMatchObject({ status: 'good', revokedAt: null, revocationReason: null });
    const { serialNumber } = await record();
    expect(await events('certificate.release')).toMatchObject([
      { outcome: 'success', detail: { reason: 'removeFromCRL', serialNumber } },
    ]);
    expect(await events('certificate.revoke')).toHaveLength(1);
  });
});

test('an issued certificate is listed until it is removed', async () => {
  const listed = async () =>
    (await site.gateway.certificates.list(site.admin, { limit: 10 })).records.map((one) => one.id);
  expect(await listed()).toContain(id);
  await revoke('superseded');
  await site.gateway.certificates.remove(site.admin, id);
  expect(await listed()).not.toContain(id);
  expect(await record()).toMatchObject({ status: 'revoked' });
});
