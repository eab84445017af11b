import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import type { Kind, Write } from '#core/ports/store.ts';
import { insert } from '#tests/contracts/store-samples.ts';
import { type Installation, installation, testClock } from '#tests/fixtures/installation.ts';

const directory = mkdtempSync(join(tmpdir(), 'postern-damaged-'));
const path = join(directory, 'store.db');
const day = 24 * 3_600_000;
/** No column refuses it, and no calendar has it. */
const never = 9_000_000_000_000_000;
const clock = testClock();
const posted: string[] = [];

let site: Installation;
let webhook: number;
beforeAll(async () => {
  const store = await openSqliteStore({ path, clock });
  const notifier = {
    check() {},
    async post({ id }: { readonly id: string }) {
      posted.push(id);
      return { delivered: true, status: 204, detail: null };
    },
  };
  site = await installation({ store, clock, notifier });
  const hook = { uniqueName: 'tickets', url: 'https://tickets.example/' };
  ({ id: webhook } = await site.gateway.webhooks.create(site.admin, hook));
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

async function add(...writes: Write[]): Promise<readonly number[]> {
  return site.store.commit(writes);
}

function damage(sql: string, ...ids: (number | undefined)[]): void {
  using database = new Database(path);
  for (const id of ids) database.run(`${sql} where id = ?`, [id!]);
}

/** A record as the database has it, whatever it holds. */
function row(table: string, id: number | undefined): Record<string, unknown> | null {
  using database = new Database(path, { readonly: true });
  return database.query(`select * from ${table} where id = ?`).get(id!) as never;
}

const logged = (kind: Kind, id: number | undefined): number =>
  site.log.entries.filter(
    ({ event, fields }) => /damaged/.test(event) && fields?.kind === kind && fields?.id === id,
  ).length;

/** Two runs: what is damaged is logged by the first, and not once more. */
async function maintained(): Promise<void> {
  await site.gateway.maintain('here');
  clock.advance(61_000);
  await site.gateway.maintain('here');
}

const overdue = { device: null, domain: 1, profile: null, certificate: null, expiresAt: 1 } as const;

test('an approval that cannot be expired does not keep others from it', async () => {
  const approval = (values: object) => insert('approval', { ...overdue, approvals: 0, ...values } as never);
  const orders = { certificate: null, device: null, domain: null, profile: null, ca: null };
  const [unreadable, impossible, sound] = await add(
    approval({ state: 'granted', answersFor: 'X1', requestDigest: 'X1' }),
    approval({ answersFor: 'X2', requestDigest: 'X2', lasts: Number.MAX_SAFE_INTEGER }),
    approval({ answersFor: 'X3', requestDigest: 'X3', expiresAt: 2 }),
  );
  const [order] = await add(
    insert('upstreamRequest', { ...orders, answersFor: 'X1', state: 'issued', expiresAt: never / 9 }),
  );
  damage("update upstream_requests set actor = '{'", order);
  await maintained();
  expect([unreadable, impossible, sound].map((id) => row('approvals', id)!.state)).toEqual([
    'granted',
    'waiting',
    'expired',
  ]);
  expect([logged('approval', unreadable), logged('approval', impossible)]).toEqual([1, 1]);
  const { configuration } = (await site.gateway.readiness()).checks;
  expect(configuration).toEqual({
    ok: false,
    detail: `damaged and skipped: approval ${unreadable}, approval ${impossible}`,
  });
  expect((await site.gateway.readiness()).ready).toBe(true);
  damage('update approvals set lasts = 1, expires_at = 1', impossible);
  damage('update upstream_requests set actor = \'["system",null,"",""]\', state = \'failed\'', order);
  await maintained();
  expect((await site.gateway.readiness()).checks.configuration).toEqual({ ok: true });
  expect(row('approvals', unreadable)!.state).toBe('expired');
});

test('a transaction whose certificate cannot be revoked does not keep others from it', async () => {
  const certificate = (serialNumber: string, notValidBefore: number) =>
    insert('certificate', {
      serialNumber,
      notValidBefore,
      status: 'good',
      device: null,
      domain: 1,
      profile: 1,
      ca: 2,
      notValidAfter: 1,
    });
  const [first, second] = await add(certificate('A1', never), certificate('A2', 1));
  const transaction = (name: string, values: object) =>
    insert('transaction', { ...overdue, name, state: 'waiting', ...values });
  const [bad, sound] = await add(
    transaction('A1', { certificate: first }),
    transaction('A2', { certificate: second, expiresAt: 2 }),
  );
  await maintained();
  expect([bad, sound].map((id) => row('transactions', id)!.state)).toEqual(['waiting', 'expired']);
  expect(row('certificates', second)!.status).toBe('revoked');
  expect(logged('transaction', bad)).toBe(1);
  damage("update transactions set state = 'expired'", bad);
});

test('upstream requests that cannot be read are skipped, and deleted when they are old', async () => {
  const values = { certificate: null, device: null, domain: null, profile: null, ca: null, issuer: 'nobody' };
  const order = (answersFor: string, more: object) =>
    insert('upstreamRequest', { ...values, answersFor, ...more });
  const later = clock.now() + day;
  const [bad, due, badOverdue, tooLate, old] = await add(
    order('U1', { nextAt: 1, expiresAt: later }),
    order('U2', { nextAt: 2, expiresAt: later }),
    order('U3', { nextAt: later, expiresAt: 1 }),
    order('U4', { nextAt: later, expiresAt: 2 }),
    order('U5', { state: 'issued', expiresAt: 1 }),
  );
  damage("update upstream_requests set actor = '{'", bad, badOverdue, old);
  damage("update upstream_requests set wanted = x'00', request = x'00'", due);
  await maintained();
  expect(row('upstream_requests', due)!.attempts).toBeGreaterThan(2);
  expect(row('upstream_requests', tooLate)!.state).toBe('failed');
  expect(row('upstream_requests', old)).toBeNull();
  expect([logged('upstreamRequest', bad), logged('upstreamRequest', badOverdue)]).toEqual([1, 1]);
  damage("update upstream_requests set state = 'failed', expires_at = 1", bad, badOverdue);
});

test('a webhook message that cannot be read or written is given up, and the others are sent', async () => {
  const message = (name: string, values: object = {}) =>
    insert('webhookDelivery', {
      webhook,
      message: name,
      state: 'pending',
      dueAt: 1,
      deliveredAt: null,
      ...values,
    });
  const [unreadable, impossible, , old] = await add(
    message('m1'),
    message('m2', { createdAt: never }),
    message('m3', { dueAt: 2 }),
    message('m4', { state: 'delivered' }),
  );
  damage("update webhook_deliveries set data = '{'", unreadable, old);
  await site.gateway.deliver('here', AbortSignal.timeout(60_000));
  await site.gateway.delivered();
  expect(posted).toContain('m3');
  expect(posted).not.toContain('m1');
  const gone = { state: 'dead', last_error: 'the message is damaged' };
  expect(row('webhook_deliveries', unreadable)).toMatchObject(gone);
  expect(row('webhook_deliveries', impossible)).toMatchObject(gone);
  await maintained();
  expect(row('webhook_deliveries', old)).toBeNull();
});

test('a certificate of which nobody can be told does not keep others from being told of', async () => {
  // Passes the threshold between the two runs.
  const notValidAfter = clock.now() + 30 * day + 90_000;
  await site.gateway.maintain('here');
  clock.advance(61_000);
  const certificate = (serialNumber: string, notValidBefore: number) =>
    insert('certificate', {
      serialNumber,
      notValidBefore,
      notValidAfter,
      status: 'good',
      device: null,
      domain: 1,
      profile: 1,
      ca: 2,
      hidden: false,
    });
  const [bad, sound] = await add(certificate('B1', never), certificate('B2', 1));
  await maintained();
  expect(logged('certificate', bad)).toBe(1);
  const where = [{ field: 'event', is: 'equal', value: 'certificate.expiring' }] as const;
  const { records } = await site.store.list('webhookDelivery', { where, limit: 10 });
  expect(records.map(({ object }) => object)).toEqual([sound!]);
});
