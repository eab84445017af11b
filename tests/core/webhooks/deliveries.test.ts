import { afterEach, expect, test } from 'bun:test';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import { createVault } from '#adapters/outbound/system/vault.ts';
import type { Attempt, Message, Notifier } from '#core/ports/notifier.ts';
import type { Store, Write } from '#core/ports/store.ts';
import { openSecret } from '#core/webhooks/receiver.ts';
import type { WebhookInput, WebhookView } from '#core/webhooks/webhooks.ts';
import { ask, person, policy, waiting } from '#tests/fixtures/approvals.ts';
import {
  type Installation,
  installation,
  password,
  request,
  testClock,
} from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';

const der = request(testKey('p-256'), 'CN=pump');
const never = new AbortController().signal;
const day = 24 * 3_600_000;

/** Records the messages it posts, and responds as the test says. */
class FakeNotifier implements Notifier {
  readonly posted: Message[] = [];
  answer: (message: Message, signal: AbortSignal) => Attempt | Promise<Attempt> = () => taken;
  under = 0;
  most = 0;
  check(): void {}
  async post(message: Message, signal: AbortSignal): Promise<Attempt> {
    this.posted.push(message);
    this.most = Math.max(this.most, ++this.under);
    try {
      return await this.answer(message, signal);
    } finally {
      this.under--;
    }
  }
  told = () => this.posted.map(({ body }) => JSON.parse(body));
}

const taken: Attempt = { delivered: true, status: 204, detail: null };
const refused: Attempt = { delivered: false, status: 503, detail: 'answered 503' };

const open: Installation[] = [];
afterEach(async () => {
  for (const site of open.splice(0)) await site[Symbol.asyncDispose]();
});

async function started(options: Parameters<typeof installation>[0] = {}) {
  const notifier = new FakeNotifier();
  const site = await installation({ notifier, ...options });
  open.push(site);
  const { gateway, admin } = site;
  const deliver = async (signal = never): Promise<void> => {
    await gateway.deliver('here', signal);
    await gateway.delivered();
  };
  const hook = (input: Partial<WebhookInput> = {}): Promise<WebhookView> =>
    gateway.webhooks.create(admin, { uniqueName: 'tickets', url: 'https://tickets.example/', ...input });
  const deliveries = async () => (await gateway.webhookDeliveries.list(admin, { limit: 1000 })).records;
  return { ...site, site, notifier, deliver, hook, deliveries };
}

/** Returns a store that records commits. */
async function recording(): Promise<{ store: Store; commits: (readonly Write[])[] }> {
  const commits: (readonly Write[])[] = [];
  const inner = await openSqliteStore({ path: ':memory:', clock: testClock() });
  const store = new Proxy(inner, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...given: unknown[]) => {
        if (name === 'commit') commits.push(given[0] as readonly Write[]);
        return member.apply(target, given);
      };
    },
  });
  return { store, commits };
}

const kindsOf = (writes: readonly Write[]): string[] =>
  writes.map((write) => (write.op === 'audit' ? 'audit' : `${write.op} ${write.kind}`));

test('an issuance writes one record more in the same commit when a webhook wants the event, otherwise none', async () => {
  const { store, commits } = await recording();
  const { site, device, hook, gateway, admin } = await started({ store });
  const { password: secret } = await device('pump');
  const issuance = async (): Promise<string[]> => {
    commits.length = 0;
    await site.enrol(password('pump', secret), {}, der);
    return issuing().flatMap(kindsOf);
  };
  // The address of the device is recorded by a commit of its own, in the background.
  const issuing = () =>
    commits.filter(
      (writes) => !writes.some((write) => write.op === 'insert' && write.kind === 'knownAddress'),
    );
  const usual = await issuance();
  expect(usual).toEqual(['insert certificate', 'audit']);
  const idle = await hook({ isActive: false });
  await hook({ uniqueName: 'of another kind', events: ['approval.waiting'] });
  expect(await issuance()).toEqual(usual);
  await gateway.webhooks.update(admin, idle.id, { isActive: true });
  expect(await issuance()).toEqual([...usual, 'insert webhookDelivery']);
  expect(issuing()).toHaveLength(1);
});

test('issue, hold, release and revocation are each reported with the id and facts of the certificate', async () => {
  const { site, device, hook, gateway, admin, store, notifier, deliver } = await started();
  await hook();
  const { password: secret, device: pump } = await device('pump');
  await site.enrol(password('pump', secret), {}, der);
  const [certificate] = (await store.list('certificate', { limit: 1 })).records;
  const { id, serialNumber, subject } = certificate!;
  for (const reason of ['certificateHold', 'removeFromCRL', 'keyCompromise'] as const)
    await gateway.certificates.revoke(admin, id, { reason });
  await deliver();
  const about = { id, serial_number: serialNumber, subject, device: pump.id, protocol: 'est' };
  const told = notifier.told();
  expect(told.map(({ type }) => type).sort()).toEqual([
    'certificate.issued',
    'certificate.released',
    'certificate.revoked',
    'certificate.revoked',
  ]);
  for (const { data, timestamp } of told) {
    expect(data).toMatchObject(about);
    expect(timestamp).toBe(new Date(site.clock.now()).toISOString());
  }
  const reasons = told.filter(({ type }) => type === 'certificate.revoked').map(({ data }) => data);
  expect(reasons.map(({ status, reason }) => `${status} ${reason}`).sort()).toEqual([
    'hold certificateHold',
    'revoked keyCompromise',
  ]);
});

test('certificates of a deleted device are reported as revoked', async () => {
  const { site, device, hook, gateway, admin, notifier, deliver } = await started();
  await hook({ events: ['certificate.revoked'] });
  const { password: secret, device: pump } = await device('pump');
  await site.enrol(password('pump', secret), {}, der);
  await gateway.devices.remove(admin, pump.id);
  await deliver();
  expect(notifier.told()).toMatchObject([
    { type: 'certificate.revoked', data: { reason: 'cessationOfOperation' } },
  ]);
});

test('approvals are reported as pending, approved, rejected and expired, and so is the issued certificate', async () => {
  const { site, device, hook, gateway, clock, notifier, deliver } = await started();
  await hook();
  const { password: secret } = await device('pump');
  const operator = await person(site, 'jo');
  await policy(site, { decision: 'manual', expiresIn: 3600 });
  const evidence = password('pump', secret);
  const granted = await waiting(ask(site, evidence, der));
  await gateway.approvals.approve(operator, granted, { comment: '' });
  await ask(site, evidence, der);
  const rejected = await waiting(ask(site, evidence, request(testKey('p-256', 'b'), 'CN=pump')));
  await gateway.approvals.reject(operator, rejected, { comment: 'no' });
  const late = await waiting(ask(site, evidence, request(testKey('p-256', 'c'), 'CN=pump')));
  clock.advance(3_601_000);
  await gateway.maintain('here');
  await deliver();
  const told = notifier.told().map(({ type, data }) => `${type} ${type.startsWith('appr') ? data.id : ''}`);
  expect(told.sort()).toEqual([
    `approval.expired ${late}`,
    `approval.granted ${granted}`,
    `approval.rejected ${rejected}`,
    `approval.waiting ${granted}`,
    `approval.waiting ${rejected}`,
    `approval.waiting ${late}`,
    'certificate.issued ',
  ]);
  const first = notifier.told().find(({ type }) => type === 'approval.waiting');
  expect(first.data).toMatchObject({ device: 'pump', domain: 'default', operation: 'issuance' });
});

test('a failed delivery is retried with growing pauses, is then abandoned, and can be sent again on request', async () => {
  const { hook, gateway, admin, clock, notifier, deliver, deliveries, audit, log } = await started();
  const { id } = await hook();
  await gateway.webhooks.test(admin, id);
  notifier.answer = () => refused;
  const pauses: number[] = [];
  for (;;) {
    const before = notifier.posted.length;
    await deliver();
    expect(notifier.posted.length).toBe(before + 1);
    const [delivery] = await deliveries();
    expect(delivery).toMatchObject({ lastStatus: 503, lastError: 'answered 503', attempts: before + 1 });
    if (delivery!.state === 'dead') break;
    const pause = delivery!.dueAt - clock.now();
    clock.advance(pause - 1);
    await deliver();
    expect(notifier.posted.length).toBe(before + 1);
    clock.advance(1);
    pauses.push(pause);
  }
  expect(notifier.posted).toHaveLength(10);
  const usual = [5, 30, 120, 600, 1800, 7200, 18_000, 36_000, 64_800];
  for (const [n, pause] of pauses.entries()) {
    expect(pause).toBeGreaterThanOrEqual(usual[n]! * 800);
    expect(pause).toBeLessThanOrEqual(usual[n]! * 1200);
  }
  // Another attempt of the same message at another time.
  expect(new Set(notifier.posted.map((message) => `${message.id} ${message.body}`)).size).toBe(1);
  expect(new Set(notifier.posted.map(({ at }) => at)).size).toBe(10);
  expect(JSON.stringify(log.entries)).toContain('a webhook message is no longer retried');
  await deliver();
  expect(notifier.posted).toHaveLength(10);

  notifier.answer = () => taken;
  const [dead] = await deliveries();
  expect(await gateway.webhookDeliveries.redeliver(admin, dead!.id)).toMatchObject({
    state: 'pending',
    attempts: 0,
  });
  await deliver();
  expect((await deliveries())[0]).toMatchObject({ state: 'delivered', lastStatus: 204, lastError: null });
  expect(notifier.posted.at(-1)!.id).toBe(notifier.posted[0]!.id);
  expect(await audit('webhookDelivery.redeliver')).toHaveLength(1);
});

test('a receiver that is down gets few messages at a time, and other receivers are served meanwhile', async () => {
  const { hook, gateway, admin, notifier, deliver, deliveries, clock } = await started();
  const down = await hook({ uniqueName: 'down', url: 'https://down.example/' });
  const up = await hook({ uniqueName: 'up', url: 'https://up.example/' });
  for (let n = 0; n < 20; n++) {
    await gateway.webhooks.test(admin, down.id);
    await gateway.webhooks.test(admin, up.id);
  }
  notifier.answer = async ({ url }) => {
    await Bun.sleep(1);
    return url.includes('down') ? refused : taken;
  };
  await deliver();
  const states = (await deliveries()).map(({ webhook, attempts, state }) => ({ webhook, attempts, state }));
  expect(states.filter(({ webhook, state }) => webhook === up.id && state === 'delivered')).toHaveLength(20);
  expect(states.filter(({ webhook, attempts }) => webhook === down.id && attempts > 0).length).toBeLessThan(
    9,
  );
  expect(notifier.most).toBeLessThanOrEqual(8);
  notifier.answer = () => taken;
  clock.advance(10_000);
  for (let n = 0; n < 3; n++) await deliver();
  expect((await deliveries()).every(({ state }) => state === 'delivered')).toBe(true);
});

test('of two instances, one sends, and sends each message once', async () => {
  const { site, hook, gateway, admin, notifier } = await started();
  const other = await installation({ store: site.store, clock: site.clock, notifier });
  open.unshift(other);
  const { id } = await hook();
  for (let n = 0; n < 60; n++) await gateway.webhooks.test(admin, id);
  notifier.answer = async () => {
    await Bun.sleep(2);
    return taken;
  };
  for (let n = 0; n < 3; n++) {
    await Promise.all([gateway.deliver('here', never), other.gateway.deliver('there', never)]);
    await Promise.all([gateway.delivered(), other.gateway.delivered()]);
  }
  expect(notifier.posted).toHaveLength(60);
  expect(new Set(notifier.posted.map((message) => message.id)).size).toBe(60);
  // Nothing is left to do: either instance can take the lease.
  await gateway.deliver('here', never);
  await other.gateway.deliver('there', never);
  expect(await site.store.lease('webhooks', 'a third', 1)).toBe(true);
});

test('a delivery that is interrupted by a shutdown is not counted as an attempt and is repeated', async () => {
  const { hook, gateway, admin, notifier, deliver, deliveries } = await started();
  const { id } = await hook();
  await gateway.webhooks.test(admin, id);
  const cut = new AbortController();
  notifier.answer = async () => {
    cut.abort();
    return { delivered: false, status: null, detail: 'no response in time' };
  };
  await deliver(cut.signal);
  expect((await deliveries())[0]).toMatchObject({ state: 'pending', attempts: 0 });
  notifier.answer = () => taken;
  await deliver();
  expect((await deliveries())[0]).toMatchObject({ state: 'delivered', attempts: 1 });
});

test('an inactive webhook keeps its pending messages, and a deleted one loses them', async () => {
  const { hook, gateway, admin, notifier, deliver, deliveries } = await started();
  const { id } = await hook();
  await gateway.webhooks.test(admin, id);
  await gateway.webhooks.update(admin, id, { isActive: false });
  await deliver();
  expect(notifier.posted).toEqual([]);
  await gateway.webhooks.update(admin, id, { isActive: true });
  await deliver();
  expect(notifier.posted).toHaveLength(1);
  await gateway.webhooks.remove(admin, id);
  expect(await deliveries()).toEqual([]);
});

test('secrets are shown once, sealed for their webhook only, and replaced on rotation', async () => {
  const { hook, gateway, admin, store, notifier, deliver } = await started();
  const made = await hook();
  const other = await hook({ uniqueName: 'other' });
  expect(made.signingSecret).toMatch(/^whsec_[\w+/]{43}=$/);
  expect((await gateway.webhooks.read(admin, made.id)).signingSecret).toBeNull();
  const octets = (shown: string | null) => Buffer.from(shown!.slice(6), 'base64').toString('hex');
  const sent = () => Buffer.from(notifier.posted.at(-1)!.secret).toString('hex');
  await gateway.webhooks.test(admin, made.id);
  await deliver();
  expect(sent()).toBe(octets(made.signingSecret));
  const rotated = await gateway.webhooks.rotate(admin, made.id);
  expect(rotated.signingSecret).not.toBe(made.signingSecret);
  await gateway.webhooks.test(admin, made.id);
  await deliver();
  expect(sent()).toBe(octets(rotated.signingSecret));
  const [mine, theirs] = await Promise.all([made, other].map(({ id }) => store.get('webhook', id)));
  const vault = createVault(new Uint8Array(32).fill(1));
  expect(Buffer.from(openSecret(vault, mine!)).toString('hex')).toBe(octets(rotated.signingSecret));
  expect(() => openSecret(vault, { ...mine!, secret: theirs!.secret })).toThrow('internal error');
});

test('a host that the settings no longer allow gets no messages', async () => {
  const { hook, gateway, admin, notifier, deliver, deliveries } = await started();
  const { id } = await hook();
  await gateway.webhooks.test(admin, id);
  await gateway.settings.change(admin, { webhookHosts: ['*.plant.example', '10.0.0.7'] });
  await deliver();
  expect(notifier.posted).toEqual([]);
  expect((await deliveries())[0]).toMatchObject({ lastError: 'the settings do not allow this host' });
  for (const [url, allowed] of [
    ['https://tickets.example/', false],
    ['https://plant.example/', false],
    ['https://evilplant.example/', false],
    ['https://A.plant.EXAMPLE:8443/', true],
    ['http://10.0.0.7/', true],
  ] as const) {
    const change = gateway.webhooks.update(admin, id, { url });
    if (allowed) await change;
    else expect(change).rejects.toMatchObject({ code: 'malformed', field: 'url' });
  }
});

test('delivered messages are deleted after a week, and failed ones after a month', async () => {
  const { hook, gateway, admin, clock, notifier, deliver, deliveries, store } = await started();
  const { id } = await hook({ events: ['upstream.failed'] });
  for (let n = 0; n < 3; n++) await gateway.webhooks.test(admin, id);
  await deliver();
  await gateway.webhooks.test(admin, id);
  notifier.answer = () => refused;
  const [last] = await deliveries();
  await store.commit([{ op: 'update', kind: 'webhookDelivery', id: last!.id, set: { attempts: 9 } }]);
  await deliver();
  const count = async (): Promise<number> => {
    await gateway.maintain('here');
    return (await deliveries()).length;
  };
  expect(await count()).toBe(4);
  clock.advance(7 * day + 1000);
  expect(await count()).toBe(1);
  clock.advance(24 * day);
  expect(await count()).toBe(0);
});
