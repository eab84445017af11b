import { describe, expect, test } from 'bun:test';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import type { Permission } from '#core/access/permissions.ts';
import type { Principal } from '#core/access/principal.ts';
import { adminPassword, type Installation, installation, testClock } from '#tests/fixtures/installation.ts';
import { intruded, recording } from '#tests/fixtures/intruded.ts';

const address = '192.0.2.1';
const password = 'a long password';
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    ({ code }) => code,
  );

const roleWith = ({ gateway, admin }: Installation, uniqueName: string, permissions: readonly Permission[]) =>
  gateway.roles.create(admin, { uniqueName, permissions });

/** A user with this role who has already chosen a password. */
async function signedIn(site: Installation, username: string, role: number): Promise<Principal> {
  const { accounts, users } = site.gateway;
  await users.create(site.admin, { username, password, role });
  const first = await accounts.signIn(username, password, address);
  const principal = await accounts.principal(first.user, first.session, address);
  const { user, session } = await accounts.changePassword(principal, password, 'another long password');
  return accounts.principal(user, session, address);
}

describe('a service account', () => {
  async function prepared(site: Installation) {
    const { gateway, admin } = site;
    const { id: role } = await roleWith(site, 'line', ['devices.read']);
    const made = await gateway.serviceAccounts.create(admin, { uniqueName: 'line', role });
    const grant = await gateway.accounts.signInService(made.clientId, made.clientSecret!, address);
    const tokenState = () =>
      codeOf(gateway.accounts.servicePrincipal(grant.account, grant.generation, address));
    const signIn = (secret = made.clientSecret!) =>
      codeOf(gateway.accounts.signInService(made.clientId, secret, address));
    return { role, made, tokenState, signIn };
  }

  test('that is removed is gone, with its secret and its tokens', async () => {
    await using site = await installation();
    const { serviceAccounts } = site.gateway;
    const { made, tokenState, signIn } = await prepared(site);
    expect([await tokenState(), await signIn()]).toEqual(['done', 'done']);
    await serviceAccounts.remove(site.admin, made.id);
    expect(await codeOf(serviceAccounts.read(site.admin, made.id))).toBe('notFound');
    expect([await tokenState(), await signIn()]).toEqual(['unauthenticated', 'unauthenticated']);
  });

  test('keeps its tokens when it is renamed, and loses them when its role or activation changes', async () => {
    await using site = await installation();
    const { serviceAccounts } = site.gateway;
    const { made, role, tokenState, signIn } = await prepared(site);
    await serviceAccounts.update(site.admin, made.id, { uniqueName: 'renamed', role, isActive: true });
    expect(await tokenState()).toBe('done');
    const { id: other } = await roleWith(site, 'other', []);
    await serviceAccounts.update(site.admin, made.id, { role: other });
    expect([await tokenState(), await signIn()]).toEqual(['unauthenticated', 'done']);
    await serviceAccounts.update(site.admin, made.id, { isActive: false });
    expect(await signIn()).toBe('unauthenticated');
  });

  test('that is created inactive cannot sign in until it is activated', async () => {
    await using site = await installation();
    const { serviceAccounts, accounts } = site.gateway;
    const { id: role } = await roleWith(site, 'line', []);
    const input = { uniqueName: 'later', role, isActive: false };
    const { id, clientId, clientSecret } = await serviceAccounts.create(site.admin, input);
    const signIn = () => codeOf(accounts.signInService(clientId, clientSecret!, address));
    expect(await signIn()).toBe('unauthenticated');
    await serviceAccounts.update(site.admin, id, { isActive: true });
    expect(await signIn()).toBe('done');
  });

  test('that does not exist has no secret to rotate', async () => {
    await using site = await installation();
    expect(await codeOf(site.gateway.serviceAccounts.rotate(site.admin, 99))).toBe('notFound');
  });

  test('has no password to change, and shows its role', async () => {
    await using site = await installation();
    const { accounts } = site.gateway;
    const { made } = await prepared(site);
    const { account, generation } = await accounts.signInService(made.clientId, made.clientSecret!, address);
    const principal = await accounts.servicePrincipal(account, generation, address);
    expect(await codeOf(accounts.changePassword(principal, password, adminPassword))).toBe('forbidden');
    expect(await accounts.self(principal)).toMatchObject({
      kind: 'serviceAccount',
      id: account,
      role: { uniqueName: 'line' },
    });
  });
});

describe('a user without the permission of a role', () => {
  test.each<[what: string, work: (site: Installation, who: Principal, role: number) => Promise<unknown>]>([
    ['change the role', ({ gateway }, who, role) => gateway.roles.update(who, role, { uniqueName: 'mine' })],
    ['remove the role', ({ gateway }, who, role) => gateway.roles.remove(who, role)],
    [
      'create a user with it',
      ({ gateway }, who, role) => gateway.users.create(who, { username: 'jo', password, role }),
    ],
    [
      'give it to a service account',
      ({ gateway }, who, role) => gateway.serviceAccounts.create(who, { uniqueName: 'jo', role }),
    ],
    [
      'give it to an existing service account',
      async ({ gateway, admin }, who, role) => {
        const { id: own } = await gateway.roles.create(admin, {
          uniqueName: `own ${who.actor.name}`,
          permissions: [],
        });
        const input = { uniqueName: `line ${who.actor.name}`, role: own };
        const { id } = await gateway.serviceAccounts.create(admin, input);
        return gateway.serviceAccounts.update(who, id, { role });
      },
    ],
    [
      'give it to an existing user',
      async ({ gateway, admin }, who, role) => {
        const { id: own } = await gateway.roles.create(admin, {
          uniqueName: `own ${who.actor.name}`,
          permissions: [],
        });
        const input = { username: `jo of ${who.actor.name}`, password, role: own };
        const { id } = await gateway.users.create(admin, input);
        return gateway.users.update(who, id, { role });
      },
    ],
  ])('cannot %s', async (_what, work) => {
    await using site = await installation();
    const { id: keeper } = await roleWith(site, 'keeper', ['accounts.read', 'accounts.write']);
    const { id: role } = await roleWith(site, 'auditor', ['audit.read']);
    const who = await signedIn(site, 'keeper', keeper);
    expect(await codeOf(work(site, who, role))).toBe('forbidden');
    expect(await site.gateway.roles.read(site.admin, role)).toMatchObject({ uniqueName: 'auditor' });
    expect(await codeOf(work(site, site.admin, role))).toBe('done');
  });
});

test('the protected role Admin can be neither changed nor removed', async () => {
  await using site = await installation();
  const { roles, accounts } = site.gateway;
  const { id } = await accounts.roleNamed('Admin');
  expect(await codeOf(roles.update(site.admin, id, { uniqueName: 'other' }))).toBe('conflict');
  await expect(roles.remove(site.admin, id)).rejects.toMatchObject({ id: 'role_protected' });
});

test('administrators can leave one after the other until one is left', async () => {
  await using site = await installation();
  const { users, accounts } = site.gateway;
  const { id: role } = await accounts.roleNamed('Admin');
  const made = [];
  for (const username of ['second', 'third', 'fourth'])
    made.push(await users.create(site.admin, { username, password, role }));
  const admin = (await accounts.signIn('admin', adminPassword, address)).user;
  for (const id of [admin, made[0]!.id, made[1]!.id]) await users.remove(site.admin, id);
  await expect(users.remove(site.admin, made[2]!.id)).rejects.toMatchObject({ id: 'last_administrator' });
  await users.update(site.admin, made[2]!.id, { username: 'last', role, isActive: true });
  expect(await users.read(site.admin, made[2]!.id)).toMatchObject({ username: 'last', isActive: true });
});

test('a user must change a password that somebody else has set, not one that they chose', async () => {
  await using site = await installation();
  const { users, accounts } = site.gateway;
  const { id: role } = await accounts.roleNamed('Admin');
  const { id } = await users.create(site.admin, { username: 'jo', password, role });
  const flag = async () => (await users.read(site.admin, id)).mustChangePassword;
  expect(await flag()).toBe(true);
  const first = await accounts.signIn('jo', password, address);
  const bound = await accounts.principal(first.user, first.session, address);
  expect([...bound.permissions]).toEqual([]);
  const { user, session } = await accounts.changePassword(bound, password, 'chosen by myself');
  const jo = await accounts.principal(user, session, address);
  expect([await flag(), jo.permissions.has('accounts.write')]).toEqual([false, true]);
  await users.update(jo, id, { password: 'chosen by myself again' });
  expect(await flag()).toBe(false);
  await users.update(site.admin, id, { password: 'chosen by another' });
  expect(await flag()).toBe(true);
});

test('only what ends a session in the user record ends it', async () => {
  await using site = await installation();
  const { users, accounts } = site.gateway;
  const { id: role } = await accounts.roleNamed('Admin');
  const { id: other } = await accounts.roleNamed('Default');
  const { id } = await users.create(site.admin, { username: 'jo', password, role });
  const changes = [
    [{ username: 'joan' }, 'done'],
    [{ role, isActive: true }, 'done'],
    [{ role: other }, 'unauthenticated'],
    [{ isActive: false }, 'unauthenticated'],
    [{ isActive: true, password: 'another long password' }, 'unauthenticated'],
  ] as const;
  for (const [change, expected] of changes) {
    const { username, isActive } = await users.read(site.admin, id);
    if (!isActive) await users.update(site.admin, id, { isActive: true });
    const { user, session } = await accounts.signIn(username, password, address);
    await users.update(site.admin, id, change);
    expect(await codeOf(accounts.principal(user, session, address))).toBe(expected);
  }
});

test('a sign-in that loses a race against a new password looks like a wrong password', async () => {
  const clock = testClock();
  const { store, before } = intruded(await openSqliteStore({ path: ':memory:', clock }));
  await using site = await installation({ store, clock });
  const { accounts } = site.gateway;
  before(recording('account.signIn'), () =>
    accounts.setPassword('admin', 'another long password', site.admin.actor),
  );
  await expect(accounts.signIn('admin', adminPassword, address)).rejects.toMatchObject({
    code: 'unauthenticated',
    id: 'wrong_credentials',
  });
  expect(await codeOf(accounts.signIn('admin', 'another long password', address))).toBe('done');
});
