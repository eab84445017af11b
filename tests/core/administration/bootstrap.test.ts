import { expect, test } from 'bun:test';
import { type Permission, permissions, shippedRoles } from '#core/access/permissions.ts';
import { adminPassword, type Installation, installation } from '#tests/fixtures/installation.ts';

const restart = ({ gateway }: Installation) =>
  gateway.bootstrap({ adminPassword, holder: 'test' }, () => Promise.resolve());

const roleNamed = async ({ store }: Installation, uniqueName: string) =>
  (await store.find('role', { uniqueName }))!;

/** As a version left it that knew other permissions. */
async function shippedBefore(site: Installation, uniqueName: string, was: readonly Permission[]) {
  const { id } = await roleNamed(site, uniqueName);
  await site.store.commit([{ op: 'update', kind: 'role', id, set: { permissions: was } }]);
}

test('a role that is shipped has at the next start what it is shipped with by then', async () => {
  await using site = await installation();
  await shippedBefore(site, 'Auditor', ['devices.read', 'audit.read']);
  await shippedBefore(site, 'Default', ['devices.read', 'audit.read', 'profiles.read']);
  await shippedBefore(site, 'Admin', ['devices.read']);
  await restart(site);
  for (const uniqueName of ['Auditor', 'Default', 'Admin'])
    expect((await roleNamed(site, uniqueName)).permissions).toEqual(shippedRoles[uniqueName]!.permissions);
  expect((await roleNamed(site, 'Admin')).permissions).toEqual(permissions);
  expect((await site.audit('role.ship')).map(({ detail }) => detail.uniqueName)).toEqual([
    'Admin',
    'Auditor',
    'Default',
  ]);
});

test('a role that an administrator has changed stays as it is', async () => {
  await using site = await installation();
  const { id } = await roleNamed(site, 'Operator');
  const fewer = shippedRoles.Operator!.permissions.filter((permission) => permission !== 'signers.sign');
  await site.gateway.roles.update(site.admin, id, { permissions: fewer });
  await restart(site);
  expect((await roleNamed(site, 'Operator')).permissions).toEqual(fewer);
});

test('a start that finds the roles as they are shipped writes nothing', async () => {
  await using site = await installation();
  await restart(site);
  expect(await site.audit('role.ship')).toEqual([]);
});

test('a role that an administrator has deleted or renamed does not come back', async () => {
  await using site = await installation();
  const { roles } = site.gateway;
  await roles.remove(site.admin, (await roleNamed(site, 'Auditor')).id);
  await roles.update(site.admin, (await roleNamed(site, 'Operator')).id, { uniqueName: 'Line' });
  await restart(site);
  const { records } = await roles.list(site.admin, { limit: 10 });
  expect(records.map(({ uniqueName }) => uniqueName).sort()).toEqual(['Admin', 'Default', 'Line']);
});

test('a role that an administrator has made under the name of a deleted one stays theirs', async () => {
  await using site = await installation();
  const { roles } = site.gateway;
  await roles.remove(site.admin, (await roleNamed(site, 'Operator')).id);
  await roles.create(site.admin, { uniqueName: 'Operator', permissions: ['devices.read'] });
  await restart(site);
  expect((await roleNamed(site, 'Operator')).permissions).toEqual(['devices.read']);
});

test('a role that a newer version brings is made beside the others', async () => {
  await using site = await installation();
  const { id } = (await site.store.find('setting', { name: 'shipped-roles' }))!;
  const value = Buffer.from(JSON.stringify({ names: ['Admin', 'Operator', 'Default'] }));
  await site.store.commit([{ op: 'update', kind: 'setting', id, set: { value } }]);
  await site.gateway.roles.remove(site.admin, (await roleNamed(site, 'Auditor')).id);
  await restart(site);
  expect((await roleNamed(site, 'Auditor')).permissions).toEqual(shippedRoles.Auditor!.permissions);
});
