import { describe, expect, test } from 'bun:test';
import { type Api, apiAs, apiOf } from '#tests/fixtures/api.ts';
import { ask, given, person, policy, waiting } from '#tests/fixtures/approvals.ts';
import { type Installation, installation, password, request } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';

const key = testKey('p-256', 'custody');
const reason = (device: string) => ({
  detail: `this account registered or changed the device "${device}", or has seen its secrets: another account with the permission approvals.decide has to approve the request`,
  code: 'device_custodian',
  values: { device },
});

async function waitingFor(site: Installation, name: string, secret: string): Promise<number> {
  return waiting(ask(site, password(name, secret), request(key, `CN=${name}`)));
}

async function site(): Promise<Installation> {
  const made = await installation();
  await policy(made, { decision: 'manual' });
  return made;
}

/** Returns the error that the account gets for the approval, and the status of the approval. */
async function approving(api: Api, id: number): Promise<readonly [string | null, number]> {
  const { obstacle } = (await api.get(`/api/approvals/${id}/`)).body;
  return [obstacle, (await api.post(`/api/approvals/${id}/approve/`)).status];
}

test('an operator does not approve the request of a device that they registered; another account does', async () => {
  await using it = await site();
  const operator = await apiAs(it, 'Operator');
  const { body: device } = await operator.post('/api/devices/', { common_name: 'own' });
  const config = `/api/no-onboarding-configs/${device.no_onboarding_config}/`;
  const { est_password: secret } = (await operator.get(config)).body;
  const id = await waitingFor(it, 'own', secret);

  expect(await approving(operator, id)).toEqual(['device_custodian', 403]);
  const { body } = await operator.post(`/api/approvals/${id}/approve/`);
  expect(body).toEqual(reason('own'));
  expect(await approving(await apiOf(it), id)).toEqual([null, 200]);
  expect(await given(ask(it, password('own', secret), request(key, 'CN=own')))).toBeInstanceOf(Uint8Array);
});

test('a custodian may reject what the device requests', async () => {
  await using it = await site();
  const operator = await apiAs(it, 'Operator');
  const pump = await it.device('pump');
  await operator.get(`/api/devices/${pump.device.id}/commands/`);
  const id = await waitingFor(it, 'pump', pump.password);
  expect((await operator.post(`/api/approvals/${id}/reject/`)).body).toMatchObject({ state: 'rejected' });
});

describe('an account does not approve the request of a device', () => {
  const ways: readonly [string, (api: Api, device: { id: number; config: number }) => Promise<unknown>][] = [
    ['whose secrets it has read', (api, { config }) => api.get(`/api/no-onboarding-configs/${config}/`)],
    ['whose secrets it has listed', (api) => api.get('/api/no-onboarding-configs/')],
    ['whose commands it has read', (api, { id }) => api.get(`/api/devices/${id}/commands/`)],
    [
      'whose secrets it has set',
      (api, { config }) =>
        api.patch(`/api/no-onboarding-configs/${config}/`, {
          cmp_shared_secret: 'a shared secret'.repeat(2).replaceAll(' ', '-'),
        }),
    ],
    [
      'whose configuration it has changed',
      (api, { config }) => api.patch(`/api/no-onboarding-configs/${config}/`, { protocols: ['est', 'rest'] }),
    ],
    ['that it has changed', (api, { id }) => api.patch(`/api/devices/${id}/`, { serial_number: 'SN-2' })],
  ];
  test.each(ways)('%s', async (_, act) => {
    await using it = await site();
    const operator = await apiAs(it, 'Operator');
    const { device, password: secret } = await it.device('pump');
    const id = await waitingFor(it, 'pump', secret);
    // The command line registered the device, which belongs to no account.
    expect((await operator.get(`/api/approvals/${id}/`)).body.obstacle).toBeNull();
    expect(await act(operator, { id: device.id, config: device.noOnboardingConfig! })).toMatchObject({
      status: 200,
    });
    expect(await approving(operator, id)).toEqual(['device_custodian', 403]);
    expect(await approving(await apiOf(it), id)).toEqual([null, 200]);
  });

  test('that it imported, or whose imported secrets it read', async () => {
    await using it = await site();
    const { gateway } = it;
    const importer = await person(it, 'importer', 'Admin');
    const fetcher = await person(it, 'fetcher', 'Admin');
    const rows = (async function* () {
      yield { line: 2, values: { common_name: 'row-1' } };
    })();
    const made = await gateway.deviceImports.create(importer, {
      fileName: 'a.csv',
      columns: ['common_name'],
      rows,
    });
    await gateway.proceedImports();
    const page = await gateway.deviceImports.credentials(fetcher, made.id, undefined);
    const id = await waitingFor(it, 'row-1', page.records[0]!.estPassword!);
    for (const principal of [importer, fetcher]) {
      await expect(gateway.approvals.approve(principal, id, { comment: '' })).rejects.toThrow(
        reason('row-1').detail,
      );
    }
  });
});

test('when many accounts read a secret concurrently, all are recorded', async () => {
  await using it = await site();
  const { device, password: secret } = await it.device('pump');
  const people = await Promise.all(['a', 'b', 'c', 'd'].map((name) => person(it, name)));
  await Promise.all(
    people.map((one) => it.gateway.noOnboardingConfigs.read(one, device.noOnboardingConfig!)),
  );
  const id = await waitingFor(it, 'pump', secret);
  for (const one of people) {
    await expect(it.gateway.approvals.approve(one, id, { comment: '' })).rejects.toMatchObject({
      code: 'forbidden',
    });
  }
});

test('reading the same secrets again writes only an audit event', async () => {
  await using it = await site();
  const { device } = await it.device('pump');
  const reader = await person(it, 'reader');
  const look = () => it.gateway.noOnboardingConfigs.read(reader, device.noOnboardingConfig!);
  await look();
  const ops: string[] = [];
  const { commit } = it.store;
  it.store.commit = (writes) => {
    ops.push(...writes.map(({ op }) => op));
    return commit.call(it.store, writes);
  };
  await look();
  expect(ops).toEqual(['audit']);
});

test('an account that reads the secrets while its approval is checked does not approve the request', async () => {
  await using it = await site();
  const { gateway, store } = it;
  const { device, password: secret } = await it.device('pump');
  const reader = await person(it, 'reader');
  const id = await waitingFor(it, 'pump', secret);
  const { commit } = store;
  let reads = 0;
  store.commit = async (writes) => {
    // Between the check and the commit of the approval.
    if (writes.some((write) => write.op === 'insert' && write.kind === 'approvalDecision') && reads++ === 0) {
      await gateway.noOnboardingConfigs.read(reader, device.noOnboardingConfig!);
    }
    return commit.call(store, writes);
  };
  await expect(gateway.approvals.approve(reader, id, { comment: '' })).rejects.toThrow(reason('pump').detail);
  expect(reads).toBe(1);
  expect(await store.get('approval', id)).toMatchObject({ state: 'waiting', approvals: 0 });
  expect(await store.count('approvalDecision', [], 10)).toBe(0);
  store.commit = commit;
  const other = await person(it, 'other');
  expect(await gateway.approvals.approve(other, id, { comment: '' })).toMatchObject({ state: 'granted' });
});
