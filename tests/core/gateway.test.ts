import { expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import type { Kind, Query } from '#core/ports/store.ts';
import { installation } from '#tests/fixtures/installation.ts';

test('maintenance continues with the other tasks when one fails', async () => {
  await using site = await installation();
  await site.gateway.settings.change(site.admin, { logRetentionDays: 1 });
  rmSync(site.logDirectory, { recursive: true });
  const { list } = site.store;
  site.store.list = (async (kind: Kind, query: Query<Kind>) => {
    if (kind === 'issuingCa') throw new Error('no CAs');
    return list.call(site.store, kind, query);
  }) as typeof list;
  const failure = await site.gateway.maintain('test').catch((error) => error);
  expect(failure.message).toBe('no CAs');
  // A failure does not hide another one.
  const logged = site.log.entries.flatMap(({ level, cause }) => (level === 'error' ? [cause] : []));
  expect(logged).toContainEqual(expect.objectContaining({ detail: 'the log directory cannot be read' }));
  expect(await site.audit('audit.anchor')).toHaveLength(1);
});

test('CA certificates are returned only for a profile that the domain offers', async () => {
  await using site = await installation();
  const { gateway } = site;
  const chain = await gateway.caCertificates(undefined);
  expect(await gateway.caCertificates('default', 'domain_credential')).toEqual(chain);
  await expect(gateway.caCertificates('default', 'nothing')).rejects.toMatchObject({ code: 'notFound' });
  await expect(gateway.caCertificates(undefined, 'issuing_ca')).rejects.toMatchObject({ code: 'forbidden' });
});
