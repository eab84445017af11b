import { expect, test } from 'bun:test';
import { createVault } from '#adapters/outbound/system/vault.ts';
import type { Store } from '#core/ports/store.ts';
import { installation } from '#tests/fixtures/installation.ts';

const [oldKey, newKey] = [1, 2].map((octet) => new Uint8Array(32).fill(octet)) as [Uint8Array, Uint8Array];

/** The sealed values of the store with their purposes. */
async function sealed(store: Store): Promise<[secret: Uint8Array, context: string][]> {
  const found: [Uint8Array, string][] = [];
  const setting = await store.find('setting', { name: 'token-key' });
  found.push([setting!.value, 'token key']);
  for (const kind of ['onboardingConfig', 'noOnboardingConfig'] as const) {
    for (const { estPassword, cmpSharedSecret } of (await store.list(kind, { limit: 1000 })).records) {
      if (estPassword) found.push([estPassword, 'device est_password']);
      if (cmpSharedSecret) found.push([cmpSharedSecret, 'device cmp_shared_secret']);
    }
  }
  for (const { secret, handle } of (await store.list('webhook', { limit: 1000 })).records)
    found.push([secret, `webhook secret ${handle}`]);
  for (const { rows } of (await store.list('deviceImportPart', { limit: 1000 })).records)
    if (rows) found.push([rows, 'device import rows']);
  return found;
}

test('a rotation that fails at any commit is completed by the next one, and nothing stays under the old key', async () => {
  await using made = await installation({ vault: createVault(oldKey) });
  const { store, clock, admin } = made;
  for (let n = 0; n < 3; n++) await made.device(`pump-${n}`);
  await made.gateway.onboardingConfigs.create(admin, {});
  await made.gateway.webhooks.create(admin, {
    uniqueName: 'hook',
    url: 'http://127.0.0.1:9/',
    events: ['certificate.issued'],
    isActive: false,
  });
  async function* rows() {
    yield { line: 2, values: { common_name: 'valve' } };
  }
  await made.gateway.deviceImports.create(admin, {
    fileName: 'valves.csv',
    columns: ['common_name'],
    rows: rows(),
  });
  const before = await sealed(store);
  expect(new Set(before.map(([, context]) => context.split(' ', 2).join(' '))).size).toBe(5);

  const rotating = createVault([newKey, oldKey]);
  const plain = before.map(([secret, context]) =>
    Buffer.from(rotating.open(secret, context)).toString('hex'),
  );
  const commit = store.commit.bind(store);
  await using site = await installation({ store, clock, vault: rotating });
  let attempts = 0;
  for (let left = 0; ; left++) {
    let calls = 0;
    store.commit = (writes) => (calls++ === left ? Promise.reject(new Error('cut off')) : commit(writes));
    attempts++;
    const done = await site.gateway.rotateSecrets(admin).catch(() => undefined);
    store.commit = commit;
    if (done !== undefined) break;
  }
  expect(attempts).toBeGreaterThan(5);
  const after = await sealed(store);
  const onlyNew = createVault(newKey);
  expect(
    after.map(([secret, context]) => Buffer.from(onlyNew.open(secret, context)).toString('hex')),
  ).toEqual(plain);
  expect(await site.gateway.rotateSecrets(admin)).toBe(0);
  const [begun, ended] = [await site.audit('secrets.rotationBegun'), await site.audit('secrets.rotated')];
  expect([begun.length > ended.length, ended.length]).toEqual([true, 2]);
  expect((await site.gateway.auditEvents.verify(admin)).problems).toEqual([]);
});

test('a secret that changes during the rotation keeps the change', async () => {
  await using made = await installation({ vault: createVault(oldKey) });
  const { device } = await made.device('pump');
  const id = device.noOnboardingConfig!;
  const { store, clock, admin } = made;
  await using site = await installation({ store, clock, vault: createVault([newKey, oldKey]) });
  const commit = store.commit.bind(store);
  let changed = false;
  store.commit = async (writes) => {
    const isReseal = writes.some((write) => write.op === 'update' && write.kind === 'noOnboardingConfig');
    if (isReseal && !changed) {
      changed = true;
      await made.gateway.noOnboardingConfigs.update(admin, id, { estPassword: 'another password of it' });
    }
    return commit(writes);
  };
  await site.gateway.rotateSecrets(admin);
  store.commit = commit;
  expect(changed).toBe(true);
  const record = await store.get('noOnboardingConfig', id);
  const opened = createVault(newKey).open(record!.estPassword!, 'device est_password');
  expect(Buffer.from(opened).toString()).toBe('another password of it');
});
