import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { openPostgresStore } from '#adapters/outbound/sql/postgres.ts';
import { createVault } from '#adapters/outbound/system/vault.ts';
import { verifyAudit } from '#core/audit/verify.ts';
import { type Installation, installation, testClock } from '#tests/fixtures/installation.ts';
import { hasPostgres, type PostgresFixture, startPostgres } from '#tests/fixtures/postgres.ts';

let server: PostgresFixture;

beforeAll(async () => {
  if (hasPostgres) server = await startPostgres();
}, 60_000);
afterAll(() => server?.stop());

/** Two gateways that share only a PostgreSQL database. */
async function two(): Promise<readonly [Installation, Installation]> {
  const url = await server.createDatabase();
  const clock = testClock();
  const one = await installation({ store: await openPostgresStore({ url, clock }), clock });
  return [one, await installation({ store: await openPostgresStore({ url, clock }), clock })];
}

describe.skipIf(!hasPostgres)('two instances on one PostgreSQL', () => {
  test('concurrent removals and demotions leave one administrator', async () => {
    const [here, there] = await two();
    await using _here = here;
    await using _there = there;
    const { accounts, users, roles } = here.gateway;
    const { records } = await roles.list(here.admin, { limit: 10 });
    const other = records.find(({ uniqueName }) => uniqueName === 'Default')!.id;
    for (let n = 0; n < 3; n++)
      await accounts.createUser(`admin ${n}`, 'a long password', 'Admin', here.admin.actor);
    const all = (await users.list(here.admin, { limit: 10 })).records;
    const attempts = all.map(({ id }, n) => {
      const site = n % 2 === 0 ? here : there;
      return n < 2
        ? site.gateway.users.remove(site.admin, id)
        : site.gateway.users.update(site.admin, id, { role: other });
    });
    const refused = (await Promise.allSettled(attempts)).filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(1);
    const left = (await users.list(here.admin, { limit: 10 })).records;
    expect(left.filter(({ role, isActive }) => role !== other && isActive)).toHaveLength(1);
  });

  test('when two master keys claim one empty database, the second is rejected and writes nothing', async () => {
    const url = await server.createDatabase();
    const starts = await Promise.allSettled(
      [1, 2].map(async (key) => {
        const clock = testClock();
        const vault = createVault(new Uint8Array(32).fill(key));
        return installation({ store: await openPostgresStore({ url, clock }), clock, vault });
      }),
    );
    const [winner, ...others] = starts.filter(({ status }) => status === 'fulfilled');
    await using site = (winner as PromiseFulfilledResult<Installation>).value;
    const { reason } = starts.find(({ status }) => status === 'rejected') as PromiseRejectedResult;
    expect([others, reason]).toEqual([[], expect.objectContaining({ code: 'internal' })]);
    expect(reason.cause.message).toContain('the database was made with: copy master.json and master.key');
    const vault = createVault(new Uint8Array(32).fill(starts.indexOf(winner!) + 1));
    expect(await verifyAudit(site.store, vault)).toMatchObject({ chains: 1, problems: [] });
  });

  test('an audit trail that both write and seal is in order, also while they write', async () => {
    const [here, there] = await two();
    await using _here = here;
    await using _there = there;
    const vault = createVault(new Uint8Array(32).fill(1));
    let writing = true;
    const verdicts: unknown[] = [];
    const watching = (async () => {
      while (writing) verdicts.push((await verifyAudit(here.store, vault)).problems);
    })();
    for (let n = 0; n < 20; n++) {
      await Promise.all([here, there].map((site, s) => site.device(`pump-${n}-${s}`)));
      here.clock.advance(61_000);
      await Promise.all([here.gateway.maintain('here'), there.gateway.maintain('there')]);
    }
    writing = false;
    await watching;
    expect(verdicts.filter((problems) => (problems as unknown[]).length > 0)).toEqual([]);
    const { events, chains, anchor, problems } = await verifyAudit(there.store, vault);
    expect([problems, chains, events >= 40, anchor!.number >= 20]).toEqual([[], 2, true, true]);
  }, 60_000);
});
