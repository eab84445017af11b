import { describe, expect, test } from 'bun:test';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import type { ImportRow } from '#core/devices/import/row.ts';
import { Fault } from '#core/fault.ts';
import type { Store } from '#core/ports/store.ts';
import {
  type Installation,
  installation,
  password,
  request,
  testClock,
} from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';

type Values = Readonly<Record<string, string>>;

async function* rowsOf(rows: readonly Values[]): AsyncGenerator<ImportRow> {
  let line = 1;
  for (const values of rows) yield { line: ++line, values };
}

const start = (site: Installation, rows: readonly Values[], columns = Object.keys(rows[0] ?? {})) =>
  site.gateway.deviceImports.create(site.admin, { fileName: 'pumps.csv', columns, rows: rowsOf(rows) });

async function failure(work: Promise<unknown>): Promise<Fault> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof Fault) return error;
  throw new Error('no Fault');
}

const pumps = (count: number, from = 1) =>
  Array.from({ length: count }, (_, n) => ({
    common_name: `pump-${from + n}`,
    serial_number: `SN-${from + n}`,
  }));

const everything = <T>(page: { readonly records: readonly T[] }) => page.records;

async function deviceNames({ store }: Installation): Promise<string[]> {
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const order = { field: 'id', descending: false } as const;
    const page = await store.list('device', { order, limit: 1000, ...(cursor && { cursor }) });
    names.push(...page.records.map(({ commonName }) => commonName));
    cursor = page.next;
  } while (cursor);
  return names;
}

test('rows create devices in order, whose own secrets work for enrolment', async () => {
  await using site = await installation();
  const { gateway, admin } = site;
  const { id, state, total } = await start(site, pumps(600));
  expect([state, total]).toEqual(['waiting', 600]);
  expect(await deviceNames(site)).toEqual([]);
  await gateway.proceedImports();
  const record = await gateway.deviceImports.read(admin, id);
  expect(record).toMatchObject({ state: 'done', total: 600, done: 600, created: 600, refused: 0 });
  expect(record.finishedAt).toBe(site.clock.now());
  expect(await deviceNames(site)).toEqual(pumps(600).map(({ common_name }) => common_name));
  const first = await gateway.deviceImports.credentials(admin, id);
  const second = await gateway.deviceImports.credentials(admin, id, first.next);
  const credentials = [...first.records, ...second.records];
  expect(credentials).toHaveLength(600);
  expect(new Set(credentials.flatMap((one) => [one.estPassword, one.cmpSharedSecret])).size).toBe(1200);
  const { commonName, estPassword } = credentials[599]!;
  await site.enrol(password(commonName, estPassword!), {}, request(testKey('p-256'), `CN=${commonName}`));
  // Nothing of the upload remains.
  expect(everything(await site.store.list('deviceImportPart', { limit: 10 }))).toEqual([]);
  expect(await site.audit('device.create')).toHaveLength(600);
  expect((await site.audit('deviceImport.finish')).map(({ detail }) => detail)).toEqual([
    { created: 600, refused: 0 },
  ]);
});

describe('a row of an import', () => {
  const long = 'x'.repeat(101);
  const secret = 'a secret of its own'.replaceAll(' ', '-');
  test.each<[string, Values, readonly (readonly [string, string])[]]>([
    ['without a name', { common_name: ' ' }, [['common_name', 'this is needed']]],
    ['with a long name', { common_name: long }, [['common_name', 'at most 100 characters are allowed']]],
    [
      'with control characters',
      { common_name: 'a\nb', serial_number: '\u0085x' },
      [
        ['common_name', 'control characters are not allowed'],
        ['serial_number', 'control characters are not allowed'],
      ],
    ],
    [
      'of a strange type',
      { common_name: 'a', device_type: '4' },
      [['device_type', 'this must be 0, 1, 2 or 3']],
    ],
    ['of no domain', { common_name: 'a', domain: 'nowhere' }, [['domain', 'this name does not exist']]],
    [
      'of no protocol',
      { common_name: 'a', protocols: 'est scep' },
      [['protocols', 'this must be a list of cmp, est, rest, manual, separated by spaces']],
    ],
    [
      'with a weak secret',
      { common_name: 'a', est_password: 'short', cmp_shared_secret: 'ü'.repeat(20) },
      ['est_password', 'cmp_shared_secret'].map((field) => [
        field,
        'this must be 16 to 256 ASCII characters without spaces, or none',
      ]),
    ],
    [
      'of no truststore',
      { common_name: 'a', idevid_truststore: 'x' },
      [['idevid_truststore', 'this name does not exist']],
    ],
  ])(
    '%s is rejected with its line and fields, and the other rows are imported',
    async (_, values, refusals) => {
      await using site = await installation();
      const { id } = await start(site, [values, { common_name: 'fine' }], Object.keys(values));
      await site.gateway.proceedImports();
      expect(await deviceNames(site)).toEqual(['fine']);
      expect((await site.gateway.deviceImports.refusals(site.admin, id)).records).toEqual(
        refusals.map(([field, message]) => ({ line: 2, field, message })),
      );
      const record = await site.gateway.deviceImports.read(site.admin, id);
      expect(record).toMatchObject({ state: 'done', created: 1, refused: 1 });
    },
  );

  test('with a name that exists in the store or earlier in the file is rejected', async () => {
    await using site = await installation();
    await site.device('pump-3');
    const { id } = await start(site, [...pumps(300), ...pumps(2)]);
    await site.gateway.proceedImports();
    const { records } = await site.gateway.deviceImports.refusals(site.admin, id);
    expect(records.map(({ line, field }) => [line, field])).toEqual([
      [4, 'common_name'],
      [302, 'common_name'],
      [303, 'common_name'],
    ]);
    expect(await deviceNames(site)).toHaveLength(300);
  });

  test('sets the domain, protocols, secrets and pending IDevID of its device', async () => {
    await using site = await installation();
    const { gateway, admin, store } = site;
    const plant = await gateway.domains.create(admin, { uniqueName: 'plant' });
    const root = await gateway.caCertificate(1);
    const makers = await gateway.truststores.create(admin, {
      uniqueName: 'makers',
      intendedUsage: 0,
      certificates: [root],
    });
    const { id } = await start(site, [
      {
        common_name: 'own',
        domain: 'plant',
        protocols: 'EST',
        est_password: secret,
        cmp_shared_secret: 'none',
        device_type: '2',
        serial_number: '',
        idevid_truststore: '',
      },
      {
        common_name: 'idevid',
        domain: '',
        protocols: '',
        est_password: '',
        cmp_shared_secret: '',
        device_type: '',
        serial_number: 'SN-9',
        idevid_truststore: 'makers',
      },
    ]);
    await gateway.proceedImports();
    const { records } = await gateway.deviceImports.credentials(admin, id);
    expect(
      records.map(({ commonName, domain, estPassword, cmpSharedSecret }) => [
        commonName,
        domain,
        estPassword,
        cmpSharedSecret,
      ]),
    ).toEqual([
      ['own', 'plant', secret, null],
      ['idevid', 'default', null, null],
    ]);
    const own = (await store.find('device', { commonName: 'own' }))!;
    expect(own).toMatchObject({ domain: plant.id, deviceType: 2, onboardingConfig: null });
    expect((await store.get('noOnboardingConfig', own.noOnboardingConfig!))!.protocols).toEqual(['est']);
    const idevid = (await store.find('device', { commonName: 'idevid' }))!;
    expect(await store.get('onboardingConfig', idevid.onboardingConfig!)).toMatchObject({
      idevidTruststore: makers.id,
      onboardingStatus: 1,
    });
  });
});

describe('a table is rejected completely, and nothing of it remains', () => {
  test.each<[string, readonly string[], string]>([
    ['with an unknown column', ['common_name', 'colour'], 'line 1: there is no column called "colour"'],
    ['with a column twice', ['common_name', 'common_name'], 'line 1: the column common_name is there twice'],
    ['without the column common_name', ['serial_number'], 'line 1: the column common_name is missing'],
    [
      'with a column __proto__',
      ['common_name', '__proto__'],
      'line 1: there is no column called "__proto__"',
    ],
  ])('%s', async (_, columns, detail) => {
    await using site = await installation();
    const refusal = await failure(start(site, pumps(1), [...columns]));
    expect(refusal).toMatchObject({ code: 'malformed', field: 'file' });
    expect(refusal.detail).toStartWith(detail);
    expect(everything(await site.store.list('deviceImport', { limit: 5 }))).toEqual([]);
  });

  test('without rows or with a truncated upload', async () => {
    await using site = await installation();
    expect(await failure(start(site, [], ['common_name']))).toMatchObject({
      code: 'malformed',
      field: 'file',
    });
    const broken = async function* (): AsyncGenerator<ImportRow> {
      yield* rowsOf(pumps(700));
      throw new Fault('malformed', 'line 702: a quoted value is not closed', { field: 'file' });
    };
    const input = { fileName: '', columns: ['common_name', 'serial_number'], rows: broken() };
    expect(await failure(site.gateway.deviceImports.create(site.admin, input))).toMatchObject({
      detail: 'line 702: a quoted value is not closed',
    });
    expect(everything(await site.store.list('deviceImport', { limit: 5 }))).toEqual([]);
    expect(everything(await site.store.list('deviceImportPart', { limit: 5 }))).toEqual([]);
  });

  test('with secrets, for an account that may not set secrets', async () => {
    await using site = await installation();
    const writer = {
      ...site.admin,
      permissions: new Set(['devices.read', 'devices.write']),
    } as typeof site.admin;
    const input = { fileName: '', columns: ['common_name', 'est_password'], rows: rowsOf(pumps(1)) };
    const { deviceImports } = site.gateway;
    expect(await failure(deviceImports.create(writer, input))).toMatchObject({
      code: 'forbidden',
      detail: 'this requires the permission devices.secrets',
    });
  });
});

/** A store whose commits fail from the `n`th on, either before or after they take effect. */
function failing(store: Store, fails: (n: number) => 'before' | 'after' | undefined): Store {
  let n = 0;
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (name !== 'commit') return member.bind(target);
      return async (writes: Parameters<Store['commit']>[0]) => {
        const isPart = writes.some((write) => write.op === 'insert' && write.kind === 'device');
        const when = isPart ? fails(++n) : undefined;
        if (when === 'before') throw new Fault('unavailable', 'the database is unreachable');
        const ids = await target.commit(writes);
        if (when === 'after') throw new Fault('unavailable', 'the database is unreachable');
        return ids;
      };
    },
  });
}

test('an import that is interrupted repeatedly, before or after a commit, creates each device once', async () => {
  const clock = testClock();
  const store = failing(await openSqliteStore({ path: ':memory:', clock }), (n) =>
    n % 3 === 1 ? 'before' : n % 3 === 2 ? 'after' : undefined,
  );
  await using site = await installation({ store, clock });
  const { id } = await start(site, pumps(1000));
  let cuts = 0;
  for (;;) {
    const failed = await site.gateway.proceedImports().then(
      () => false,
      () => true,
    );
    if (!failed) break;
    cuts++;
  }
  expect(cuts).toBeGreaterThan(2);
  expect(await deviceNames(site)).toEqual(pumps(1000).map(({ common_name }) => common_name));
  const record = await site.gateway.deviceImports.read(site.admin, id);
  expect(record).toMatchObject({ state: 'done', done: 1000, created: 1000, refused: 0 });
});

test('a cancelled import stops, keeps the devices it created, deletes its rows, and can be deleted', async () => {
  const clock = testClock();
  let cancel: (() => Promise<unknown>) | undefined;
  const inner = await openSqliteStore({ path: ':memory:', clock });
  const store = new Proxy(inner, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (name !== 'commit') return member.bind(target);
      return async (writes: Parameters<Store['commit']>[0]) => {
        const ids = await target.commit(writes);
        const isPart = writes.some((write) => write.op === 'insert' && write.kind === 'device');
        if (isPart) await cancel?.();
        return ids;
      };
    },
  });
  await using site = await installation({ store, clock });
  const { deviceImports } = site.gateway;
  const { id } = await start(site, pumps(6000));
  expect(await failure(deviceImports.remove(site.admin, id))).toMatchObject({ code: 'conflict' });
  let parts = 0;
  cancel = async () => (++parts === 2 ? deviceImports.cancel(site.admin, id) : undefined);
  await site.gateway.proceedImports();
  expect(await deviceImports.read(site.admin, id)).toMatchObject({ state: 'cancelled', done: 500 });
  expect(await deviceNames(site)).toHaveLength(500);
  expect(everything(await site.store.list('deviceImportPart', { limit: 5 }))).toEqual([]);
  expect(await failure(deviceImports.cancel(site.admin, id))).toMatchObject({ code: 'conflict' });
  await deviceImports.remove(site.admin, id);
  expect(await deviceNames(site)).toHaveLength(500);
});

test('one instance imports at a time, and another continues when the first is gone', async () => {
  await using site = await installation();
  const { id } = await start(site, pumps(10));
  await site.store.lease('device-imports', 'another instance', 15);
  await site.gateway.proceedImports();
  expect((await site.gateway.deviceImports.read(site.admin, id)).state).toBe('waiting');
  site.clock.advance(15_001);
  await site.gateway.proceedImports();
  expect((await site.gateway.deviceImports.read(site.admin, id)).state).toBe('done');
});

test('an unreadable import fails, and the imports after it continue', async () => {
  await using site = await installation();
  const { deviceImports } = site.gateway;
  const broken = await start(site, pumps(10));
  const [part] = (await site.store.list('deviceImportPart', { limit: 1 })).records;
  await site.store.commit([
    { op: 'update', kind: 'deviceImportPart', id: part!.id, set: { rows: new Uint8Array(40) } },
  ]);
  const fine = await start(site, pumps(10));
  await site.gateway.proceedImports();
  expect(await deviceImports.read(site.admin, broken.id)).toMatchObject({
    state: 'failed',
    reason: 'internal error',
    finishedAt: site.clock.now(),
  });
  expect(await deviceImports.read(site.admin, fine.id)).toMatchObject({ state: 'done', created: 10 });
  expect(site.log.entries.length).toBeGreaterThan(0);
});
