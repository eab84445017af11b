import { expect, test } from 'bun:test';
import { hash } from 'node:crypto';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import { Fault } from '#core/fault.ts';
import type { Store, Write } from '#core/ports/store.ts';
import { formatSerial, parseCertificate } from '#core/x509/certificate.ts';
import { parseCrl, revokedEntries } from '#core/x509/crl.ts';
import { CmpClient, cmpServer, crmf, ir, issued } from '#tests/fixtures/cmp-client.ts';
import { installation, type TestClock, testClock } from '#tests/fixtures/installation.ts';
import { intruded, recording } from '#tests/fixtures/intruded.ts';
import { testKey } from '#tests/fixtures/keys.ts';

const key = testKey('p-256', 'pump');
const hour = 3_600_000;

test('a certificate that is confirmed while its transaction expires is not revoked', async () => {
  const clock = testClock();
  const { store, before } = intruded(await openSqliteStore({ path: ':memory:', clock }));
  await using site = await installation({ store, clock });
  const { device } = await site.device('pump-1');
  const config = await site.gateway.noOnboardingConfigs.read(site.admin, device.noOnboardingConfig!);
  const credential = { reference: 'pump-1', secret: config.cmpSharedSecret! };
  const client = new CmpClient(cmpServer(site.gateway, clock).mount, credential);
  const certificate = issued(await client.send(ir(crmf(key))));
  const { serialNumber } = parseCertificate(certificate);
  const status = async () => (await store.find('certificate', { serialNumber }))?.status;
  clock.advance(24 * hour);
  let confirmed: string | undefined;
  // Another gateway, whose clock is slow, confirms.
  before(recording('transaction.expire'), async () => {
    clock.advance(-24 * hour);
    const statuses = [{ certHash: hash('sha256', certificate, 'buffer'), certReqId: 0 }];
    confirmed = (await client.send({ type: 'certConf', statuses })).body.type;
    clock.advance(24 * hour);
  });
  await site.gateway.maintain('test');
  expect(confirmed).toBe('pkiConf');
  expect(await status()).toBe('good');
  expect(await site.audit('transaction.expire')).toEqual([]);
  await site.gateway.maintain('test');
  expect(await status()).toBe('good');
});

/** A service with a certificate that was issued over CMP a day ago and was never confirmed. */
async function unconfirmed(store: Store, clock: TestClock) {
  const site = await installation({ store, clock });
  const { device } = await site.device('pump-1');
  const config = await site.gateway.noOnboardingConfigs.read(site.admin, device.noOnboardingConfig!);
  const credential = { reference: 'pump-1', secret: config.cmpSharedSecret! };
  const client = new CmpClient(cmpServer(site.gateway, clock).mount, credential);
  const { serialNumber } = parseCertificate(issued(await client.send(ir(crmf(key)))));
  clock.advance(24 * hour);
  return { site, serialNumber };
}

test('the CRL lists an unconfirmed certificate at once, without waiting for the next maintenance', async () => {
  const clock = testClock();
  const store = await openSqliteStore({ path: ':memory:', clock });
  const { site, serialNumber } = await unconfirmed(store, clock);
  await using _ = site;
  // Another instance does the work that is not urgent.
  expect(await store.lease('maintenance', 'another instance', 60)).toBe(true);
  await site.gateway.maintain('test');
  const { ca, status } = (await store.find('certificate', { serialNumber }))!;
  expect(status).toBe('revoked');
  const entries = [...revokedEntries(parseCrl(await site.gateway.crl(ca)))];
  expect(entries.map(({ serial }) => formatSerial(serial))).toEqual([serialNumber]);
});

test('maintenance fails when finished transactions cannot be forgotten, and the next run forgets them', async () => {
  const clock = testClock();
  const inner = await openSqliteStore({ path: ':memory:', clock });
  let isBroken = false;
  const store: Store = Object.assign(Object.create(inner), {
    commit: (writes: readonly Write[]) =>
      isBroken && writes.some((write) => write.op !== 'audit' && write.kind === 'transaction')
        ? Promise.reject(new Fault('unavailable', 'the database is restarting'))
        : inner.commit(writes),
  });
  const { site } = await unconfirmed(store, clock);
  await using _ = site;
  await site.gateway.maintain('test');
  const answers = async () =>
    (await store.list('transaction', { limit: 10 })).records.filter(
      ({ openingAnswer }) => openingAnswer.length > 0,
    ).length;
  clock.advance(30 * 24 * hour);
  isBroken = true;
  const failed = await site.gateway.maintain('test').catch((fault) => fault);
  expect([failed?.code, await answers()]).toEqual(['unavailable', 1]);
  isBroken = false;
  clock.advance(hour);
  await site.gateway.maintain('test');
  expect(await answers()).toBe(0);
});
