import { describe, expect, test } from 'bun:test';
import type { Records, Store } from '#core/ports/store.ts';
import type { Device, NoOnboardingConfig } from '#core/records/device.ts';
import { type Databases, failure } from './store.ts';
import { insert, nullable, sampleKinds, withCa } from './store-samples.ts';

async function everything(store: Store): Promise<readonly number[]> {
  return store.commit(sampleKinds.map((kind) => insert(kind)));
}

export function recordContract({ fresh }: Databases): void {
  describe('records', () => {
    test('of every kind are read as they were inserted', async () => {
      const store = await (await fresh()).open();
      const ids = await everything(store);
      for (const [i, kind] of sampleKinds.entries()) {
        const inserted = insert(kind).values;
        const expected = { id: ids[i], ...inserted };
        expect(await store.get(kind, ids[i]!)).toEqual(expected as Records[typeof kind]);
        expect((await store.list(kind, { limit: 1 })).records).toEqual([expected as Records[typeof kind]]);
      }
    });

    test('are read with null for missing values', async () => {
      const store = await (await fresh()).open();
      const ids = await everything(store);
      for (const [i, kind] of sampleKinds.entries()) {
        const set = nullable[kind];
        if (!set) continue;
        await store.commit([
          { op: 'update', kind, id: ids[i]!, set } as Parameters<Store['commit']>[0][number],
        ]);
        expect(await store.get(kind, ids[i]!)).toMatchObject(set as object);
      }
      await store.commit([insert('device', { commonName: 'bare', ...nullable.device })]);
      expect(await store.find('device', { commonName: 'bare' })).toMatchObject(nullable.device as object);
    });

    test('bytes are a plain Uint8Array with a buffer of their own', async () => {
      const store = await (await fresh()).open();
      await everything(store);
      const setting = await store.get('setting', 1);
      expect(Object.getPrototypeOf(setting?.value)).toBe(Uint8Array.prototype);
      const chain = (await store.get('truststore', 1))?.certificates;
      expect(Object.getPrototypeOf(chain?.[0])).toBe(Uint8Array.prototype);
    });

    test('are not found by a value that is undefined, whatever the types say', async () => {
      const store = await (await fresh()).open();
      await everything(store);
      const missing = undefined as never;
      expect(await store.get('role', missing)).toBeUndefined();
      expect(await store.find('user', { username: missing })).toBeUndefined();
      const write = { op: 'update', kind: 'user', id: 1, where: { generation: missing }, set: {} } as const;
      expect(await failure(store.commit([write]))).toMatchObject({ code: 'conflict' });
    });

    test('an update changes only the fields that it sets', async () => {
      const store = await (await fresh()).open();
      await everything(store);
      const before = await store.get('user', 1);
      expect(await store.commit([{ op: 'update', kind: 'user', id: 1, set: { isActive: false } }])).toEqual([
        1,
      ]);
      expect(await store.get('user', 1)).toEqual({ ...before!, isActive: false });
    });

    test('the id of a deleted record is not used again', async () => {
      const store = await (await fresh()).open();
      const [first] = await store.commit([insert('role')]);
      expect(await store.commit([{ op: 'delete', kind: 'role', id: first! }])).toEqual([first!]);
      expect(await store.get('role', first!)).toBeUndefined();
      const [second] = await store.commit([insert('role')]);
      expect(second).toBeGreaterThan(first!);
    });

    test('a record that does not exist is not found by any look-up', async () => {
      const store = await withCa(await (await fresh()).open());
      for (const id of [0, -1, 2, 1.5, Number.NaN, 2 ** 53, 1e300, Number.POSITIVE_INFINITY]) {
        expect(await store.get('issuingCa', id)).toBeUndefined();
      }
      for (const uniqueName of ['', 'Issuing', 'issuing ', 'issuing\0', "' or 1=1 --", 'x'.repeat(100_000)]) {
        expect(await store.find('issuingCa', { uniqueName })).toBeUndefined();
      }
      expect(await store.find('issuingCa', { uniqueName: 'issuing', issuer: null })).toBeUndefined();
    });

    test('concurrent look-ups have their own results, also during a commit', async () => {
      const store = await (await fresh()).open();
      const ids = await everything(store);
      const commit = store.commit(
        ['b', 'c', '"d\\\\'].map((commonName) => insert('device', { commonName, ...nullable.device })),
      );
      const alone = [];
      for (const [i, kind] of sampleKinds.entries()) alone.push(await store.get(kind, ids[i]!));
      const asked = sampleKinds.flatMap((kind, i) => [
        store.get(kind, ids[i]!),
        store.get(kind, 999_999),
        store.find(kind, { id: ids[i]! }),
      ]);
      expect(await Promise.all(asked)).toEqual(alone.flatMap((record) => [record, undefined, record]));

      const devices = await commit;
      const names = ['"d\\\\', 'nobody', 'b', `${devices[1]}`, 'c', `${ids.length + 999}`];
      const logins = await Promise.all(names.map((name) => store.deviceLogin(name, 'estPassword')));
      const [b, c, d] = devices;
      expect(logins.map((login) => login?.device.id)).toEqual([d, undefined, b, c, c, undefined]);
      const bytes = crypto.getRandomValues(new Uint8Array(32));
      const [setting] = await store.commit([insert('setting', { name: 'bytes', value: bytes })]);
      const found = await Promise.all([
        store.find('setting', { name: 'bytes', value: bytes }),
        store.find('setting', { name: 'bytes', value: new Uint8Array(32) }),
        store.find('device', { commonName: 'b', domain: null }),
        store.find('device', { commonName: 'c', domain: null }),
      ]);
      expect(found.map((record) => record?.id)).toEqual([setting, undefined, b, c]);
    });

    test('of several records with the same values, the oldest is found', async () => {
      const store = await withCa(await (await fresh()).open());
      const names = ['a', 'b', 'c'];
      await store.commit(names.map((uniqueName) => insert('domain', { uniqueName, createdAt: 5 })));
      expect((await store.find('domain', { createdAt: 5, issuingCa: 1 }))?.uniqueName).toBe('a');
      await store.commit([{ op: 'update', kind: 'domain', id: 2, set: { issuingCa: null } }]);
      expect((await store.find('domain', { createdAt: 5, issuingCa: null }))?.uniqueName).toBe('b');
    });

    test('a value that no column can hold is rejected', async () => {
      const store = await (await fresh()).open();
      const impossible = [
        [insert('role', { uniqueName: 'a\0b' }), 'uniqueName'],
        [insert('role', { createdAt: Number.NaN }), 'createdAt'],
        [insert('role', { createdAt: 2 ** 60 }), 'createdAt'],
        [insert('role', { createdAt: 0.5 }), 'createdAt'],
        [insert('profile', { profile: undefined }), 'profile'],
      ] as const;
      for (const [write, field] of impossible) {
        expect(await failure(store.commit([write]))).toMatchObject({ code: 'malformed', field });
      }
      expect(await store.count('role', [], 10)).toBe(0);
    });
  });

  describe('deviceLogin', () => {
    test('finds a device by name, or by id if no device has that name, with the fields of its secret', async () => {
      const store = await (await fresh()).open();
      await store.commit([
        insert('noOnboardingConfig', {
          protocols: ['rest'],
          estPassword: Uint8Array.of(1),
          cmpSharedSecret: null,
        }),
        insert('onboardingConfig', { idevidTruststore: null }),
        insert('device', { commonName: 'plain', domain: null, onboardingConfig: null }),
        insert('device', { commonName: 'boarding', domain: null, noOnboardingConfig: null }),
        insert('device', { commonName: 'none', ...nullable.device }),
        insert('device', { commonName: '1', ...nullable.device }),
      ]);
      const [plain, boarding, none, one] = await Promise.all(
        [1, 2, 3, 4].map((id) => store.get('device', id)),
      );
      const noOnboarding = await store.get('noOnboardingConfig', 1);
      const onboarding = await store.get('onboardingConfig', 1);
      const rows: [string, Device | undefined, NoOnboardingConfig | undefined][] = [
        ['plain', plain, noOnboarding],
        ['boarding', boarding, onboarding],
        ['none', none, undefined],
        ['1', one, undefined],
        ['2', boarding, onboarding],
        ['3', none, undefined],
      ];
      for (const [name, device, config] of rows) {
        for (const field of ['estPassword', 'cmpSharedSecret'] as const) {
          expect(await store.deviceLogin(name, field)).toEqual({
            device: device!,
            protocols: config?.protocols ?? null,
            secret: config?.[field] ?? null,
          });
        }
      }
    });

    test('does not find a device by anything else', async () => {
      const store = await (await fresh()).open();
      await store.commit([insert('device', { commonName: 'pump-1', ...nullable.device })]);
      const strangers = ['', 'PUMP-1', 'pump-1 ', 'pump-1\0', '0', '01', '+1', '1.0', ' 1', '1e0', '2', '-1'];
      for (const name of [...strangers, '9'.repeat(16), '9'.repeat(1000), '%', "'", '\ud800']) {
        expect(await store.deviceLogin(name, 'estPassword')).toBeUndefined();
      }
    });
  });
}
