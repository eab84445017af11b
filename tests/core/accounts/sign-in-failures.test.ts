import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import { Fault } from '#core/fault.ts';
import type { Store, Write } from '#core/ports/store.ts';
import { adminPassword, type Installation, installation, testClock } from '#tests/fixtures/installation.ts';

const address = '192.0.2.7';
let site: Installation;
/** What the next commit of a sign-in or refresh fails with. */
let next: Error | undefined;

const ofSignIn = (write: Write): boolean =>
  (write.op === 'insert' && write.kind === 'session') ||
  (write.op === 'update' && write.kind === 'session') ||
  (write.op === 'require' && write.kind === 'serviceAccount');

beforeAll(async () => {
  const clock = testClock();
  const inner = await openSqliteStore({ path: ':memory:', clock });
  const store: Store = Object.assign(Object.create(inner), {
    async commit(writes: readonly Write[]) {
      if (next && writes.some(ofSignIn)) throw next;
      return inner.commit(writes);
    },
  });
  site = await installation({ store, clock });
});
afterAll(() => site[Symbol.asyncDispose]());

/** Prepares a sign-in and returns it. */
const ways: readonly (readonly [name: string, prepare: () => Promise<() => Promise<unknown>>])[] = [
  ['sign-in of a user', async () => () => site.gateway.accounts.signIn('admin', adminPassword, address)],
  [
    'refresh of a session',
    async () => {
      const { session, generation } = await site.gateway.accounts.signIn('admin', adminPassword, address);
      return () => site.gateway.accounts.refresh(session, generation, address);
    },
  ],
  [
    'sign-in of a service account',
    async () => {
      const role = (await site.gateway.accounts.roleNamed('Auditor')).id;
      const { accounts, serviceAccounts } = site.gateway;
      const uniqueName = crypto.randomUUID();
      const { clientId, clientSecret } = await serviceAccounts.create(site.admin, { uniqueName, role });
      return () => accounts.signInService(clientId, clientSecret!, address);
    },
  ],
];

describe.each(ways)('the %s', (_name, prepare) => {
  test.each<[what: string, error: Error, expected: object]>([
    ['is rejected after a conflict', new Fault('conflict', 'changed'), { code: 'unauthenticated' }],
    ['reports a store that is unavailable', new Fault('unavailable', 'restarting'), { code: 'unavailable' }],
    ['reports an unexpected error', new TypeError('conflict'), { message: 'conflict' }],
    [
      'does not take an error of a library for a conflict',
      Object.assign(new Error('of a library'), { code: 'conflict' }),
      { message: 'of a library' },
    ],
  ])('%s', async (_what, error, expected) => {
    const signIn = await prepare();
    const failures = () => site.store.count('loginFailure', [], 100);
    const before = await failures();
    next = error;
    const result = await signIn().catch((fault) => fault);
    next = undefined;
    expect(result).toMatchObject(expected);
    // Only a conflict counts as a wrong password.
    if (!('code' in expected && expected.code === 'unauthenticated')) expect(await failures()).toBe(before);
  });
});

test('a session stays ended after its user and an administrator both replaced the password', async () => {
  const { accounts, users } = site.gateway;
  const { id } = await accounts.createUser('jo', 'the first password', 'Default', site.admin.actor);
  const { user, session } = await accounts.signIn('jo', 'the first password', address);
  const principal = await accounts.principal(user, session, address);
  await accounts.changePassword(principal, 'the first password', 'the second password');
  const ended = { code: 'unauthenticated' };
  expect(await accounts.principal(user, session, address).catch((fault) => fault)).toMatchObject(ended);
  await users.update(site.admin, id, { password: 'the third password' });
  expect(await accounts.principal(user, session, address).catch((fault) => fault)).toMatchObject(ended);
});
