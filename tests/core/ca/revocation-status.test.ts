import { describe, expect, test } from 'bun:test';
import type { Authority } from '#core/ca/revocation-status.ts';
import { readDer } from '#core/der/reader.ts';
import { Fault } from '#core/fault.ts';
import type { KeyStore } from '#core/ports/keys.ts';
import { readSignatureAlgorithm } from '#core/x509/algorithm.ts';
import { extension, formatSerial, parseCertificate } from '#core/x509/certificate.ts';
import { decodeExtendedKeyUsage } from '#core/x509/extensions/usage.ts';
import { oid } from '#core/x509/oids.ts';
import { readPublicKey, verifySignature } from '#core/x509/public-key.ts';
import { type Installation, installation, password, request } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';

const day = 24 * 3_600_000;

async function enrolled(service: Installation, name = 'pump-1') {
  const { device, password: secret } = await service.device(name);
  const der = await service.enrol(password(name, secret), {}, request(testKey('p-256', name), `CN=${name}`));
  const { serial, serialNumber } = parseCertificate(der);
  const record = await service.store.find('certificate', { serialNumber });
  return { device, serial, id: record!.id, ca: record!.ca };
}

const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'none',
    (error: unknown) => (error instanceof Fault ? error.code : String(error)),
  );

describe('the status of a certificate', () => {
  test('is good until it is revoked, and then has time and reason', async () => {
    await using service = await installation();
    const { gateway, admin, clock } = service;
    const { ca, serial, id } = await enrolled(service);
    const statuses = gateway.revocationStatuses;
    expect(await statuses.of(ca, serial)).toEqual({ kind: 'good' });
    clock.advance(5000);
    await gateway.certificates.revoke(admin, id, { reason: 'keyCompromise' });
    expect(await statuses.of(ca, serial)).toEqual({
      kind: 'revoked',
      at: clock.now(),
      reason: 'keyCompromise',
    });
  });

  test('is revoked while it is on hold, and good again after its release', async () => {
    await using service = await installation();
    const { gateway, admin, clock } = service;
    const { ca, serial, id } = await enrolled(service);
    const at = clock.now();
    await gateway.certificates.revoke(admin, id, { reason: 'certificateHold' });
    clock.advance(5000);
    expect(await gateway.revocationStatuses.of(ca, serial)).toEqual({
      kind: 'revoked',
      at,
      reason: 'certificateHold',
    });
    await gateway.certificates.revoke(admin, id, { reason: 'removeFromCRL' });
    expect(await gateway.revocationStatuses.of(ca, serial)).toEqual({ kind: 'good' });
  });

  test('is unknown for any serial number that the CA never issued', async () => {
    await using service = await installation();
    const { ca, serial } = await enrolled(service);
    const statuses = service.gateway.revocationStatuses;
    const never = [
      Uint8Array.of(1),
      Uint8Array.of(0),
      new Uint8Array(0),
      new Uint8Array(40).fill(7),
      Uint8Array.of(0xff, ...serial),
      serial.slice(1),
    ];
    for (const one of never) expect(await statuses.of(ca, one)).toEqual({ kind: 'unknown' });
    expect(await statuses.of(ca + 1000, serial)).toEqual({ kind: 'unknown' });
  });

  test.each<[octets: number, kind: string]>([
    [19, 'good'],
    [20, 'good'],
    // RFC 5280 §4.1.2.2: twenty octets, and a leading zero octet if the first bit is set.
    [21, 'good'],
    [22, 'unknown'],
  ])('of a serial number with %p octets is %s', async (octets, kind) => {
    await using service = await installation();
    const { id, ca } = await enrolled(service);
    const { id: _, ...record } = (await service.store.get('certificate', id))!;
    const serial = new Uint8Array(octets).fill(octets > 20 ? 0xa5 : 0x5a);
    if (octets > 20) serial[0] = 0;
    const values = { ...record, serialNumber: formatSerial(serial) };
    await service.store.commit([{ op: 'insert', kind: 'certificate', values }]);
    expect((await service.gateway.revocationStatuses.of(ca, serial)).kind).toBe(kind as 'good');
  });

  test('is unknown while Postern does not know whether it was signed', async () => {
    await using service = await installation();
    const { store, gateway } = service;
    const { ca, serial, id } = await enrolled(service);
    for (const status of ['intended', 'failed'] as const) {
      await store.commit([{ op: 'update', kind: 'certificate', id, set: { status } }]);
      expect(await gateway.revocationStatuses.of(ca, serial)).toEqual({ kind: 'unknown' });
    }
  });
});

describe('the CAs with revocation status', () => {
  test('are those whose key is available, identified by name and key', async () => {
    await using service = await installation();
    const { gateway, admin } = service;
    const { records } = await gateway.issuingCas.list(admin, { limit: 10 });
    const authorities = await gateway.revocationStatuses.authorities();
    expect(authorities.map(({ id }) => id).sort()).toEqual(records.map(({ id }) => id).sort());
    for (const { id, name, publicKey } of authorities) {
      const certificate = parseCertificate(records.find((record) => record.id === id)!.certificate);
      expect(name).toEqual(certificate.subject.der);
      expect(publicKey).toEqual(readPublicKey(certificate.spki).bytes);
    }
    expect(await gateway.revocationStatuses.authorities()).toBe(authorities);
  });
});

describe('the OCSP responder of a CA', () => {
  test('has a certificate from that CA for OCSP signing only, for one week, with id-pkix-ocsp-nocheck', async () => {
    await using service = await installation();
    const { gateway, clock } = service;
    for (const { id, publicKey } of await gateway.revocationStatuses.authorities()) {
      const responder = await gateway.revocationStatuses.responder(id);
      const certificate = parseCertificate(responder.certificate!);
      const issuer = parseCertificate(await gateway.caCertificate(id));
      expect(certificate.issuer.der).toEqual(issuer.subject.der);
      expect(
        verifySignature(
          readPublicKey(issuer.spki),
          certificate.signatureAlgorithm!,
          certificate.tbs,
          certificate.signature,
        ),
      ).toBe(true);
      expect(decodeExtendedKeyUsage(extension(certificate, oid.extendedKeyUsage)!.value)).toEqual([
        oid.ocspSigning,
      ]);
      expect(extension(certificate, oid.ocspNoCheck)).toMatchObject({
        critical: false,
        value: Uint8Array.of(5, 0),
      });
      expect(responder.notAfter).toBe(clock.now() + 7 * day);
      expect(responder.publicKey).not.toEqual(publicKey);
      const data = Buffer.from('an answer');
      const algorithm = readDer(responder.algorithm, readSignatureAlgorithm);
      const signature = await responder.sign(data);
      expect(verifySignature(readPublicKey(certificate.spki), algorithm, data, signature)).toBe(true);
    }
  });

  test('is created once for concurrent callers, and renewed when a third of its validity is left', async () => {
    await using service = await installation();
    const { gateway, clock, store } = service;
    const [{ id }] = (await gateway.revocationStatuses.authorities()) as readonly [Authority];
    const made = await Promise.all(
      Array.from({ length: 20 }, () => gateway.revocationStatuses.responder(id)),
    );
    expect(new Set(made).size).toBe(1);
    const issuances = async () =>
      (await service.audit('certificate.issue')).filter(({ detail }) =>
        String(detail.subject).startsWith('CN=OCSP '),
      ).length;
    expect(await issuances()).toBe(1);
    clock.advance(4 * day);
    expect((await gateway.revocationStatuses.responder(id)).certificate).toBe(made[0]!.certificate);
    clock.advance(day);
    const renewed = await gateway.revocationStatuses.responder(id);
    expect(renewed.notAfter).toBe(clock.now() + 7 * day);
    expect(await issuances()).toBe(2);
    const names = async () => (await store.list('credential', { limit: 100 })).records.filter(isResponder);
    // The previous key remains for signatures in progress, until the next renewal.
    const [current, before] = await names();
    expect([current!.uniqueName, before!.uniqueName]).toEqual([
      `ocsp-responder-${id}`,
      `ocsp-responder-${id}-before`,
    ]);
    expect(await made[0]!.sign(Buffer.from('x'))).toBeInstanceOf(Uint8Array);
    clock.advance(5 * day);
    await gateway.revocationStatuses.responder(id);
    expect((await names()).map((one) => one.id)).not.toContain(before!.id);
    expect(await names()).toHaveLength(2);
    expect(await codeOf(service.keys.publicKey(before!.key.id))).toBe('notFound');
    expect(await service.keys.publicKey(current!.key.id)).toBeInstanceOf(Uint8Array);
  });

  test('keeps signing while the CA key is unavailable, and is renewed within a minute afterwards', async () => {
    let gone = false;
    const token = (keys: KeyStore): KeyStore => ({
      keyTypes: keys.keyTypes,
      inProcess: false,
      generate: (type, label) => keys.generate(type, label),
      publicKey: (id) => keys.publicKey(id),
      remove: (id) => keys.remove(id),
      health: () => keys.health(),
      close: async () => {},
      sign: async (id, algorithm, data) => {
        if (gone) throw new Fault('unavailable', 'no token');
        return keys.sign(id, algorithm, data);
      },
    });
    await using service = await installation({ token });
    const { gateway, admin, clock } = service;
    const ca = await gateway.issuingCas.create(admin, {
      uniqueName: 'token',
      type: 3,
      commonName: 'Token',
      keyType: 'p-256',
      keyStore: 'hsm',
      parent: 1,
    });
    const first = await gateway.revocationStatuses.responder(ca.id);
    expect(parseCertificate(first.certificate!).issuer.der).toEqual(
      parseCertificate(ca.certificate).subject.der,
    );
    gone = true;
    clock.advance(6 * day);
    const old = await gateway.revocationStatuses.responder(ca.id);
    expect(old.certificate).toEqual(first.certificate!);
    expect(await old.sign(Buffer.from('x'))).toBeInstanceOf(Uint8Array);
    gone = false;
    clock.advance(61_000);
    expect((await gateway.revocationStatuses.responder(ca.id)).notAfter).toBe(clock.now() + 7 * day);
    gone = true;
    clock.advance(8 * day);
    expect(await codeOf(gateway.revocationStatuses.responder(ca.id))).toBe('unavailable');
  });

  test('is the CA itself when the CA is inactive', async () => {
    await using service = await installation();
    const { gateway, admin } = service;
    const { ca } = await enrolled(service);
    const spare = await gateway.issuingCas.create(admin, {
      uniqueName: 'spare',
      type: 1,
      commonName: 'Spare',
      parent: 1,
    });
    await gateway.domains.update(admin, 1, { issuingCa: spare.id });
    await gateway.issuingCas.update(admin, ca, { isActive: false });
    const responder = await gateway.revocationStatuses.responder(ca);
    expect(responder.certificate).toBeUndefined();
    const own = parseCertificate(await gateway.caCertificate(ca));
    expect(responder.publicKey).toEqual(readPublicKey(own.spki).bytes);
    const data = Buffer.from('an answer');
    const algorithm = readDer(responder.algorithm, readSignatureAlgorithm);
    expect(verifySignature(readPublicKey(own.spki), algorithm, data, await responder.sign(data))).toBe(true);
  });

  test('does not exist for an unknown CA or an expired one', async () => {
    await using service = await installation();
    const { gateway, clock } = service;
    const [{ id }] = (await gateway.revocationStatuses.authorities()) as readonly [Authority];
    expect(await codeOf(gateway.revocationStatuses.responder(4711))).toBe('notFound');
    clock.advance(40 * 365 * day);
    expect(await codeOf(gateway.revocationStatuses.responder(id))).toBe('notFound');
  });
});

const isResponder = ({ uniqueName }: { uniqueName: string }): boolean =>
  uniqueName.startsWith('ocsp-responder-');
