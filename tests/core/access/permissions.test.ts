import { expect, test } from 'bun:test';
import type { Permission } from '#core/access/permissions.ts';
import type { Principal } from '#core/access/principal.ts';
import type { Gateway } from '#core/gateway.ts';
import { installation } from '#tests/fixtures/installation.ts';

/** Returns a signed-in account with these permissions. */
const principal = (...permissions: Permission[]): Principal =>
  ({
    actor: { kind: 'user', id: 1, name: 'jo', address: '' },
    permissions: new Set(permissions),
  }) as unknown as Principal;

/** The permission that each use case requires, whoever calls it and over any protocol. */
const table: readonly (readonly [Permission, (gateway: Gateway, who: Principal) => unknown])[] = [
  ['accounts.read', ({ users }, who) => users.list(who, { limit: 1 })],
  ['accounts.read', ({ roles }, who) => roles.read(who, 1)],
  ['accounts.read', ({ serviceAccounts }, who) => serviceAccounts.list(who, { limit: 1 })],
  ['accounts.write', ({ users }, who) => users.remove(who, 999)],
  ['accounts.write', ({ roles }, who) => roles.update(who, 999, {})],
  ['accounts.write', ({ serviceAccounts }, who) => serviceAccounts.rotate(who, 999)],
  ['audit.read', ({ auditEvents }, who) => auditEvents.list(who, { limit: 1 })],
  ['audit.read', ({ auditEvents }, who) => auditEvents.read(who, 1)],
  ['audit.read', ({ auditEvents }, who) => auditEvents.verify(who)],
  ['backups.read', ({ backups }, who) => backups.list(who, { limit: 1 })],
  ['backups.write', ({ backups }, who) => backups.run(who, 999)],
  ['cas.read', ({ issuingCas }, who) => issuingCas.list(who, { limit: 1 })],
  ['certificates.read', ({ certificates }, who) => certificates.list(who, { limit: 1 })],
  [
    'certificates.revoke',
    ({ certificates }, who) => certificates.revoke(who, 999, { reason: 'unspecified' }),
  ],
  ['certificates.write', ({ certificates }, who) => certificates.remove(who, 999)],
  ['credentials.read', ({ credentials }, who) => credentials.list(who, { limit: 1 })],
  ['devices.read', ({ devices }, who) => devices.list(who, { limit: 1 })],
  ['devices.write', ({ devices }, who) => devices.remove(who, 999)],
  ['domains.read', ({ domains }, who) => domains.list(who, { limit: 1 })],
  ['domains.write', ({ domains }, who) => domains.remove(who, 999)],
  ['logs.read', ({ logFiles }, who) => logFiles.list(who)],
  ['logs.read', ({ logFiles }, who) => logFiles.read(who, 'postern.log')],
  ['logs.write', ({ logFiles }, who) => logFiles.remove(who, 'postern.log')],
  ['metrics.read', ({ metrics }, who) => metrics(who)],
  ['profiles.read', ({ profiles }, who) => profiles.list(who, { limit: 1 })],
  ['profiles.write', ({ profiles }, who) => profiles.remove(who, 999)],
  ['settings.read', ({ settings }, who) => settings.read(who)],
  ['settings.write', ({ settings }, who) => settings.change(who, {})],
  ['signers.read', ({ signers }, who) => signers.list(who, { limit: 1 })],
  ['truststores.read', ({ truststores }, who) => truststores.list(who, { limit: 1 })],
  ['truststores.write', ({ truststores }, who) => truststores.remove(who, 999)],
];

test('each use case checks its permission itself', async () => {
  await using site = await installation();
  const outcome = async (act: (typeof table)[number][1], who: Principal): Promise<unknown> => {
    try {
      await act(site.gateway, who);
      return 'done';
    } catch (error) {
      return (error as { code?: string; detail?: string }).code === 'forbidden'
        ? (error as { detail: string }).detail
        : 'done';
    }
  };
  for (const [permission, act] of table) {
    const says = `this requires the permission ${permission}`;
    expect(await outcome(act, principal())).toBe(says);
    expect([permission, await outcome(act, principal(permission))]).toEqual([permission, 'done']);
  }
});
