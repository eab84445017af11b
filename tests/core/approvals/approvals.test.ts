import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import type { Principal } from '#core/access/principal.ts';
import { Fault } from '#core/fault.ts';
import { unsettledRestore } from '#core/ports/snapshot.ts';
import type { Store } from '#core/ports/store.ts';
import type { Approval, CertificateContent } from '#core/records/approval.ts';
import type { Evidence } from '#core/requester/evidence.ts';
import { ask, given, person, policy, verdict, waiting } from '#tests/fixtures/approvals.ts';
import {
  type Installation,
  installation,
  password,
  request,
  testClock,
} from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';

const day = 24 * 3_600_000;
const comment = { comment: 'as agreed' };
const key = testKey('p-256', 'pump');
const server = { profile: 'tls_server' };

let site: Installation;
let pump: Evidence;
let jo: Principal;
let kim: Principal;

beforeEach(async () => {
  site = await installation();
  pump = password('pump-1', (await site.device('pump-1')).password);
  jo = await person(site, 'jo');
  kim = await person(site, 'kim');
});
afterEach(() => site[Symbol.asyncDispose]());

/** Signs anew each time, so that the octets differ. */
const wish = () => request(key, 'CN=pump-1', ['DNS:pump-1.plant.example']);
const asked = (target = server) => ask(site, pump, wish(), target);
const approve = (id: number, who: Principal) => site.gateway.approvals.approve(who, id, comment);
const reject = (id: number, who: Principal) => site.gateway.approvals.reject(who, id, comment);
const approvals = async (): Promise<readonly Approval[]> =>
  (await site.store.list('approval', { limit: 1000, order: { field: 'id', descending: false } })).records;
const states = async () => (await approvals()).map(({ state }) => state);
const actions = async () =>
  (await site.audit()).map(({ action }) => action).filter((action) => action.startsWith('approval.'));

async function faultOf(attempt: Promise<unknown>): Promise<string> {
  const error = await attempt.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof Fault) return error.code;
  throw error ?? new Error('it was done');
}

describe('without a policy that requires approval', () => {
  test('requests are not pending', async () => {
    await policy(site, { decision: 'manual', protocols: ['cmp'] });
    await policy(site, { decision: 'automatic', protocols: ['est'], priority: 1 });
    await policy(site, { decision: 'deny', protocols: ['est'] });
    expect(await verdict(asked())).toBe('issued');
    expect(await approvals()).toEqual([]);
  });

  test('requests are rejected by a policy that denies them', async () => {
    await policy(site, { uniqueName: 'no servers', decision: 'deny' });
    await expect(asked()).rejects.toThrow('the approval policy "no servers" denies this request');
    expect(await verdict(asked())).toBe('forbidden');
    expect(await approvals()).toEqual([]);
  });
});

describe('a request that needs approval', () => {
  test('stays pending when it is repeated, and opens one approval', async () => {
    await policy(site, { decision: 'manual' });
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => asked()));
    expect(outcomes).toEqual(
      outcomes.map(() => ({ kind: 'pending', id: 1, retryAfter: 3, lasts: 14 * day })),
    );
    expect(await states()).toEqual(['waiting']);
    expect(await actions()).toEqual(['approval.open']);
  });

  test('joins its approval when recording the approval was slow', async () => {
    const clock = testClock();
    const store = await openSqliteStore({ path: ':memory:', clock });
    const slow: Store = {
      ...store,
      count(kind, where, atMost) {
        clock.advance(1000);
        return store.count(kind, where, atMost);
      },
    };
    await using other = await installation({ store: slow, clock });
    const valve = password('valve-1', (await other.device('valve-1')).password);
    await policy(other, { decision: 'manual' });
    const der = request(key, 'CN=valve-1');
    const first = await waiting(ask(other, valve, der, server));
    expect(await waiting(ask(other, valve, der, server))).toBe(first);
    expect(await other.audit('approval.supersede')).toEqual([]);
  });

  test('opens another approval for another key, name, profile, device or protocol', async () => {
    await policy(site, { decision: 'manual' });
    const valve = password('valve-1', (await site.device('valve-1')).password);
    const others = [
      asked(),
      ask(site, pump, request(testKey('p-256', 'other'), 'CN=pump-1', ['DNS:pump-1.plant.example']), server),
      ask(site, pump, request(key, 'CN=pump-1', ['DNS:pump-2.plant.example']), server),
      ask(site, pump, request(key, 'CN=pump-1')),
      ask(site, valve, wish(), server),
      ask(site, pump, wish(), { ...server, protocol: 'rest' }),
    ];
    const ids = new Set<number>();
    for (const other of others) ids.add(await waiting(other));
    expect(ids.size).toBe(others.length);
  });

  test('gets its certificate when it is granted, and the same one again for a day', async () => {
    await policy(site, { decision: 'manual' });
    const id = await waiting(asked());
    expect(await approve(id, jo)).toMatchObject({ state: 'granted', approvals: 1, certificate: null });
    const certificate = await given(asked());
    expect(await given(asked())).toEqual(certificate);
    expect(await site.gateway.approvals.read(kim, id)).toMatchObject({
      state: 'issued',
      certificate: (await site.store.list('certificate', { limit: 1 })).records[0]!.id,
      details: {
        decisions: [{ approver: `serviceAccount:${jo.actor.id}`, verdict: 'approved', comment: 'as agreed' }],
      },
    });
    site.clock.advance(day);
    expect(await verdict(asked())).toBe('pending');
    expect(await states()).toEqual(['issued', 'waiting']);
    expect(await actions()).toEqual(['approval.open', 'approval.grant', 'approval.use', 'approval.open']);
  });

  test('opens another approval when its certificate is revoked', async () => {
    await policy(site, { decision: 'manual' });
    await approve(await waiting(asked()), jo);
    await asked();
    const { id } = (await site.store.list('certificate', { limit: 1 })).records[0]!;
    await site.gateway.certificates.revoke(site.admin, id, { reason: 'superseded' });
    expect(await verdict(asked())).toBe('pending');
  });

  test('gets the same certificate when it is repeated concurrently', async () => {
    await policy(site, { decision: 'manual' });
    await approve(await waiting(asked()), jo);
    const [one, other] = await Promise.all([given(asked()), given(asked())]);
    expect(one).toEqual(other);
    expect(await states()).toEqual(['issued']);
  });

  test('has longer retry intervals the longer it is pending', async () => {
    await policy(site, { decision: 'manual' });
    await asked();
    site.clock.advance(160_000);
    expect(await asked()).toMatchObject({ retryAfter: 20 });
    site.clock.advance(day);
    expect(await asked()).toMatchObject({ retryAfter: 300 });
  });

  test('is rejected when 32 requests of the device are pending', async () => {
    await policy(site, { decision: 'manual' });
    const names = (n: number) => request(key, 'CN=pump-1', [`DNS:pump-${n}.plant.example`]);
    for (let n = 0; n < 32; n++) await ask(site, pump, names(n), server);
    expect(await verdict(ask(site, pump, names(32), server))).toBe('tooManyRequests');
    expect(await verdict(ask(site, pump, names(0), server))).toBe('pending');
  });
});

test('a request that cannot be issued is rejected before anybody has to approve it', async () => {
  await policy(site, { decision: 'manual' });
  await site.gateway.settings.change(site.admin, { securityLevel: 'hardened' });
  const weak = request(testKey('rsa-2048', 'pump'), 'CN=pump-1', ['DNS:pump-1.plant.example']);
  expect(await verdict(ask(site, pump, weak, server))).toBe('badAlgorithm');
  expect(await approvals()).toEqual([]);
});

describe('an approver', () => {
  test('is needed twice when the policy demands two approvers', async () => {
    await policy(site, { decision: 'manual', approvers: 2 });
    const lee = await person(site, 'lee');
    const id = await waiting(asked());
    expect(await approve(id, jo)).toMatchObject({ state: 'waiting', approvals: 1, approvers: 2 });
    expect(await verdict(asked())).toBe('pending');
    expect(await faultOf(approve(id, jo))).toBe('conflict');
    expect(await approve(id, lee)).toMatchObject({ state: 'granted', approvals: 2 });
    expect(await faultOf(approve(id, kim))).toBe('conflict');
    expect(await verdict(asked())).toBe('issued');
    expect(await actions()).toEqual(['approval.open', 'approval.approve', 'approval.grant', 'approval.use']);
  });

  test('counts even when two approve concurrently', async () => {
    await policy(site, { decision: 'manual', approvers: 2 });
    const id = await waiting(asked());
    await Promise.all([approve(id, jo), approve(id, kim)]);
    expect(await states()).toEqual(['granted']);
  });

  test('needs the permission and an account', async () => {
    await policy(site, { decision: 'manual' });
    const id = await waiting(asked());
    for (const role of ['Auditor', 'Default']) {
      const nosy = await person(site, role.toLowerCase(), role);
      expect(await faultOf(approve(id, nosy))).toBe('forbidden');
    }
    expect(await faultOf(approve(id, site.admin))).toBe('forbidden');
    expect(await faultOf(approve(99, jo))).toBe('notFound');
  });

  test('can decide only on the request and outcome that they have seen', async () => {
    await policy(site, { decision: 'manual' });
    const id = await waiting(asked());
    const { requestDigest, outcomeDigest } = await site.gateway.approvals.read(jo, id);
    const decide = (seen: object) => site.gateway.approvals.approve(jo, id, { ...comment, ...seen });
    expect(await faultOf(decide({ requestDigest: outcomeDigest }))).toBe('conflict');
    expect(await faultOf(decide({ requestDigest, outcomeDigest: requestDigest }))).toBe('conflict');
    expect((await decide({ requestDigest, outcomeDigest })).state).toBe('granted');
  });

  test('cannot be the requester', async () => {
    await policy(site, { decision: 'manual', protocols: ['management'] });
    const create = (who: Principal) => site.gateway.certificates.create(who, { commonName: 'app-1' });
    const made = await create(jo);
    if (!('kind' in made)) throw new Error('issued');
    expect(await faultOf(approve(made.id, jo))).toBe('forbidden');
    expect(await faultOf(reject(made.id, jo))).toBe('forbidden');
    await approve(made.id, kim);
    expect(await create(kim)).toMatchObject({ kind: 'pending' });
    const record = await create(jo);
    expect(record).toMatchObject({ commonName: 'app-1', status: 'good' });
    // A repeated request opens a new approval.
    expect(await create(jo)).toMatchObject({ kind: 'pending' });
    expect(await states()).toEqual(['issued', 'waiting', 'waiting']);
  });
});

test('no key is made for a request that is not approved', async () => {
  let keys = 0;
  await using other = await installation({
    wrapKeys: (store) => ({
      ...store,
      generate: (...args) => {
        keys++;
        return store.generate(...args);
      },
    }),
  });
  await policy(other, { decision: 'manual' });
  const [one, two] = [await person(other, 'one'), await person(other, 'two')];
  const create = () => other.gateway.certificates.create(one, { commonName: 'app-1', keyType: 'p-384' });
  const before = keys;
  const made = await create();
  if (!('kind' in made)) throw new Error('issued');
  expect(keys).toBe(before);
  const { details } = await other.gateway.approvals.read(two, made.id);
  expect(details?.content).toMatchObject({
    certificate: { requested: { subject: 'CN=app-1', keyType: 'p-384', keyFingerprint: null } },
  });
  await other.gateway.approvals.approve(two, made.id, comment);
  const record = await create();
  if ('kind' in record) throw new Error('it waits');
  expect(keys).toBe(before + 1);
  expect((await other.gateway.certificates.takeKey(one, record.id)).privateKey.length).toBeGreaterThan(100);
});

describe('one rejection', () => {
  test('is enough, and applies to the request for as long as it could have been pending', async () => {
    await policy(site, { decision: 'manual', approvers: 2, expiresIn: 3600 });
    const id = await waiting(asked());
    await approve(id, jo);
    expect(await reject(id, kim)).toMatchObject({ state: 'rejected' });
    await expect(asked()).rejects.toThrow('an approver has rejected the request');
    expect(await verdict(asked())).toBe('forbidden');
    const other = request(key, 'CN=pump-1', ['DNS:pump-2.plant.example']);
    expect(await verdict(ask(site, pump, other, server))).toBe('pending');
    site.clock.advance(3_600_000);
    expect(await verdict(asked())).toBe('pending');
    expect(await states()).toEqual(['rejected', 'waiting', 'waiting']);
  });
});

describe('the expiry period', () => {
  test('expires an undecided approval, and the request may be repeated', async () => {
    await policy(site, { decision: 'manual', expiresIn: 3600 });
    const id = await waiting(asked());
    site.clock.advance(3_600_000);
    expect(await faultOf(approve(id, jo))).toBe('conflict');
    site.clock.advance(1);
    await site.gateway.maintain('test');
    expect(await states()).toEqual(['expired']);
    expect(await verdict(asked())).toBe('pending');
    expect(await states()).toEqual(['expired', 'waiting']);
    expect(await actions()).toEqual(['approval.open', 'approval.expire', 'approval.open']);
  });

  test('expires an approval even without maintenance', async () => {
    await policy(site, { decision: 'manual', expiresIn: 3600 });
    const first = await waiting(asked());
    site.clock.advance(3_600_000);
    expect(await waiting(asked())).not.toBe(first);
    expect(await states()).toEqual(['expired', 'waiting']);
  });

  test('expires a granted approval that was not collected', async () => {
    await policy(site, { decision: 'manual', expiresIn: 3600 });
    const id = await waiting(asked());
    site.clock.advance(3_599_000);
    await approve(id, jo);
    site.clock.advance(3_599_000);
    await site.gateway.maintain('test');
    expect(await states()).toEqual(['granted']);
    site.clock.advance(1001);
    await site.gateway.maintain('test');
    expect(await states()).toEqual(['expired']);
    expect(await verdict(asked())).toBe('pending');
  });
});

describe('deleting a device', () => {
  test('expires its open approvals, as an action of the account that deletes it, and no others', async () => {
    const { gateway, store, admin } = site;
    const valve = password('valve-1', (await site.device('valve-1')).password);
    await policy(site, { decision: 'manual' });
    const open = await waiting(asked());
    const granted = await waiting(ask(site, pump, request(key, 'CN=pump-1'), server));
    await approve(granted, jo);
    const rejected = await waiting(ask(site, pump, request(key, 'CN=pump-1'), {}));
    await reject(rejected, jo);
    await waiting(ask(site, valve, request(key, 'CN=valve-1'), server));
    const { id } = (await store.find('device', { commonName: 'pump-1' }))!;

    await gateway.devices.remove(admin, id);
    expect(await states()).toEqual(['expired', 'expired', 'rejected', 'waiting']);
    expect(await faultOf(approve(open, kim))).toBe('conflict');
    expect(
      (await site.audit('approval.expire')).map(({ object, actor, detail }) => [
        object,
        actor.name,
        detail.reason,
      ]),
    ).toEqual([granted, open].map((one) => [`approval:${one}`, admin.actor.name, 'the device was deleted']));
  });

  test('observes a concurrent decision', async () => {
    const clock = testClock();
    const store = await openSqliteStore({ path: ':memory:', clock });
    let between: (() => Promise<unknown>) | undefined;
    const hesitant: Store = {
      ...store,
      async listWithout(kind, fields, query) {
        const page = await store.listWithout(kind, fields, query);
        await between?.();
        return page;
      },
    };
    await using other = await installation({ store: hesitant, clock });
    const { device, password: secret } = await other.device('valve-1');
    await policy(other, { decision: 'manual' });
    const id = await waiting(ask(other, password('valve-1', secret), request(key, 'CN=valve-1'), server));
    const max = await person(other, 'max');
    between = () => {
      between = undefined;
      return other.gateway.approvals.approve(max, id, comment);
    };
    await other.gateway.devices.remove(other.admin, device.id);
    expect(await store.get('approval', id)).toMatchObject({ state: 'expired', approvals: 1 });
  });
});

describe('a finished approval', () => {
  test('is kept without limit', async () => {
    await policy(site, { decision: 'manual', expiresIn: 3600 });
    const used = await waiting(asked());
    await approve(used, jo);
    expect(await verdict(asked())).toBe('issued');
    await reject(await waiting(ask(site, pump, request(key, 'CN=pump-1'), server)), jo);
    await waiting(asked({ profile: 'tls_client' }));
    for (let n = 0; n < 3; n++) {
      site.clock.advance(365 * day);
      await site.gateway.maintain('test');
    }
    expect(await states()).toEqual(['issued', 'rejected', 'expired']);
    expect((await site.gateway.approvals.read(jo, used)).details?.decisions).toHaveLength(1);
  });

  test("has the approvers' comments in the audit trail", async () => {
    await policy(site, { decision: 'manual', approvers: 2 });
    const granted = await waiting(asked());
    await site.gateway.approvals.approve(jo, granted, { comment: 'as agreed' });
    await site.gateway.approvals.approve(kim, granted, { comment: 'that is ours' });
    const rejected = await waiting(asked({ profile: 'tls_client' }));
    await site.gateway.approvals.reject(jo, rejected, { comment: 'who is that?' });
    const told = (await site.audit()).filter(({ detail }) => detail.comment !== undefined);
    expect(told.map(({ action, object, detail }) => [action, object, detail.comment])).toEqual([
      ['approval.approve', `approval:${granted}`, 'as agreed'],
      ['approval.grant', `approval:${granted}`, 'that is ours'],
      ['approval.reject', `approval:${rejected}`, 'who is that?'],
    ]);
  });
});

test('a list reads only the fields of an approval that it shows', async () => {
  await policy(site, { decision: 'manual' });
  const id = await waiting(asked());
  const { records } = await site.gateway.approvals.list(jo, { limit: 10 });
  const { details, ...brief } = await site.gateway.approvals.read(jo, id);
  expect(records).toEqual([brief]);
  expect(Object.keys(details!).sort()).toEqual(['content', 'decisions', 'obstacle', 'request']);
});

test('an approval that was granted before a backup is requested again after its restore', async () => {
  await policy(site, { decision: 'manual' });
  await approve(await waiting(asked()), jo);
  const marker = { name: unsettledRestore, value: new Uint8Array() };
  await site.store.commit([{ op: 'insert', kind: 'setting', values: marker }]);
  await site.gateway.backups.settle(site.admin, { createdAt: site.clock.now(), crls: [] });
  expect(await states()).toEqual(['expired']);
  expect(await verdict(asked())).toBe('pending');
});

describe('an approval is for the request and the outcome that the approver saw', () => {
  const changeProfile = async (change: (rules: Record<string, unknown>) => object) => {
    const { records } = await site.gateway.profiles.list(site.admin, { limit: 100 });
    const { id, profile } = records.find(({ uniqueName }) => uniqueName === 'tls_server')!;
    const rules = profile as Record<string, unknown>;
    await site.gateway.profiles.update(site.admin, id, { profile: { ...rules, ...change(rules) } });
  };

  test('shows the request, the outcome and their differences', async () => {
    await policy(site, { decision: 'manual' });
    const id = await waiting(asked());
    const { details, requestKind, ...rest } = await site.gateway.approvals.read(jo, id);
    const { content, request: der } = details!;
    expect(rest).toMatchObject({
      operation: 'issuance',
      protocol: 'est',
      domainName: 'default',
      deviceName: 'pump-1',
      profileName: 'tls_server',
      requesterName: 'pump-1',
      address: '192.0.2.7',
      subject: 'CN=pump-1',
    });
    expect([requestKind, der!.length > 100]).toEqual(['pkcs10', true]);
    if (content.kind !== 'certificate') throw new Error(content.kind);
    const { requested, outcome, differences, explanations }: CertificateContent = content.certificate;
    expect(requested).toMatchObject({
      subject: 'CN=pump-1',
      subjectAltNames: ['DNS:pump-1.plant.example'],
      keyType: 'p-256',
    });
    expect(outcome).toMatchObject({ subject: 'CN=pump-1', keyFingerprint: requested.keyFingerprint });
    expect(outcome.notAfter).toBeGreaterThan(site.clock.now());
    expect(differences.map(({ field }) => field)).toEqual([
      'extensions.2.5.29.19',
      'extensions.2.5.29.15',
      'extensions.2.5.29.37',
    ]);
    expect(differences[1]).toEqual({
      field: 'extensions.2.5.29.15',
      requested: [],
      outcome: ['digitalSignature'],
    });
    expect(explanations).toContainEqual({ field: 'subject.CN', value: 'pump-1', because: 'requested' });
  });

  test.each(['before it was granted', 'after it was granted'])(
    'a profile that was changed %s: the approval is requested again',
    async (when) => {
      await policy(site, { decision: 'manual' });
      const id = await waiting(asked());
      if (when.startsWith('after')) await approve(id, jo);
      await changeProfile(() => ({ validity: { duration: 'P1D' } }));
      const again = await waiting(asked());
      expect(again).not.toBe(id);
      expect(await states()).toEqual(['superseded', 'waiting']);
      expect(await faultOf(approve(id, jo))).toBe('conflict');
      await approve(again, jo);
      expect(await verdict(asked())).toBe('issued');
    },
  );

  test('stays granted when a changed profile has the same outcome', async () => {
    await policy(site, { decision: 'manual' });
    const id = await waiting(asked());
    await changeProfile((rules) => ({ keys: { ...(rules.keys as object), allowed: ['p-256', 'p-384'] } }));
    site.clock.advance(5 * day);
    expect(await waiting(asked())).toBe(id);
  });

  test('is requested again when the policy now demands more approvers', async () => {
    const { id: rule } = await policy(site, { decision: 'manual' });
    await approve(await waiting(asked()), jo);
    await site.gateway.approvalPolicies.update(site.admin, rule, { approvers: 2 });
    expect(await verdict(asked())).toBe('pending');
    expect(await states()).toEqual(['superseded', 'waiting']);
  });

  test('is no longer needed when the policy now allows the request', async () => {
    const { id: rule } = await policy(site, { decision: 'manual' });
    await asked();
    await site.gateway.approvalPolicies.update(site.admin, rule, { decision: 'automatic' });
    expect(await verdict(asked())).toBe('issued');
  });
});

test('a renewal is approved as a renewal', async () => {
  await policy(site, { decision: 'manual', operations: ['renewal'] });
  const first = await given(ask(site, pump, request(key, 'CN=pump-1')));
  const holder = { kind: 'certificate', certificates: [first], address: '192.0.2.7' } as const;
  const renew = () => ask(site, holder, request(key, 'CN=pump-1'), {}, 'renew');
  const id = await waiting(renew());
  expect(await site.gateway.approvals.read(jo, id)).toMatchObject({ operation: 'renewal' });
  await approve(id, jo);
  expect(await verdict(renew())).toBe('issued');
});

test('the number of pending approvals is a metric', async () => {
  await policy(site, { decision: 'manual' });
  await asked();
  const families = await site.gateway.metrics(site.admin);
  const family = families.find(({ name }) => name === 'postern_approvals_waiting');
  expect(family?.samples).toEqual([{ labels: {}, value: 1 }]);
});
