import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import { settingName } from '#core/configuration/runtime-settings.ts';
import { Fault } from '#core/fault.ts';
import { settingWrite } from '#core/storage/setting-content.ts';
import { type CertificateTemplate, parseCertificate } from '#core/x509/certificate.ts';
import { subjectAltNameExtension } from '#core/x509/extensions/identity.ts';
import {
  basicConstraintsExtension,
  extendedKeyUsageExtension,
  keyUsageExtension,
} from '#core/x509/extensions/usage.ts';
import { parseGeneralName } from '#core/x509/general-name.ts';
import { parseDistinguishedName } from '#core/x509/name.ts';
import { oid } from '#core/x509/oids.ts';
import { person, policy, waiting } from '#tests/fixtures/approvals.ts';
import { recordedOf } from '#tests/fixtures/certificates.ts';
import { answer, certsOnly, type EstUpstream } from '#tests/fixtures/est-upstream.ts';
import { request as pkcs10, testClock } from '#tests/fixtures/installation.ts';
import { intruded, recording } from '#tests/fixtures/intruded.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { type Plant, plant, pumpRequest } from '#tests/fixtures/plant.ts';
import { tcpProxy } from '#tests/fixtures/tcp-proxy.ts';

const key = testKey('p-256', 'pump');
const wish = pumpRequest(key);
const minute = 60_000;

const faultOf = async (promise: Promise<unknown>): Promise<Fault> => {
  const outcome = await promise.then(
    (value) => value,
    (error: unknown) => error,
  );
  if (outcome instanceof Fault) return outcome;
  throw new Error(`no Fault: ${JSON.stringify(outcome)}`);
};

const issued = async (promise: ReturnType<Plant['ask']>): Promise<Uint8Array> => {
  const outcome = await promise;
  if (outcome.kind !== 'issued') throw new Error(`not issued: ${JSON.stringify(outcome)}`);
  return outcome.certificate;
};

const certificates = async ({ service, ca }: Plant) =>
  (await service.store.list('certificate', { where: [{ field: 'ca', is: 'equal', value: ca }], limit: 1000 }))
    .records;

const states = async (one: Plant) => (await one.requests()).map(({ state }) => state);

/** Returns a plant whose requests to its upstream CA before the test are done. */
const ready = async (options?: Parameters<typeof plant>[0]): Promise<Plant> => {
  const made = await plant(options);
  made.upstream.received.length = 0;
  return made;
};

describe('a request to an upstream CA', () => {
  test('has its response stored with the chain, which may change at the upstream CA', async () => {
    await using one = await ready();
    const { gateway, store } = one.service;
    const target = { protocol: 'est', domain: undefined, profile: undefined } as const;
    const [message, kept, nonce] = [Uint8Array.of(1, 2), Uint8Array.of(1), new Uint8Array(16)];
    const outcome = await gateway.enrol(await gateway.admit(one.evidence, target), {
      operation: 'enrol',
      request: { kind: 'pkcs10', der: wish },
      exchange: {
        ...{
          name: 'AB',
          operation: 'ir',
          certReqId: 0,
          message,
          follows: undefined,
          confirmWithin: undefined,
        },
        answer: () => ({ message, kept, nonce }),
      },
    });
    expect(outcome.kind).toBe('issued');
    expect(await store.find('transaction', { name: 'AB' })).toMatchObject({ openingAnswer: message });
  });

  test('gets the certificate of the upstream CA, which is recorded like our own', async () => {
    await using one = await ready();
    const outcome = await one.ask(wish);
    if (outcome.kind !== 'issued') throw new Error('not issued');
    expect([outcome.certificate]).toEqual(one.upstream.issued);
    expect(outcome.chain).toEqual([one.upstream.issuing, one.upstream.root]);
    const parsed = parseCertificate(outcome.certificate);
    const [record, ...more] = await certificates(one);
    expect(more).toEqual([]);
    expect(record).toMatchObject({
      ...recordedOf(outcome.certificate),
      commonName: 'pump-1',
      protocol: 'est',
    });
    const [event] = (await one.service.audit('certificate.issue')).slice(-1);
    expect(event).toMatchObject({
      outcome: 'success',
      detail: { upstream: 'plant', serialNumber: parsed.serialNumber },
    });
    expect(one.upstream.received[0]?.request.der).toEqual(wish);
  });

  test('authenticates the device for its renewal, which goes to the upstream CA too', async () => {
    await using one = await ready();
    const { gateway } = one.service;
    const certificate = await issued(one.ask(wish));
    const evidence = { kind: 'certificate', certificates: [certificate], address: '192.0.2.7' } as const;
    const requester = await gateway.admit(evidence, {
      protocol: 'est',
      domain: undefined,
      profile: undefined,
    });
    const next = pumpRequest(testKey('p-256', 'pump renewed'));
    const outcome = await gateway.enrol(requester, {
      operation: 'renew',
      request: { kind: 'pkcs10', der: next },
    });
    expect(outcome.kind).toBe('issued');
    // The TLS client of the upstream is the gateway, not the device.
    expect(one.upstream.received.map(({ operation }) => operation)).toEqual(['simpleenroll', 'simpleenroll']);
  });

  test('is sent once when it comes many times concurrently, and all get the same certificate', async () => {
    await using one = await ready();
    one.upstream.always(async () => {
      await Bun.sleep(100);
      return undefined;
    });
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => one.ask(wish)));
    expect(one.upstream.received).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.kind === 'issued') expect(outcome.certificate).toEqual(one.upstream.issued[0]!);
      else expect(outcome).toMatchObject({ kind: 'pending', upstream: true });
    }
    expect(await issued(one.ask(wish))).toEqual(one.upstream.issued[0]!);
    expect(await certificates(one)).toHaveLength(1);
  });

  test('is sent again when the certificate was handed out an hour ago or is revoked', async () => {
    await using one = await ready();
    const first = await issued(one.ask(wish));
    one.service.clock.advance(59 * minute);
    expect(await issued(one.ask(wish))).toEqual(first);
    one.service.clock.advance(61 * minute);
    const second = await issued(one.ask(wish));
    expect(second).not.toEqual(first);
    const [record] = await certificates(one);
    await one.service.store.commit([
      { op: 'update', kind: 'certificate', id: record!.id, set: { status: 'revoked' } },
    ]);
    expect(await issued(one.ask(wish))).not.toEqual(second);
  });

  test('is rejected with the reason when EST cannot express it', async () => {
    await using one = await ready();
    const elsewhere = pkcs10(key, 'CN=pump-1', ['DNS:pump-1.plant.example', 'DNS:pump-1']);
    expect((await one.ask(elsewhere)).kind).toBe('issued');
    const server = { protocol: 'est', domain: undefined, profile: 'tls_server' } as const;
    const { gateway } = one.service;
    const requester = await gateway.admit(one.evidence, server);
    // The profile would add the name, but the request is signed without it.
    const refused = await faultOf(
      gateway.enrol(requester, {
        operation: 'enrol',
        request: { kind: 'pkcs10', der: pkcs10(key, 'CN=pump-1') },
      }),
    );
    expect([refused.code, refused.detail]).toEqual([
      'badCsr',
      'the upstream CA requires a request with the final subject alternative names, but the profile changes them',
    ]);
    expect(await one.requests()).toHaveLength(1);
  });
});

describe('an upstream CA that defers', () => {
  test('is polled at the time that it stated, by one caller only', async () => {
    await using one = await ready();
    one.upstream.script(() => answer(202, '', { 'retry-after': '30' }));
    expect(await one.ask(wish)).toMatchObject({ kind: 'pending', retryAfter: 30, upstream: true });
    one.service.clock.advance(29_000);
    expect(await one.ask(wish)).toMatchObject({ kind: 'pending', retryAfter: 1 });
    expect(one.upstream.received).toHaveLength(1);
    one.service.clock.advance(1000);
    await Promise.all([one.service.gateway.maintain('a'), one.service.gateway.maintain('b'), one.ask(wish)]);
    expect(one.upstream.received).toHaveLength(2);
    expect(one.upstream.received[1]!.request.der).toEqual(wish);
    expect(await issued(one.ask(wish))).toEqual(one.upstream.issued[0]!);
  });

  test('is polled by maintenance, also after a restart', async () => {
    await using one = await ready();
    one.upstream.always(() => answer(202, '', { 'retry-after': '300' }));
    const { clock, gateway } = one.service;
    expect((await one.ask(wish)).kind).toBe('pending');
    for (let n = 0; n < 12; n++) {
      clock.advance(5 * minute);
      await gateway.maintain('a');
    }
    expect(one.upstream.received).toHaveLength(13);
    expect((await one.ask(wish)).kind).toBe('pending');
    one.upstream.always(undefined);
    clock.advance(5 * minute);
    await gateway.maintain('a');
    expect(await states(one)).toEqual(['issued']);
    // The certificate is available when the device returns days later.
    clock.advance(5 * 24 * 60 * minute);
    expect(await issued(one.ask(wish))).toEqual(one.upstream.issued[0]!);
    expect(one.upstream.received).toHaveLength(14);
  });

  test('may use both forms of Retry-After, within limits', async () => {
    await using one = await ready();
    const { clock } = one.service;
    const at = new Date(clock.now() + 90_000).toUTCString();
    for (const [wished, seconds] of [
      [at, 90],
      ['0', 1],
      ['999999', 3600],
      ['soon', 60],
      [undefined, 60],
    ] as const) {
      one.upstream.script(() => answer(202, '', wished === undefined ? {} : { 'retry-after': wished }));
      const der = pkcs10(testKey('p-256', `pump ${wished}`), 'CN=pump-1');
      expect(await one.ask(der)).toMatchObject({ kind: 'pending', retryAfter: seconds });
    }
  });

  test('for a month makes the request fail', async () => {
    await using one = await ready();
    one.upstream.always(() => answer(202, '', { 'retry-after': '3600' }));
    await one.ask(wish);
    one.service.clock.advance(31 * 24 * 60 * minute);
    await one.service.gateway.maintain('a');
    expect(await states(one)).toEqual(['failed']);
    one.upstream.always(undefined);
    expect((await one.ask(wish)).kind).toBe('issued');
  });
});

describe('a certificate other than the requested one', () => {
  const extensions = (...changes: CertificateTemplate['extensions'][number][]) => {
    const usual = [
      basicConstraintsExtension({ ca: false }),
      keyUsageExtension(['digitalSignature']),
      extendedKeyUsageExtension([oid.clientAuth]),
    ].filter((one) => !changes.some((change) => change.oid === one.oid));
    return { extensions: [...usual, ...changes] };
  };
  const day = 24 * 60 * minute;
  const rows: readonly (readonly [
    string,
    (upstream: EstUpstream, now: number, der: Parameters<EstUpstream['certify']>[0]) => Uint8Array,
    string,
  ])[] = [
    [
      'another key',
      (upstream, _now, request) =>
        upstream.certify({ ...request, publicKey: testKey('p-256', 'stranger').publicKey }),
      'has another public key than requested',
    ],
    [
      'another subject',
      (upstream, _now, request) =>
        upstream.certify(request, { subject: parseDistinguishedName('CN=pump-2') }),
      'has another subject than requested',
    ],
    [
      'an alternative name',
      (upstream, _now, request) =>
        upstream.certify(request, extensions(subjectAltNameExtension([parseGeneralName('DNS:pump-2')]))),
      'has other subject alternative names than requested',
    ],
    [
      'a CA',
      (upstream, _now, request) =>
        upstream.certify(request, extensions(basicConstraintsExtension({ ca: true }))),
      'is a CA certificate',
    ],
    [
      'more uses of the key',
      (upstream, _now, request) =>
        upstream.certify(request, extensions(keyUsageExtension(['digitalSignature', 'keyCertSign']))),
      'allows more key usages than requested (keyUsage)',
    ],
    [
      'any use of the key',
      (upstream, _now, request) =>
        upstream.certify(request, { extensions: [extendedKeyUsageExtension([oid.clientAuth])] }),
      'allows more key usages than requested (keyUsage)',
    ],
    [
      'another purpose',
      (upstream, _now, request) =>
        upstream.certify(request, extensions(extendedKeyUsageExtension([oid.clientAuth, oid.serverAuth]))),
      'allows more purposes than requested (extendedKeyUsage)',
    ],
    [
      'ten years',
      (upstream, now, request) => upstream.certify(request, { notAfter: now + 3650 * day }),
      'is valid for longer than its profile allows',
    ],
    [
      'yesterday',
      (upstream, now, request) =>
        upstream.certify(request, { notBefore: now - 3 * day, notAfter: now - day }),
      'has expired',
    ],
    [
      'next week',
      (upstream, now, request) => upstream.certify(request, { notBefore: now + 7 * day }),
      'is not valid yet',
    ],
    [
      'another CA of the same name',
      (upstream, _now, request) => upstream.certify(request, {}, upstream.impostor),
      'was not issued by that CA',
    ],
  ];
  let one: Plant;
  beforeAll(async () => {
    one = await ready();
  });
  afterAll(() => one[Symbol.asyncDispose]());

  for (const [what, make, why] of rows) {
    test(`${what}: is not visible, is reported, and is not requested again immediately`, async () => {
      const { clock } = one.service;
      const before = (await certificates(one)).length;
      const asked = one.upstream.received.length;
      const der = pumpRequest(testKey('p-256', what));
      let wrong: Uint8Array | undefined;
      one.upstream.always((request) => {
        wrong = make(one.upstream, clock.now(), request);
        return certsOnly(wrong);
      });
      const fault = await faultOf(one.ask(der));
      expect(fault.code).toBe('unavailable');
      expect(fault.detail).toStartWith(`the certificate from the upstream CA ${why}`);
      expect(await certificates(one)).toHaveLength(before);
      const last = (await one.requests()).at(-1)!;
      expect(last).toMatchObject({ state: 'failed', refused: wrong! });
      const [event] = (await one.service.audit('certificate.issue')).slice(-1);
      expect(event).toMatchObject({ outcome: 'failed', object: `upstreamRequest:${last.id}` });
      expect((await faultOf(one.ask(der))).detail).toBe(fault.detail);
      expect(one.upstream.received).toHaveLength(asked + 1);
      // After a repair of the upstream CA, the gateway works without one.
      one.upstream.always(undefined);
      clock.advance(61 * minute);
      expect((await one.ask(der)).kind).toBe('issued');
    });
  }

  for (const [what, body] of [
    ['no PKCS #7', 'hello'],
    ['nothing', ''],
    ['base64 of something else', 'AAAA'],
  ] as const) {
    test(`${what}, which cannot be read: unavailable, and not an error of the device`, async () => {
      one.upstream.always(() => answer(200, body));
      expect((await faultOf(one.ask(pumpRequest(testKey('p-256', what))))).code).toBe('unavailable');
      expect((await states(one)).at(-1)).toBe('failed');
      one.upstream.always(undefined);
    });
  }

  test('is rejected when another certificate has its serial number', async () => {
    await one.ask(wish);
    const before = (await certificates(one)).length;
    const { serial } = parseCertificate(one.upstream.issued.at(-1)!);
    one.upstream.always((request) => certsOnly(one.upstream.certify(request, { serial })));
    const fault = await faultOf(one.ask(pumpRequest(testKey('p-256', 'second pump'))));
    expect(fault.detail).toContain('two certificates with the serial number');
    expect(await certificates(one)).toHaveLength(before);
  });
});

describe('an upstream CA that rejects a request', () => {
  for (const [status, code] of [
    [400, 'badCsr'],
    [403, 'forbidden'],
  ] as const) {
    test(`with ${status} is called again after five minutes`, async () => {
      await using one = await ready();
      one.upstream.always(() => answer(status, 'not in this plant'));
      const fault = await faultOf(one.ask(wish));
      expect([fault.code, fault.detail]).toEqual([
        code,
        `the upstream CA responded with status ${status}: not in this plant`,
      ]);
      expect((await faultOf(one.ask(wish))).code).toBe(code);
      expect(one.upstream.received).toHaveLength(1);
      one.upstream.always(undefined);
      one.service.clock.advance(5 * minute);
      expect((await one.ask(wish)).kind).toBe('issued');
    });
  }
});

describe('an upstream CA that is unreachable', () => {
  test('with 5xx is called again after growing pauses; the device gets 503 and later its certificate', async () => {
    await using one = await ready();
    const { clock, gateway } = one.service;
    one.upstream.script(
      () => answer(503, 'busy', { 'retry-after': '20' }),
      () => answer(500),
    );
    const fault = await faultOf(one.ask(wish));
    expect([fault.code, fault.retryAfter]).toEqual(['unavailable', 20]);
    expect(fault.detail).toBe('the upstream CA responded with status 503: busy');
    clock.advance(19_000);
    await gateway.maintain('a');
    expect(one.upstream.received).toHaveLength(1);
    clock.advance(1000);
    await gateway.maintain('a');
    expect((await one.requests())[0]).toMatchObject({
      state: 'asked',
      attempts: 2,
      reason: 'the upstream CA responded with status 500',
    });
    clock.advance(minute);
    await gateway.maintain('a');
    expect(await issued(one.ask(wish))).toEqual(one.upstream.issued[0]!);
    expect(one.upstream.received).toHaveLength(3);
    expect(await certificates(one)).toHaveLength(1);
  });

  test('three times in a row is not called for a while, which health reports, and is then called again', async () => {
    let proxied = 0;
    await using proxy = await tcpProxy(() => proxied);
    await using one = await ready({
      port: (upstream) => {
        proxied = upstream.port;
        return proxy.port;
      },
    });
    const { gateway, clock } = one.service;
    const asks = (n: number) => one.ask(pumpRequest(testKey('p-256', `pump ${n}`)));
    proxy.mode = 'refuse';
    for (let n = 0; n < 3; n++) expect((await faultOf(asks(n))).code).toBe('unavailable');
    expect((await gateway.health())['issuers.plant']).toMatchObject({ ok: false });
    const before = proxy.connections;
    const fault = await faultOf(asks(3));
    expect([fault.code, fault.retryAfter]).toEqual(['unavailable', 10]);
    await faultOf(asks(0));
    await gateway.maintain('a');
    expect(proxy.connections).toBe(before);
    // A request that was never sent does not wait for it.
    expect(await one.requests()).toHaveLength(3);
    proxy.mode = 'pass';
    clock.advance(minute);
    await gateway.maintain('a');
    expect((await gateway.health())['issuers.plant']).toEqual({ ok: true });
    for (let n = 0; n < 4; n++) expect((await asks(n)).kind).toBe('issued');
    expect(await certificates(one)).toHaveLength(4);
    expect(one.upstream.received).toHaveLength(4);
  });

  for (const [what, mode] of [
    ['is slow', 'hang'],
    ['is cut off in mid-answer', { cut: 3000 }],
    ['closes the connection', 'refuse'],
  ] as const) {
    test(`because it ${what} loses nothing: the request is sent again and nothing is recorded twice`, async () => {
      let proxied = 0;
      await using proxy = await tcpProxy(() => proxied);
      await using one = await ready({
        port: (upstream) => {
          proxied = upstream.port;
          return proxy.port;
        },
      });
      // An upstream CA that recognizes a repeated request.
      const known = new Map<string, Uint8Array>();
      one.upstream.always((request) => {
        const name = request.der.toBase64();
        const certificate = known.get(name) ?? one.upstream.certify(request);
        known.set(name, certificate);
        return certsOnly(certificate);
      });
      proxy.mode = mode;
      const fault = await faultOf(one.ask(wish));
      expect(fault.code).toBe('unavailable');
      expect(await states(one)).toEqual(['asked']);
      proxy.mode = 'pass';
      one.service.clock.advance(minute);
      await one.service.gateway.maintain('a');
      expect(await issued(one.ask(wish))).toEqual([...known.values()][0]!);
      expect(known.size).toBe(1);
      expect(await certificates(one)).toHaveLength(1);
    });
  }

  test('after the same response twice has one certificate recorded', async () => {
    await using one = await ready();
    const first = await issued(one.ask(wish));
    one.service.clock.advance(2 * 60 * minute);
    one.upstream.always(() => certsOnly(first));
    expect(await issued(one.ask(wish))).toEqual(first);
    expect(await certificates(one)).toHaveLength(1);
  });
});

describe('a gateway that crashes', () => {
  test('between request and response is replaced by another one, and the device gets its certificate', async () => {
    await using one = await ready();
    let heard: (() => void) | undefined;
    one.upstream.script(async () => {
      await new Promise<void>((resolve) => {
        heard = resolve;
      });
      return answer(500);
    });
    // This instance does not continue: the record is all it left.
    const lost = one.ask(wish).catch(() => undefined);
    while (!heard) await Bun.sleep(5);
    const [left] = await one.requests();
    expect(left).toMatchObject({ state: 'asked', attempts: 0, certificate: null });
    expect(await one.ask(wish)).toMatchObject({ kind: 'pending', retryAfter: 5 });
    one.service.clock.advance(minute);
    await one.service.gateway.maintain('another');
    expect(await states(one)).toEqual(['issued']);
    expect(one.upstream.received).toHaveLength(2);
    heard();
    await lost;
    expect(await issued(one.ask(wish))).toEqual(one.upstream.issued[0]!);
    expect(await states(one)).toEqual(['issued']);
    expect(await certificates(one)).toHaveLength(1);
  });
});

describe('the CA certificate of an upstream CA', () => {
  test('is updated for a new key when the upstream CA issues a certificate', async () => {
    await using one = await ready();
    one.upstream.rollOver();
    expect((await one.ask(wish)).kind).toBe('issued');
    const record = await one.service.store.get('issuingCa', one.ca);
    expect(record?.certificate).toEqual(one.upstream.issuing);
    expect(await one.service.audit('issuingCa.rollover')).toHaveLength(1);
  });

  test('is updated for a new key for all concurrent requests', async () => {
    await using one = await ready();
    one.service.clock.advance(minute);
    one.upstream.rollOver();
    const names = ['one', 'two', 'three'];
    const { promise: all, resolve } = Promise.withResolvers<void>();
    one.upstream.always(async () => {
      if (one.upstream.received.length === names.length) resolve();
      await all;
      return undefined;
    });
    const asked = names.map((name) => one.ask(pumpRequest(testKey('p-256', name))));
    expect((await Promise.all(asked)).map(({ kind }) => kind)).toEqual(['issued', 'issued', 'issued']);
    expect(await one.service.audit('issuingCa.rollover')).toHaveLength(1);
  });

  test('is updated for a new key within an hour', async () => {
    await using one = await ready();
    await one.service.gateway.maintain('a');
    one.upstream.rollOver();
    one.service.clock.advance(61 * minute);
    await one.service.gateway.maintain('a');
    const record = await one.service.store.get('issuingCa', one.ca);
    expect(record?.certificate).toEqual(one.upstream.issuing);
  });

  test('does not support revocation over EST, and nothing is recorded', async () => {
    await using one = await ready();
    const { gateway, admin } = one.service;
    await one.ask(wish);
    const [record] = await certificates(one);
    const fault = await faultOf(gateway.certificates.revoke(admin, record!.id, { reason: 'keyCompromise' }));
    expect([fault.code, fault.detail]).toEqual([
      'unsupported',
      'the upstream CA "plant" cannot revoke certificates over EST',
    ]);
    expect((await certificates(one))[0]!.status).toBe('good');
  });

  test('has no CRL here, and none can be issued', async () => {
    await using one = await ready();
    const { gateway, admin } = one.service;
    expect((await faultOf(gateway.crl(one.ca))).code).toBe('notFound');
    expect((await faultOf(gateway.issuingCas.generateCrl(admin, one.ca))).code).toBe('unsupported');
    expect(await gateway.caCertificate(one.ca)).toEqual(one.upstream.issuing);
    expect(await gateway.caCertificates(undefined)).toEqual([one.upstream.issuing, one.upstream.root]);
  });
});

test('an approval stays granted while the upstream CA decides and until the device collects the certificate', async () => {
  await using one = await ready();
  const { gateway, clock, store } = one.service;
  await policy(one.service, { decision: 'manual', expiresIn: 3600 });
  const id = await waiting(one.ask(wish));
  await gateway.approvals.approve(await person(one.service, 'jo'), id, { comment: 'as agreed' });
  one.upstream.always(() => answer(202, '', { 'retry-after': '600' }));
  const approvals = async () => (await store.list('approval', { limit: 10 })).records;
  for (const keepsHouse of [true, false]) {
    expect(await one.ask(wish)).toMatchObject({ kind: 'pending', upstream: true });
    clock.advance(61 * minute);
    if (keepsHouse) await gateway.maintain('a');
  }
  one.upstream.always(undefined);
  await gateway.maintain('a');
  expect(await states(one)).toEqual(['issued']);
  clock.advance(61 * minute);
  await gateway.maintain('a');
  expect((await one.ask(wish)).kind).toBe('issued');
  expect(await approvals()).toMatchObject([{ id, state: 'issued' }]);
});

test('a device that is deleted in the meantime gets no certificate', async () => {
  await using one = await ready();
  const { gateway, admin, clock } = one.service;
  one.upstream.script(() => answer(202, '', { 'retry-after': '10' }));
  await one.ask(wish);
  await gateway.devices.remove(admin, 1);
  clock.advance(minute);
  await gateway.maintain('a');
  expect(await certificates(one)).toEqual([]);
  expect((await one.requests())[0]).toMatchObject({ state: 'failed', reason: 'the device was deleted' });
});

test('a certificate is not recorded when the policy forbids its signature since the request', async () => {
  await using one = await ready();
  const { store, clock } = one.service;
  one.upstream.script(async () => {
    const setting = await store.find('setting', { name: settingName });
    const value = Buffer.from(JSON.stringify({ securityLevel: 'critical' }));
    await store.commit([settingWrite(settingName, setting, value, false)]);
    clock.advance(2000);
    return undefined;
  });
  const fault = await faultOf(one.ask(wish));
  expect(fault.detail).toContain('does not allow the signature algorithm ecdsa-sha256');
  expect(await certificates(one)).toEqual([]);
  expect((await one.requests())[0]).toMatchObject({ state: 'failed' });
});

test('a response to a request that another gateway completed is not recorded', async () => {
  const clock = testClock();
  const { store, before } = intruded(await openSqliteStore({ path: ':memory:', clock }));
  await using one = await ready({ store, clock });
  before(recording('certificate.issue'), async () => {
    const [{ id } = { id: 0 }] = await one.requests();
    await store.commit([
      { op: 'update', kind: 'upstreamRequest', id, set: { state: 'failed', reason: 'ended' } },
    ]);
  });
  await faultOf(one.ask(wish));
  expect(await certificates(one)).toEqual([]);
  expect((await one.requests())[0]).toMatchObject({ state: 'failed', reason: 'ended' });
});

test('a completed request is deleted after a while', async () => {
  await using one = await ready();
  await one.ask(wish);
  one.upstream.script(() => answer(403));
  await faultOf(one.ask(pumpRequest(testKey('p-256', 'refused'))));
  expect(await one.requests()).toHaveLength(2);
  one.service.clock.advance(8 * 24 * 60 * minute);
  await one.service.gateway.maintain('a');
  expect(await one.requests()).toEqual([]);
});
