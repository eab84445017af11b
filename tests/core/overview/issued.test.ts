import { afterEach, expect, test } from 'bun:test';
import { insert } from '#tests/contracts/store-samples.ts';
import { type Installation, installation } from '#tests/fixtures/installation.ts';

const hour = 3_600_000;
const day = 24 * hour;
const open: Installation[] = [];
afterEach(async () => {
  for (const site of open.splice(0)) await site[Symbol.asyncDispose]();
});

async function started() {
  const site = await installation();
  open.push(site);
  const { store, gateway, admin, clock } = site;
  const ca = (await store.list('issuingCa', { limit: 1 })).records[0]!.id;
  let number = 0;
  const issue = (protocol: string, ...at: number[]) =>
    store.commit(
      at.map((createdAt) =>
        insert('certificate', {
          ca,
          status: 'good',
          revokedAt: null,
          revocationReason: null,
          hidden: false,
          device: null,
          domain: null,
          profile: null,
          serialNumber: (++number).toString(16).padStart(40, '0').toUpperCase(),
          der: Uint8Array.of(0x30, 0),
          protocol,
          createdAt,
        }),
      ),
    );
  /** The number of certificates on each day that has any, the newest last. */
  const seen = async () =>
    (await gateway.overview.issuance(admin)).days
      .map(({ byProtocol: { internal: _, ...others } }) => others)
      .filter((one) => Object.keys(one).length > 0);
  const kept = async (): Promise<object | undefined> => {
    const setting = await store.find('setting', { name: 'issued-certificates' });
    return setting && JSON.parse(Buffer.from(setting.value).toString());
  };
  const today = Math.floor(clock.now() / day) * day;
  // Half past one: yesterday is over, and no transaction of it can be open.
  clock.advance(today + day + 1.5 * hour - clock.now());
  return { ...site, issue, seen, kept, today: today + day };
}

test('the figures are the same before and after past days are counted', async () => {
  const { issue, seen, kept, gateway, clock, today } = await started();
  await issue('est', today - 3 * day, today - 3 * day + 5, today - 2 * day - 1);
  await issue('cmp', today - day, today + hour);
  const before = [{ est: 3 }, { cmp: 1 }, { cmp: 1 }];
  expect(await seen()).toEqual(before);
  expect(await kept()).toBeUndefined();
  await gateway.maintain('here');
  expect(Object.keys((await kept())!)).toHaveLength(29);
  clock.advance(20_000);
  expect(await seen()).toEqual(before);
});

test('a day is counted when it is over and all transactions from before midnight have ended', async () => {
  const { issue, seen, kept, gateway, clock, today } = await started();
  await gateway.maintain('here');
  await issue('rest', today + 23 * hour);
  clock.advance(23 * hour);
  await gateway.maintain('here');
  expect(await kept()).not.toHaveProperty(String(today));
  expect(await seen()).toEqual([{ rest: 1 }]);
  clock.advance(hour);
  await gateway.maintain('here');
  expect(await kept()).toHaveProperty(String(today), [
    { protocol: 'rest', domain: null, profile: null, count: 1 },
  ]);
});

test('counts older than the chart are deleted', async () => {
  const { issue, kept, gateway, clock, today } = await started();
  await issue('est', today - day);
  await gateway.maintain('here');
  expect(await kept()).toHaveProperty(String(today - day));
  clock.advance(30 * day);
  await gateway.maintain('here');
  expect(await kept()).not.toHaveProperty(String(today - day));
});
