import { expect, test } from 'bun:test';
import { type Permission, permissions, shippedRoles } from '#core/access/permissions.ts';
import { adminPassword, type Installation, installation } from '#tests/fixtures/installation.ts';

const restart = ({ gateway }: Installation) =>
  gateway.bootstrap({ adminPassword, holder: 'test' }, () => Promise.resolve());

const roleNamed = async ({ store }: Installation, uniqueName: string) =>
  (await store.find('role', { uniqueName }))!;

/** Changes a role to that of a release with other permissions. */
async function shippedBefore(site: Installation, uniqueName: string, was: readonly Permission[]) {
  const { id } = await roleNamed(site, uniqueName);
  await site.store.commit([{ op: 'update', kind: 'role', id, set: { permissions: was } }]);
}

test('a built-in role gets the permissions of the release at the next start', async () => {
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

test('a built-in role that an administrator changed is not updated', async () => {
  await using site = await installation();
  const { id } = await roleNamed(site, 'Operator');
  const fewer = shippedRoles.Operator!.permissions.filter((permission) => permission !== 'signers.sign');
  await site.gateway.roles.update(site.admin, id, { permissions: fewer });
  await restart(site);
  expect((await roleNamed(site, 'Operator')).permissions).toEqual(fewer);
});

test('a start writes nothing when the built-in roles are up to date', async () => {
  await using site = await installation();
  await restart(site);
  expect(await site.audit('role.ship')).toEqual([]);
});

test('a built-in role that an administrator deleted or renamed is not recreated', async () => {
  await using site = await installation();
  const { roles } = site.gateway;
  await roles.remove(site.admin, (await roleNamed(site, 'Auditor')).id);
  await roles.update(site.admin, (await roleNamed(site, 'Operator')).id, { uniqueName: 'Line' });
  await restart(site);
  const { records } = await roles.list(site.admin, { limit: 10 });
  expect(records.map(({ uniqueName }) => uniqueName).sort()).toEqual(['Admin', 'Default', 'Line']);
});

test('a role that an administrator created under the name of a deleted built-in role is not updated', async () => {
  await using site = await installation();
  const { roles } = site.gateway;
  await roles.remove(site.admin, (await roleNamed(site, 'Operator')).id);
  await roles.create(site.admin, { uniqueName: 'Operator', permissions: ['devices.read'] });
  await restart(site);
  expect((await roleNamed(site, 'Operator')).permissions).toEqual(['devices.read']);
});

test('a built-in role of a new release is created', async () => {
  await using site = await installation();
  const { id } = (await site.store.find('setting', { name: 'shipped-roles' }))!;
  const value = Buffer.from(JSON.stringify({ names: ['Admin', 'Operator', 'Default'] }));
  await site.store.commit([{ op: 'update', kind: 'setting', id, set: { value } }]);
  await site.gateway.roles.remove(site.admin, (await roleNamed(site, 'Auditor')).id);
  await restart(site);
  expect((await roleNamed(site, 'Auditor')).permissions).toEqual(shippedRoles.Auditor!.permissions);
});
