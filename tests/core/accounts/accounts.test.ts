import { expect, test } from 'bun:test';
import { adminPassword, type Installation, installation } from '#tests/fixtures/installation.ts';

const address = '192.0.2.1';
const minute = 60_000;

test('an unknown user name and a wrong password get the same error', async () => {
  await using site = await installation();
  const messages = await Promise.all(
    ['admin', 'nobody'].map((name) =>
      site.gateway.accounts
        .signIn(name, 'not the password', address)
        .catch(({ code, detail }) => [code, detail]),
    ),
  );
  expect(messages[0]).toEqual(messages[1]!);
  expect(messages[0]).toEqual(['unauthenticated', 'wrong user name or password']);
});

test('a refresh token works once, and using it again ends the session', async () => {
  await using site = await installation();
  const { accounts } = site.gateway;
  const first = await accounts.signIn('admin', adminPassword, address);
  const second = await accounts.refresh(first.session, first.generation, address);
  expect(second.generation).toBe(1);
  expect((await accounts.principal(first.user, first.session, address)).actor.name).toBe('admin');
  await expect(accounts.refresh(first.session, first.generation, address)).rejects.toMatchObject({
    code: 'unauthenticated',
  });
  await expect(accounts.refresh(second.session, second.generation, address)).rejects.toMatchObject({
    code: 'unauthenticated',
  });
  await expect(accounts.principal(first.user, first.session, address)).rejects.toMatchObject({
    code: 'unauthenticated',
  });
  expect(await site.audit('account.sessionRevoked')).toHaveLength(1);
});

test('of two concurrent refreshes with one token, one is rejected', async () => {
  await using site = await installation();
  const { accounts } = site.gateway;
  const { session, generation } = await accounts.signIn('admin', adminPassword, address);
  const refreshes = [1, 2].map(() => accounts.refresh(session, generation, address));
  const outcomes = await Promise.allSettled(refreshes);
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'unauthenticated' });
  expect((await site.store.get('session', session))?.generation).toBe(1);
});

test('a session expires 24 hours after its last refresh', async () => {
  await using site = await installation();
  const { accounts } = site.gateway;
  const first = await accounts.signIn('admin', adminPassword, address);
  site.clock.advance(23 * 60 * minute);
  const second = await accounts.refresh(first.session, first.generation, address);
  expect(second.refreshUntil - site.clock.now()).toBe(24 * 60 * minute);
  site.clock.advance(25 * 60 * minute);
  await expect(accounts.refresh(second.session, second.generation, address)).rejects.toMatchObject({
    code: 'unauthenticated',
  });
});

test('five failures for one name lock the name at all addresses, for a period that grows', async () => {
  await using site = await installation();
  const { accounts } = site.gateway;
  const attempt = (password: string, from: string): Promise<string> =>
    accounts.signIn('admin', password, from).then(
      () => 'in',
      ({ code }) => code,
    );
  for (let n = 0; n < 5; n++) expect(await attempt('wrong password', `192.0.2.${n}`)).toBe('unauthenticated');
  expect(await attempt(adminPassword, '198.51.100.1')).toBe('tooManyRequests');
  site.clock.advance(31_000);
  expect(await attempt('wrong password', '192.0.2.6')).toBe('unauthenticated');
  site.clock.advance(31_000);
  expect(await attempt(adminPassword, '198.51.100.1')).toBe('tooManyRequests');
  site.clock.advance(6 * minute);
  expect(await attempt(adminPassword, '198.51.100.1')).toBe('in');
});

const target = { protocol: 'est', domain: undefined, profile: undefined } as const;

test.each<[string, (site: Installation, guess: string) => Promise<unknown>]>([
  ['at the password of a user', ({ gateway }, guess) => gateway.accounts.signIn('admin', guess, address)],
  [
    'at the secret of a service account',
    ({ gateway }, guess) => gateway.accounts.signInService('sa_1', guess, address),
  ],
  [
    'at the password of a device',
    ({ gateway }, guess) =>
      gateway.admit({ kind: 'password', username: 'pump', password: guess, address }, target),
  ],
  [
    'at the shared secret of a device',
    ({ gateway }) =>
      gateway.admit(
        { kind: 'mac', reference: 'pump', verify: async () => false, secure: true, address },
        { ...target, protocol: 'cmp' },
      ),
  ],
])('concurrent guesses %s are not checked more often than consecutive ones', async (_at, attempt) => {
  await using site = await installation();
  await site.device('pump');
  const guesses = Array.from({ length: 20 }, (_, n) => `guess number ${n}`);
  const answers = await Promise.all(
    guesses.map((guess) =>
      attempt(site, guess).then(
        () => 'in',
        ({ code }) => code,
      ),
    ),
  );
  expect(answers.filter((code) => code === 'unauthenticated').length).toBeLessThanOrEqual(5);
  expect(answers.filter((code) => code === 'tooManyRequests').length).toBeGreaterThanOrEqual(15);
});

test('fifty failures from one address lock the address but not the names', async () => {
  await using site = await installation();
  const { device, password } = await site.device('pump');
  const attempt = (username: string, secret: string, from: string) =>
    site.gateway.admit({ kind: 'password', username, password: secret, address: from }, target).then(
      ({ device }) => device?.id,
      ({ code }) => code,
    );
  for (let n = 0; n < 50; n++)
    expect(await attempt(`guess-${n}`, 'x', '203.0.113.5')).toBe('unauthenticated');
  expect(await attempt('pump', password, '203.0.113.5')).toBe('tooManyRequests');
  expect(await attempt('pump', password, '203.0.113.6')).toBe(device.id);
});

test('a failure at one instance counts at the other instances within a second', async () => {
  await using one = await installation();
  await using two = await installation({ store: one.store, clock: one.clock });
  for (let n = 0; n < 5; n++)
    await one.gateway.accounts.signIn('admin', 'wrong password', address).catch(() => {});
  one.clock.advance(1001);
  await two.gateway.accounts.signIn('somebody', 'wrong password', address).catch(() => {});
  await expect(two.gateway.accounts.signIn('admin', adminPassword, address)).rejects.toMatchObject({
    code: 'tooManyRequests',
  });
});

test('a clock that is set back locks no account, and failures elsewhere still count', async () => {
  await using one = await installation();
  await using two = await installation({ store: one.store, clock: one.clock });
  const fail = (site: Installation, name: string) =>
    site.gateway.accounts.signIn(name, 'wrong password', address).catch(() => {});
  for (let n = 0; n < 6; n++) await fail(one, 'admin');
  await fail(two, 'somebody');
  one.clock.advance(-7_200_000);
  for (const site of [one, two]) await site.gateway.accounts.signIn('admin', adminPassword, address);
  for (let n = 0; n < 5; n++) await fail(one, 'admin');
  one.clock.advance(1001);
  await fail(two, 'somebody');
  await expect(two.gateway.accounts.signIn('admin', adminPassword, address)).rejects.toMatchObject({
    code: 'tooManyRequests',
  });
});

test('a new password ends all sessions', async () => {
  await using site = await installation();
  const { accounts } = site.gateway;
  const grant = await accounts.signIn('admin', adminPassword, address);
  await accounts.setPassword('admin', 'another long password', site.admin.actor);
  await expect(accounts.principal(grant.user, grant.session, address)).rejects.toMatchObject({
    code: 'unauthenticated',
  });
  await expect(accounts.signIn('admin', adminPassword, address)).rejects.toMatchObject({
    code: 'unauthenticated',
  });
  expect((await accounts.signIn('admin', 'another long password', address)).generation).toBe(0);
});

test('addresses in one IPv6 network count as one address', async () => {
  await using site = await installation();
  const target = { protocol: 'est', domain: undefined, profile: undefined } as const;
  const attempt = (address: string) =>
    site.gateway
      .admit({ kind: 'password', username: `guess-${address}`, password: 'x', address }, target)
      .then(
        () => 'in',
        ({ code }) => code,
      );
  for (let n = 1; n <= 50; n++) expect(await attempt(`2001:db8::${n.toString(16)}`)).toBe('unauthenticated');
  expect(await attempt('2001:db8:0:0:1:2:3:4')).toBe('tooManyRequests');
  expect(await attempt('2001:db8:0:1::1')).toBe('unauthenticated');
});

test('a sign-in that began before a password change has no session after the change', async () => {
  await using site = await installation();
  const { accounts } = site.gateway;
  const signIn = accounts.signIn('admin', adminPassword, address);
  await accounts.setPassword('admin', 'another long password', site.admin.actor);
  const grant = await signIn.catch(() => undefined);
  // The sign-in may commit first: then the change has ended its session.
  if (grant) {
    await expect(accounts.principal(grant.user, grant.session, address)).rejects.toMatchObject({
      code: 'unauthenticated',
    });
    return;
  }
  const open = await site.store.count('session', [{ field: 'isRevoked', is: 'equal', value: false }], 10);
  expect(open).toBe(0);
});
