import { afterEach, beforeEach, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import { Fault } from '#core/fault.ts';
import type { Store } from '#core/ports/store.ts';
import { insert, nullable } from '#tests/contracts/store-samples.ts';
import { ask, given, person, policy, verdict, waiting } from '#tests/fixtures/approvals.ts';
import {
  holder,
  type Installation,
  installation,
  password,
  request,
  testClock,
} from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { idevid, makerCa, register, trust } from '#tests/fixtures/manufacturer.ts';

const key = testKey('p-256', 'pump');

let site: Installation;
/** A synchronous standby that does not confirm commits: what can be read may still be lost. */
let away = false;

beforeEach(async () => {
  away = false;
  const clock = testClock();
  const opened = await openSqliteStore({ path: ':memory:', clock });
  const store: Store = Object.assign(Object.create(opened), {
    async confirm() {
      if (away) throw new Fault('unavailable', 'not confirmed', { retryAfter: 1 });
    },
  });
  site = await installation({ store, clock });
});
afterEach(() => site[Symbol.asyncDispose]());

test('an onboarded device gets its certificate again only when the certificate is durable', async () => {
  const acme = makerCa('CN=Acme Root,O=Acme');
  const pump = holder(idevid(key, acme, 'serialNumber=SN-1'), acme.certificate);
  await register(site, 'acme pumps', await trust(site, 'acme', acme.certificate), 'SN-\\d+');
  const onboard = () => ask(site, pump, request(testKey('p-256', 'ldevid'), 'CN=SN-1'));
  const certificate = await given(onboard());
  away = true;
  expect(await verdict(onboard())).toBe('unavailable');
  away = false;
  expect(await given(onboard())).toEqual(certificate);
});

test('a repeated request gets the approved certificate only when the certificate is durable', async () => {
  const pump = password('pump-1', (await site.device('pump-1')).password);
  const asked = () =>
    ask(site, pump, request(key, 'CN=pump-1', ['DNS:pump-1.plant.example']), { profile: 'tls_server' });
  await policy(site, { decision: 'manual' });
  await site.gateway.approvals.approve(await person(site, 'jo'), await waiting(asked()), {
    comment: 'agreed',
  });
  const certificate = await given(asked());
  away = true;
  expect(await verdict(asked())).toBe('unavailable');
  away = false;
  expect(await given(asked())).toEqual(certificate);
});

test('a repeated CMP message gets its stored response only when the response is durable', async () => {
  const message = new Uint8Array([1, 2, 3]);
  const { id } = (await site.device('pump-1')).device;
  await site.store.commit([
    insert('transaction', {
      ...nullable.transaction,
      name: 'AA',
      device: id,
      domain: 1,
      openingDigest: createHash('sha256').update(message).digest(),
      openingAnswer: new Uint8Array([4]),
    }),
  ]);
  const recall = () => site.gateway.transactions.recall('AA', message);
  away = true;
  expect(await recall().catch(({ code }: Fault) => code)).toBe('unavailable');
  away = false;
  expect(Buffer.from((await recall()).answer!)).toEqual(Buffer.from([4]));
});
