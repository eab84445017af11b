import { afterEach, expect, test } from 'bun:test';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import type { Store } from '#core/ports/store.ts';
import { insert } from '#tests/contracts/store-samples.ts';
import { type Installation, installation, testClock } from '#tests/fixtures/installation.ts';

const day = 24 * 3_600_000;
const open: Installation[] = [];
afterEach(async () => {
  for (const site of open.splice(0)) await site[Symbol.asyncDispose]();
});

async function started(options: Parameters<typeof installation>[0] = {}) {
  const site = await installation(options);
  open.push(site);
  const { gateway, admin, clock, store } = site;
  let number = 0;
  const ca = (await store.list('issuingCa', { limit: 1 })).records[0]!.id;
  const good = { ca, status: 'good', revokedAt: null, revocationReason: null, hidden: false } as const;
  const none = { device: null, domain: null, profile: null } as const;
  /** Makes certificates that expire in these numbers of days. */
  const certificates = (days: readonly number[], more = {}) =>
    store.commit(
      days.map((left) =>
        insert('certificate', {
          ...good,
          ...none,
          serialNumber: (++number).toString(16).padStart(40, '0').toUpperCase(),
          der: Uint8Array.of(0x30, 0),
          commonName: `in ${left}`,
          notValidAfter: clock.now() + left * day,
          ...more,
        }),
      ),
    );
  /** Returns the events since the last call: `name threshold`. */
  let seen = 0;
  const told = async (): Promise<string[]> => {
    await gateway.maintain('here');
    const query = { where: [{ field: 'id', is: 'greater', value: seen }], limit: 1000 } as const;
    const { records } = await store.list('webhookDelivery', query);
    seen = records[0]?.id ?? seen;
    return records.map(({ data }) => `${data.common_name}: ${data.days}`).sort();
  };
  const hook = (uniqueName = 'tickets') =>
    gateway.webhooks.create(admin, {
      uniqueName,
      url: 'https://x.example/',
      events: ['certificate.expiring'],
    });
  return { ...site, certificates, told, hook };
}

test('each certificate is reported once per threshold', async () => {
  const { certificates, told, hook, clock, gateway } = await started();
  await certificates([0.5, 5, 20, 29, 31, 400]);
  expect(await told()).toEqual([]);
  await hook();
  // After a late start, only the nearest threshold is reported.
  expect(await told()).toEqual(['in 0.5: 1', 'in 20: 30', 'in 29: 30', 'in 5: 7']);
  expect(await told()).toEqual([]);
  clock.advance(2 * day);
  expect(await told()).toEqual(['in 31: 30']);
  clock.advance(2.5 * day);
  expect(await told()).toEqual(['in 5: 1']);
  clock.advance(9 * day);
  expect(await told()).toEqual(['in 20: 7']);
  clock.advance(60 * day);
  // Certificates that expired in between are not reported any more.
  expect((await told()).filter((name) => name.startsWith('in'))).toEqual([]);
  await gateway.delivered();
});

test('revoked, hidden and renewed certificates are not reported; a certificate of another device or profile is no renewal', async () => {
  const { certificates, told, hook, device, store, clock } = await started();
  await hook();
  await told();
  const [one, other] = [(await device('one')).device.id, (await device('other')).device.id];
  const [first, second] = (await store.list('profile', { limit: 2 })).records;
  await certificates([20.1], { device: one, profile: first!.id });
  await certificates([100], { device: one, profile: first!.id });
  await certificates([20.2], { device: other, profile: first!.id });
  await certificates([100], { device: other, profile: second!.id });
  await certificates([20.3], { status: 'revoked', revokedAt: 1 });
  await certificates([20.4], { hidden: true });
  await certificates([20.5], { device: one, profile: second!.id });
  await certificates([100], { device: one, profile: second!.id, status: 'revoked', revokedAt: 1 });
  // A threshold that had passed at issuance is not reported; the next one is.
  expect(await told()).toEqual([]);
  clock.advance(14 * day);
  expect(await told()).toEqual(['in 20.2: 7', 'in 20.5: 7']);
});

test('many certificates that expire at once are reported once each, also when a run stops between two pages', async () => {
  const clock = testClock();
  const inner = await openSqliteStore({ path: ':memory:', clock });
  let left = Number.POSITIVE_INFINITY;
  const store = new Proxy(inner, {
    get(target: Store, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...given: unknown[]) => {
        const told = JSON.stringify(given[0] ?? '').includes('"webhookDelivery"');
        if (name === 'commit' && told && --left < 0) return Promise.reject(new Error('killed'));
        return member.apply(target, given);
      };
    },
  });
  const { certificates, hook, gateway } = await started({ store, clock });
  for (let n = 0; n < 5; n++) await certificates(Array.from({ length: 200 }, () => 20));
  await hook();
  await hook('another');
  left = 2;
  await expect(gateway.maintain('here')).rejects.toThrow('killed');
  left = Number.POSITIVE_INFINITY;
  expect(await store.count('webhookDelivery', [], 10_000)).toBe(800);
  await gateway.maintain('here');
  const tallied = await store.tally('webhookDelivery', [], ['object', 'webhook'], 10_000);
  expect(tallied).toHaveLength(2000);
  expect(tallied.every(({ count }) => count === 1)).toBe(true);
});

test('other thresholds can be set', async () => {
  const { certificates, told, hook, gateway, admin } = await started();
  await certificates([50, 80]);
  await gateway.settings.change(admin, { webhookWarnDays: [60] });
  await hook();
  expect(await told()).toEqual(['in 50: 60']);
  await gateway.settings.change(admin, { webhookWarnDays: [] });
  expect(await told()).toEqual([]);
});
