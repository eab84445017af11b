import { expect, test } from 'bun:test';
import { installation } from '#tests/fixtures/installation.ts';

test('the profile of domain credentials cannot be renamed, so that no other profile can replace it', async () => {
  await using site = await installation();
  const { profiles } = site.gateway;
  const own = await site.store.find('profile', { uniqueName: 'domain_credential' });
  const server = await site.store.find('profile', { uniqueName: 'tls_server' });
  const renamed = (id: number, uniqueName: string) =>
    profiles.update(site.admin, id, { uniqueName }).then(
      (record) => record.uniqueName,
      ({ code }) => code,
    );
  expect(await renamed(own!.id, 'other')).toBe('conflict');
  expect(await profiles.remove(site.admin, own!.id).catch(({ code }) => code)).toBe('conflict');
  expect(await renamed(server!.id, 'domain_credential')).toBe('conflict');
  expect(await renamed(own!.id, 'domain_credential')).toBe('domain_credential');
  expect(await renamed(server!.id, 'web')).toBe('web');
});
