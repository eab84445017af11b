import { expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { installation } from '#tests/fixtures/installation.ts';

test('what maintenance cannot do keeps nothing else from being done', async () => {
  await using site = await installation();
  await site.gateway.settings.change(site.admin, { logRetentionDays: 1 });
  rmSync(site.logDirectory, { recursive: true });
  const failure = await site.gateway.maintain('test').catch((error) => error);
  expect(failure.detail).toBe('the log directory is out of reach');
  expect(await site.audit('audit.anchor')).toHaveLength(1);
});
