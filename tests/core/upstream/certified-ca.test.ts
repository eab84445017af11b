import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Fault } from '#core/fault.ts';
import type { KeyStore } from '#core/ports/keys.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { basicConstraintsExtension, keyUsageExtension } from '#core/x509/extensions/usage.ts';
import { validatePath } from '#core/x509/path.ts';
import { answer, certsOnly } from '#tests/fixtures/est-upstream.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { type Plant, plant, pumpRequest } from '#tests/fixtures/plant.ts';

let one: Plant;
beforeAll(async () => {
  // A token that does not export keys.
  one = await plant({ token: ({ export: _, ...keys }) => keys as KeyStore });
});
afterAll(() => one[Symbol.asyncDispose]());

const make = (uniqueName: string, more = {}) =>
  one.service.gateway.issuingCas.create(one.service.admin, {
    uniqueName,
    type: 1,
    issuer: 'plant',
    subject: `CN=${uniqueName},O=Plant`,
    ...more,
  });

const faultOf = async (promise: Promise<unknown>): Promise<Fault> => {
  const error = await promise.then(
    (value) => value,
    (thrown: unknown) => thrown,
  );
  if (error instanceof Fault) return error;
  throw new Error(`no Fault: ${error}`);
};

describe('a local CA that an upstream CA certifies', () => {
  test('signs here, with a chain to the root of the upstream CA, and publishes its own CRLs', async () => {
    const { gateway, admin, clock } = one.service;
    const ca = await make('line 1', { pathLength: 0 });
    expect(ca).toMatchObject({ type: 1, issuer: 'plant', isActive: true, commonName: 'line 1' });
    expect(ca.certificate).toEqual(one.upstream.issued.at(-1)!);
    expect(ca.chain).toEqual([one.upstream.issuing, one.upstream.root]);
    await gateway.domains.update(admin, 1, { issuingCa: ca.id });
    const asked = one.upstream.received.length;
    const outcome = await one.ask(pumpRequest(testKey('p-256', 'of line 1')));
    if (outcome.kind !== 'issued') throw new Error('not issued');
    expect(one.upstream.received).toHaveLength(asked);
    const [issuing, ...above] = outcome.chain.map(parseCertificate);
    const path = validatePath(parseCertificate(outcome.certificate), {
      time: clock.now(),
      intermediates: [issuing!, ...above],
      anchors: [parseCertificate(one.upstream.root)],
    });
    expect(path).toMatchObject({ ok: true });
    await gateway.issuingCas.generateCrl(admin, ca.id);
    expect((await gateway.crl(ca.id)).length).toBeGreaterThan(100);
  });

  test('is created when the upstream CA has decided; until then, repeated requests use the same key', async () => {
    const { gateway, admin, clock } = one.service;
    one.upstream.always(() => answer(202, '', { 'retry-after': '120' }));
    const at = one.upstream.received.length;
    const fault = await faultOf(make('line 2'));
    expect([fault.code, fault.retryAfter]).toEqual(['unavailable', 120]);
    expect((await faultOf(make('line 2'))).code).toBe('unavailable');
    clock.advance(121_000);
    expect((await faultOf(make('line 2'))).code).toBe('unavailable');
    const requests = one.upstream.received.slice(at).map(({ request }) => request.der);
    expect(requests).toHaveLength(2);
    expect(requests[1]).toEqual(requests[0]!);
    one.upstream.always(undefined);
    clock.advance(121_000);
    await gateway.maintain('a');
    const [made] = (await gateway.issuingCas.list(admin, { limit: 1 })).records;
    expect(made).toMatchObject({ uniqueName: 'line 2', isActive: true });
    expect((await faultOf(make('line 2'))).field).toBe('uniqueName');
  });

  test('may be certified by the root above the issuing CA', async () => {
    one.upstream.script((request) => certsOnly(one.upstream.certify(request, {}, one.upstream.top)));
    const ca = await make('line 3');
    expect(ca.chain).toEqual([one.upstream.root]);
  });

  for (const [what, extensions, why] of [
    ['that is none of a CA', [basicConstraintsExtension({ ca: false })], 'is not a CA certificate'],
    [
      'by which no certificates can be signed',
      [basicConstraintsExtension({ ca: true }), keyUsageExtension(['cRLSign', 'digitalSignature'])],
      'lacks the key usages of a CA (keyUsage)',
    ],
  ] as const) {
    test(`is not created from a certificate ${what}, and its key is destroyed`, async () => {
      const keys = async () => (await one.service.keys.files!.list()).length;
      const before = await keys();
      one.upstream.script((request) => certsOnly(one.upstream.certify(request, { extensions })));
      const fault = await faultOf(make(`no ${what.slice(0, 10)}`));
      expect(fault.detail).toBe(`the certificate from the upstream CA ${why}`);
      expect(await keys()).toBe(before);
    });
  }

  test('that is not certified keeps a key that existed before', async () => {
    const { keys } = one.service;
    const { id } = await keys.generate('p-256', 'of the operator');
    one.upstream.script((request) =>
      certsOnly(one.upstream.certify(request, { extensions: [basicConstraintsExtension({ ca: false })] })),
    );
    const fault = await faultOf(make('no line 4', { type: 3, keyStore: 'hsm', keyId: id }));
    expect(fault.detail).toContain('is not a CA certificate');
    expect(await keys.files!.list()).toContain(id);
    await keys.remove(id);
  });

  test('needs a name and a configured upstream CA', async () => {
    const { gateway, admin } = one.service;
    const nameless = { uniqueName: 'x', type: 1, issuer: 'plant' };
    expect((await faultOf(gateway.issuingCas.create(admin, nameless))).field).toBe('commonName');
    expect((await faultOf(make('y', { issuer: 'nobody' }))).field).toBe('issuer');
    expect((await faultOf(make('z', { parent: 1 }))).field).toBe('parent');
  });
});

describe('a certificate that an administrator requests by name', () => {
  test('is recorded with its key when the upstream CA has decided', async () => {
    const { gateway, admin, clock } = one.service;
    await gateway.domains.update(admin, 1, { issuingCa: one.ca });
    one.upstream.script(() => answer(202, '', { 'retry-after': '60' }));
    const wish = { commonName: 'panel-1' };
    expect(await gateway.certificates.create(admin, wish)).toMatchObject({ kind: 'pending', upstream: true });
    expect(await gateway.certificates.create(admin, wish)).toMatchObject({ kind: 'pending' });
    clock.advance(61_000);
    const made = await gateway.certificates.create(admin, wish);
    if ('kind' in made) throw new Error('still pending');
    const taken = await gateway.certificates.takeKey(admin, made.id);
    expect(taken.certificate).toEqual(one.upstream.issued.at(-1)!);
    // The next request is a new one.
    const next = await gateway.certificates.create(admin, wish);
    expect('kind' in next ? undefined : next.id).toBeGreaterThan(made.id);
  });
});

describe('a certificate of the service itself', () => {
  test('is issued by a CA with a local key although the domain uses an upstream CA', async () => {
    const { gateway, admin } = one.service;
    const asked = one.upstream.received.length;
    const credential = await gateway.credentials.create(admin, { type: 0 });
    expect(credential.type).toBe(0);
    expect(
      parseCertificate((await gateway.protection(undefined)).certificate).subject.der.length,
    ).toBeGreaterThan(0);
    expect(one.upstream.received).toHaveLength(asked);
  });
});
