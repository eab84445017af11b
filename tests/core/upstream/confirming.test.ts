import { describe, expect, test } from 'bun:test';
import { Fault } from '#core/fault.ts';
import type { Issuer, IssuerAnswer } from '#core/ports/issuer.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { estUpstream } from '#tests/fixtures/est-upstream.ts';
import { installation, password, testClock } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { pumpRequest } from '#tests/fixtures/plant.ts';

// What EST does not have: an upstream CA that expects confirmations, accepts revocations, and must not be
// called twice.

const unreachable = () => Promise.reject(new Fault('unavailable', 'no answer'));

/** An upstream CA in this process with replaceable methods, and the calls that it received. */
async function site(changes: Partial<Issuer> = {}) {
  const clock = testClock();
  const ca = await estUpstream(clock.now);
  const told: string[] = [];
  const own: Issuer = {
    protocol: 'cmp',
    timeout: 1000,
    chain: async () => [ca.issuing, ca.root],
    async issue({ prepared }): Promise<IssuerAnswer> {
      told.push(`issue ${prepared.template.serial.length}`);
      return { kind: 'issued', certificate: ca.certify(prepared.request!), chain: [], confirm: 'handle' };
    },
    async confirm(handle, _certificate, accepted) {
      told.push(`confirm ${handle} ${accepted}`);
    },
    async revoke(_certificate, reason) {
      told.push(`revoke ${reason}`);
    },
    health: async () => ({ ok: true }),
  };
  const issuer = { ...own, ...changes };
  const service = await installation({ clock, issuers: () => new Map([['plant', issuer]]) });
  const { gateway, admin, store } = service;
  const made = await gateway.issuingCas.create(admin, { uniqueName: 'plant', type: 5, issuer: 'plant' });
  await gateway.domains.update(admin, 1, { issuingCa: made.id });
  const { password: secret } = await service.device('pump-1');
  return {
    ca,
    own,
    issuer,
    told,
    service,
    async ask(name = 'confirmed') {
      const target = { protocol: 'est', domain: undefined, profile: undefined } as const;
      const requester = await gateway.admit(password('pump-1', secret), target);
      const der = pumpRequest(testKey('p-256', name));
      return gateway.enrol(requester, { operation: 'enrol', request: { kind: 'pkcs10', der } });
    },
    requests: async () => (await store.list('upstreamRequest', { limit: 100 })).records,
    certificates: async () =>
      (await store.list('certificate', { where: [{ field: 'ca', is: 'equal', value: made.id }], limit: 100 }))
        .records,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await ca[Symbol.asyncDispose]();
    },
  };
}

const faultOf = async (promise: Promise<unknown>): Promise<Fault> => {
  const error = await promise.then(
    (value) => value,
    (thrown: unknown) => thrown,
  );
  if (error instanceof Fault) return error;
  throw new Error(`no Fault: ${JSON.stringify(error)}`);
};

describe('an upstream CA that expects a confirmation', () => {
  test('gets it when the certificate is recorded, before the device gets the certificate', async () => {
    await using one = await site();
    let recorded: number | undefined;
    one.issuer.confirm = async (...args) => {
      recorded = (await one.certificates()).length;
      await one.own.confirm!(...args);
    };
    expect((await one.ask()).kind).toBe('issued');
    expect(recorded).toBe(1);
    expect(one.told).toEqual(['issue 16', 'confirm handle true']);
  });

  test('gets it again until it succeeds', async () => {
    await using one = await site({ confirm: unreachable });
    expect(await one.ask()).toMatchObject({ kind: 'pending' });
    expect((await one.requests())[0]).toMatchObject({ state: 'received', attempts: 1 });
    one.issuer.confirm = one.own.confirm!;
    one.service.clock.advance(60_000);
    await one.service.gateway.maintain('a');
    expect((await one.ask()).kind).toBe('issued');
    expect(one.told).toEqual(['issue 16', 'confirm handle true']);
    expect(await one.certificates()).toHaveLength(1);
  });

  test('is notified that a wrong certificate is rejected', async () => {
    await using one = await site();
    one.issuer.issue = async ({ prepared }) => {
      const request = { ...prepared.request!, publicKey: testKey('p-256', 'stranger').publicKey };
      return { kind: 'issued', certificate: one.ca.certify(request), chain: [], confirm: 'wrong' };
    };
    expect((await faultOf(one.ask())).detail).toContain('has another public key than requested');
    expect(one.told).toEqual(['confirm wrong false']);
    expect(await one.certificates()).toEqual([]);
  });
});

describe('a certificate whose confirmation the upstream CA rejects', () => {
  const refuse = () => Promise.reject(new Fault('forbidden', 'another requester opened this transaction'));

  test('is not handed out: it is revoked here and at the upstream CA, and the reason is audited', async () => {
    await using one = await site({ confirm: refuse });
    const fault = await faultOf(one.ask());
    expect([fault.code, fault.detail]).toEqual([
      'unavailable',
      'the certificate could not be confirmed: another requester opened this transaction',
    ]);
    const [record, ...more] = await one.certificates();
    expect([record!.status, record!.revocationReason, more]).toEqual(['revoked', 'cessationOfOperation', []]);
    expect(one.told).toEqual(['issue 16', 'revoke cessationOfOperation']);
    expect(await one.requests()).toMatchObject([{ state: 'failed', code: 'unavailable' }]);
    expect((await one.service.audit('certificate.issue')).slice(-2)).toMatchObject([
      { outcome: 'success' },
      { outcome: 'failed', detail: { reason: fault.detail } },
    ]);
    expect(await one.service.audit('certificate.revoke')).toHaveLength(1);
    expect(one.service.log.entries.map(({ event }) => event)).toContain(
      'an upstream CA rejected a confirmation; its certificate is revoked',
    );
    // For an hour no new request is sent to the upstream CA.
    expect((await faultOf(one.ask())).detail).toBe(fault.detail);
    one.issuer.confirm = one.own.confirm!;
    one.service.clock.advance(3_600_001);
    expect((await one.ask()).kind).toBe('issued');
    expect((await one.certificates()).map(({ status }) => status).toSorted()).toEqual(['good', 'revoked']);
  });

  test('is revoked only here when the upstream CA cannot be notified', async () => {
    await using one = await site({ confirm: refuse, revoke: unreachable });
    await faultOf(one.ask());
    expect((await one.certificates())[0]!.status).toBe('revoked');
    expect(await one.service.audit('certificate.revokeUpstream')).toMatchObject([{ outcome: 'failed' }]);
  });

  test('is confirmed again when the response cannot be read', async () => {
    await using one = await site({ confirm: () => Promise.reject(new Fault('malformed', 'what?')) });
    expect(await one.ask()).toMatchObject({ kind: 'pending' });
    one.issuer.confirm = one.own.confirm!;
    one.service.clock.advance(60_000);
    expect((await one.ask()).kind).toBe('issued');
    expect(await one.certificates()).toMatchObject([{ status: 'good' }]);
  });

  test('is withdrawn when the request expires', async () => {
    await using one = await site({ confirm: unreachable });
    expect(await one.ask()).toMatchObject({ kind: 'pending' });
    one.service.clock.advance(31 * 24 * 3_600_000);
    await one.service.gateway.maintain('a');
    expect(await one.requests()).toMatchObject([
      { state: 'failed', reason: 'the certificate could not be confirmed in time' },
    ]);
    expect(await one.certificates()).toMatchObject([{ status: 'revoked' }]);
  });

  test('leaves no key that was made for it', async () => {
    await using one = await site({ confirm: refuse });
    const { gateway, admin, store } = one.service;
    const fault = await faultOf(gateway.certificates.create(admin, { commonName: 'made here' }));
    expect(fault.code).toBe('unavailable');
    expect((await store.list('certificateKey', { limit: 9 })).records).toEqual([]);
    expect(await one.certificates()).toMatchObject([{ status: 'revoked', commonName: 'made here' }]);
  });
});

describe('a local CA that an upstream CA certifies', () => {
  const wish = { uniqueName: 'line 1', type: 1, issuer: 'plant', subject: 'CN=line 1' } as const;

  test('is confirmed at the upstream CA', async () => {
    await using one = await site();
    const { gateway, admin } = one.service;
    let confirmed: Uint8Array | undefined;
    one.issuer.confirm = async (_handle, certificate) => {
      confirmed = certificate;
    };
    const ca = await gateway.issuingCas.create(admin, wish);
    expect(confirmed).toEqual(ca.certificate);
    expect(ca.isActive).toBe(true);
  });

  test('is deactivated when the confirmation is rejected', async () => {
    await using one = await site({ confirm: () => Promise.reject(new Fault('forbidden', 'no')) });
    const { gateway, admin, store } = one.service;
    expect((await faultOf(gateway.issuingCas.create(admin, wish))).code).toBe('unavailable');
    expect(await store.find('issuingCa', { uniqueName: 'line 1' })).toMatchObject({ isActive: false });
    expect(await one.service.audit('issuingCa.deactivate')).toHaveLength(1);
  });
});

test('a wrong certificate is revoked at an upstream CA without confirmations', async () => {
  await using one = await site();
  one.issuer.issue = async ({ prepared }) => {
    const request = { ...prepared.request!, publicKey: testKey('p-256', 'stranger').publicKey };
    return { kind: 'issued', certificate: one.ca.certify(request), chain: [] };
  };
  await faultOf(one.ask());
  expect(one.told).toEqual(['revoke superseded']);
});

test('a certificate or a serial number of another device in a response is not revoked at the upstream CA', async () => {
  await using one = await site();
  const by = async (...how: Parameters<typeof one.ca.certify>): Promise<IssuerAnswer> => ({
    kind: 'issued',
    certificate: one.ca.certify(...how),
    chain: [],
  });
  one.issuer.issue = ({ prepared }) => by(prepared.request!);
  await one.ask();
  const { der } = (await one.certificates())[0]!;
  one.issuer.issue = async () => ({ kind: 'issued', certificate: der, chain: [] });
  expect((await faultOf(one.ask('mixed up'))).detail).toContain('has another public key than requested');
  const { serial } = parseCertificate(der);
  one.issuer.issue = ({ prepared }) => by(prepared.request!, { serial });
  expect((await faultOf(one.ask('restored'))).detail).toContain('two certificates with the serial number');
  expect(one.told).toEqual([]);
  expect(await one.certificates()).toMatchObject([{ der, status: 'good' }]);
});

test('a request is not repeated when the response was lost and the upstream CA is not repeatable', async () => {
  await using one = await site({ issue: unreachable });
  const fault = await faultOf(one.ask());
  expect([fault.code, fault.detail]).toEqual(['unavailable', 'no answer; the request is not repeated']);
  one.service.clock.advance(3_600_000);
  await one.service.gateway.maintain('a');
  expect(await one.requests()).toMatchObject([{ state: 'failed', answersFor: null }]);
});

test('a request is not repeated when the instance that sent it stopped and the upstream CA is not repeatable', async () => {
  let asked = 0;
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const issue = () => {
    asked++;
    begin();
    // As after a process that was killed in between.
    return new Promise<never>(() => {});
  };
  await using one = await site({ issue });
  void one.ask();
  await begun;
  one.service.clock.advance(3_600_000);
  await one.service.gateway.maintain('a');
  expect(asked).toBe(1);
  expect(await one.requests()).toMatchObject([{ state: 'failed', answersFor: null, code: 'unavailable' }]);
});

describe('a revocation', () => {
  test('is made at the upstream CA before it is recorded, and is not recorded when that fails', async () => {
    await using one = await site();
    const { gateway, admin } = one.service;
    await one.ask();
    const [record] = await one.certificates();
    one.issuer.revoke = unreachable;
    const fault = await faultOf(gateway.certificates.revoke(admin, record!.id, { reason: 'keyCompromise' }));
    expect(fault.code).toBe('unavailable');
    expect((await one.certificates())[0]!.status).toBe('good');
    one.issuer.revoke = one.own.revoke!;
    await gateway.certificates.revoke(admin, record!.id, { reason: 'keyCompromise' });
    expect((await one.certificates())[0]!.status).toBe('revoked');
    expect(one.told.at(-1)).toBe('revoke keyCompromise');
  });

  test('of the certificates of a deleted device is made at the upstream CA, and failures are audited', async () => {
    await using one = await site({ revoke: unreachable });
    const { gateway, admin } = one.service;
    await one.ask();
    await gateway.devices.remove(admin, 1);
    expect((await one.certificates())[0]!.status).toBe('revoked');
    expect(await one.service.audit('certificate.revokeUpstream')).toMatchObject([
      { outcome: 'failed', detail: { code: 'unavailable', reason: 'cessationOfOperation' } },
    ]);
  });
});
