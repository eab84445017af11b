import { describe, expect, test } from 'bun:test';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import { Fault } from '#core/fault.ts';
import type { KeyStore } from '#core/ports/keys.ts';
import { unsettledRestore } from '#core/ports/snapshot.ts';
import type { Store, Write } from '#core/ports/store.ts';
import { assembleCertificate, buildTbsCertificate, parseCertificate } from '#core/x509/certificate.ts';
import { parseCrl, revokedEntries } from '#core/x509/crl.ts';
import {
  type Installation,
  installation,
  password,
  request,
  testClock,
} from '#tests/fixtures/installation.ts';
import { intruded, recording } from '#tests/fixtures/intruded.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { openssl, pem } from '#tests/fixtures/openssl.ts';

const key = testKey('p-256', 'crls');
const day = 86_400_000;

/** Issues a device certificate; returns the id of its record. */
async function issued(site: Installation, name: string): Promise<number> {
  const { password: secret } = await site.device(name);
  await site.enrol(password(name, secret), {}, request(key, `CN=${name}`));
  return (await site.store.list('certificate', { limit: 1 })).records[0]!.id;
}

const revoke = (site: Installation, id: number) =>
  site.gateway.certificates.revoke(site.admin, id, { reason: 'superseded' });

const serialsOn = (crl: Uint8Array): string[] =>
  [...revokedEntries(parseCrl(crl))].map(({ serial }) => Buffer.from(serial).toString('hex').toUpperCase());

test('OpenSSL verifies and reads a CRL with thousands of entries', async () => {
  await using site = await installation({ clock: testClock(Date.now()) });
  const id = await issued(site, 'pump');
  await revoke(site, id);
  const { id: _, ...record } = (await site.store.get('certificate', id))!;
  const count = 5000;
  const writes = Array.from({ length: count - 1 }, (_, i): Write => {
    const serialNumber = `7F${i.toString(16).toUpperCase().padStart(30, '0')}`;
    return { op: 'insert', kind: 'certificate', values: { ...record, serialNumber } };
  });
  for (let at = 0; at < writes.length; at += 1000) await site.store.commit(writes.slice(at, at + 1000));
  const { crl } = await site.gateway.issuingCas.generateCrl(site.admin, record.ca);
  const files = {
    crl: pem('X509 CRL', crl),
    ca: pem('CERTIFICATE', await site.gateway.caCertificate(record.ca)),
  };
  const { text } = openssl(['crl', '-in', 'crl', '-CAfile', 'ca', '-noout', '-text'], files);
  expect(text).toContain('verify OK');
  expect(text.match(/Serial Number:/g)).toHaveLength(count);
  expect(new Set(serialsOn(crl)).size).toBe(count);
}, 60_000);

test('a CRL lists a revoked certificate until one CRL was issued after it expired', async () => {
  await using site = await installation();
  const id = await issued(site, 'pump');
  const { ca, serialNumber, notValidAfter } = await revoke(site, id);
  const generate = async () => serialsOn((await site.gateway.issuingCas.generateCrl(site.admin, ca)).crl);
  const listed = (serials: string[]) => serials.some((serial) => serial.endsWith(serialNumber));
  site.clock.advance(notValidAfter - site.clock.now() - day);
  expect(listed(await generate())).toBe(true);
  site.clock.advance(2 * day);
  expect(listed(await generate())).toBe(true);
  site.clock.advance(day);
  expect(listed(await generate())).toBe(false);
});

test('CRL numbers increase, and concurrent calls share the next CRL', async () => {
  await using site = await installation();
  const generate = () => site.gateway.issuingCas.generateCrl(site.admin, 2);
  const made = await Promise.all([generate(), generate(), generate(), generate()]);
  expect(made.map(({ number }) => number)).toEqual([2, 2, 2, 2]);
  expect((await generate()).number).toBe(3);
  expect(parseCrl((await generate()).crl).number).toBe(4n);
  expect(await site.gateway.crl(2)).toEqual((await site.store.find('crl', { ca: 2 }))!.crl);
});

test('a CRL number that another instance has used is not used again', async () => {
  let taken: (() => Promise<void>) | undefined;
  const wrapKeys = (keys: KeyStore): KeyStore => ({
    ...keys,
    async sign(...args) {
      await taken?.();
      return keys.sign(...args);
    },
  });
  await using site = await installation({ wrapKeys });
  taken = async () => {
    taken = undefined;
    await site.store.commit([{ op: 'update', kind: 'issuingCa', id: 2, set: { crlNumber: 41 } }]);
  };
  const { number } = await site.gateway.issuingCas.generateCrl(site.admin, 2);
  expect(number).toBe(42);
});

test('CAs that share name and key have one CRL, and the other CA keeps status responses when one expires', async () => {
  await using site = await installation();
  const { id: _, ...ca } = (await site.store.get('issuingCa', 2))!;
  const certificate = parseCertificate(ca.certificate);
  const signatureAlgorithm = certificate.signatureAlgorithm!;
  const tbs = buildTbsCertificate({
    ...certificate,
    signatureAlgorithm,
    notAfter: site.clock.now() + 10 * day,
  });
  const values = {
    ...ca,
    uniqueName: 'short-lived',
    certificate: assembleCertificate(tbs, signatureAlgorithm, certificate.signature),
  };
  const [shortLived = 0] = await site.store.commit([{ op: 'insert', kind: 'issuingCa', values }]);
  site.clock.advance(2000);
  await site.gateway.maintain('test');
  const { number } = parseCrl(await site.gateway.crl(2));
  site.clock.advance(6 * day);
  await site.gateway.maintain('test');
  expect(parseCrl(await site.gateway.crl(2)).number).toBe(number! + 1n);
  expect(await site.gateway.crl(shortLived)).toEqual(await site.gateway.crl(2));
  const statuses = site.gateway.revocationStatuses;
  expect((await statuses.authorities()).map(({ id }) => id)).toEqual([shortLived, 1]);
  site.clock.advance(5 * day);
  expect((await statuses.responder(shortLived)).certificate).toBeDefined();
});

test('the CRL of CAs that share name and key lists the revocations of both', async () => {
  await using site = await installation();
  const before = await revoke(site, await issued(site, 'pump'));
  const { id: _, ...ca } = (await site.store.get('issuingCa', before.ca))!;
  const [renewed = 0] = await site.store.commit([
    { op: 'insert', kind: 'issuingCa', values: { ...ca, uniqueName: 'renewed', crlNumber: 0 } },
  ]);
  await site.store.commit([{ op: 'update', kind: 'domain', id: 1, set: { issuingCa: renewed } }]);
  site.clock.advance(2000);
  const after = await revoke(site, await issued(site, 'valve'));
  expect([before.ca, after.ca]).toEqual([2, renewed]);
  const crl = await site.gateway.crl(renewed);
  expect(crl).toEqual(await site.gateway.crl(2));
  expect(parseCrl(crl).number).toBe(3n);
  expect(serialsOn(crl).sort()).toEqual([before.serialNumber, after.serialNumber]);
  const statuses = site.gateway.revocationStatuses;
  expect((await statuses.authorities()).map(({ id }) => id)).toEqual([renewed, 1]);
  for (const { serialNumber } of [before, after]) {
    expect(await statuses.of(renewed, Buffer.from(serialNumber, 'hex'))).toMatchObject({ kind: 'revoked' });
  }
  // Restores a backup older than the published CRL.
  const good = { status: 'good', revokedAt: null, revocationReason: null } as const;
  for (const { id } of [before, after]) {
    await site.store.commit([{ op: 'update', kind: 'certificate', id, set: good }]);
  }
  const marker = { name: unsettledRestore, value: new Uint8Array() };
  await site.store.commit([{ op: 'insert', kind: 'setting', values: marker }]);
  const settled = await site.gateway.backups.settle(site.admin, { createdAt: 0, crls: [crl] });
  expect(settled).toEqual({ revoked: 2, unknown: 0, withoutCrl: ['root'], withoutNewCrl: [], setAside: [] });
});

describe('maintenance', () => {
  test('issues the first CRLs, and renews them before nextUpdate', async () => {
    await using site = await installation();
    await site.gateway.maintain('one');
    const numbers = async () =>
      (await site.store.list('crl', { limit: 9 })).records.map(({ ca, number }) => [ca, number]).sort();
    expect(await numbers()).toEqual([
      [1, 1],
      [2, 1],
    ]);
    site.clock.advance(4 * day);
    await site.gateway.maintain('one');
    expect(await numbers()).toEqual([
      [1, 1],
      [2, 1],
    ]);
    site.clock.advance(day);
    await site.gateway.maintain('two');
    expect(await numbers()).toEqual([
      [1, 2],
      [2, 2],
    ]);
    for (const { nextUpdate } of (await site.store.list('crl', { limit: 9 })).records)
      expect(nextUpdate).toBe(site.clock.now() + 7 * day);
  });

  test('renews the CRL of an inactive CA until its certificate expires', async () => {
    await using site = await installation();
    await site.gateway.issuingCas.deactivate(site.admin, 2);
    await site.gateway.maintain('one');
    const crl = async () => (await site.store.find('crl', { ca: 2 }))!;
    expect((await crl()).number).toBe(1);
    const { notAfter } = parseCertificate(await site.gateway.caCertificate(2));
    site.clock.advance(notAfter - site.clock.now() + day);
    await site.gateway.maintain('one');
    expect((await crl()).number).toBe(1);
  });

  // The CRL before may have the time of another instance's clock, or of a clock that was corrected.
  test.each([1000, 0, -60_000])(
    'issues a CRL after one that failed at a revocation, %d ms after the previous CRL',
    async (after) => {
      let broken = false;
      const wrapKeys = (keys: KeyStore): KeyStore => ({
        ...keys,
        sign: (...args) => {
          if (broken) throw new Fault('unavailable', 'the token is gone');
          return keys.sign(...args);
        },
      });
      await using site = await installation({ wrapKeys });
      const id = await issued(site, 'pump');
      await site.gateway.maintain('one');
      site.clock.advance(after);
      broken = true;
      const { status, serialNumber } = await revoke(site, id);
      expect(status).toBe('revoked');
      expect(site.log.entries.map(({ event }) => event)).toContain(
        'the CRL after a revocation could not be issued',
      );
      broken = false;
      for (let n = 0; n < 2; n++) {
        await site.gateway.maintain('one');
        const crl = await site.gateway.crl(2);
        expect(serialsOn(crl).some((serial) => serial.endsWith(serialNumber))).toBe(true);
        expect(parseCrl(crl).number).toBe(2n);
      }
    },
  );

  test('replaces CRLs dated in the future, and the new ones keep all entries', async () => {
    await using site = await installation();
    const id = await issued(site, 'pump');
    const { serialNumber } = await revoke(site, id);
    site.clock.advance(3650 * day);
    await site.gateway.issuingCas.generateCrl(site.admin, 2);
    site.clock.advance(-3650 * day);
    await site.gateway.maintain('one');
    const crl = await site.gateway.crl(2);
    expect(parseCrl(crl)).toMatchObject({ number: 4n, thisUpdate: site.clock.now() });
    expect(serialsOn(crl).some((serial) => serial.endsWith(serialNumber))).toBe(true);
  });
});

test('a CRL does not replace a later one that another instance issued', async () => {
  const clock = testClock();
  const own = await openSqliteStore({ path: ':memory:', clock });
  let committed: (() => Promise<void>) | undefined;
  const store: Store = {
    ...own,
    async commit(writes) {
      const ids = await own.commit(writes);
      if (writes.some((write) => write.op === 'update' && write.kind === 'crl')) await committed?.();
      return ids;
    },
  };
  await using site = await installation({ store, clock });
  // The CRL of the first start is no longer cached.
  clock.advance(2000);
  committed = async () => {
    const crl = (await own.find('crl', { ca: 2 }))!;
    await own.commit([{ op: 'update', kind: 'crl', id: crl.id, set: { number: 3, crl: Buffer.from('3') } }]);
    expect(await site.gateway.crl(2)).toEqual(new Uint8Array(Buffer.from('3')));
  };
  expect((await site.gateway.issuingCas.generateCrl(site.admin, 2)).number).toBe(2);
  expect(await site.gateway.crl(2)).toEqual(new Uint8Array(Buffer.from('3')));
});

test('issuing a CRL reports `unavailable` when the key of the CA is missing', async () => {
  await using site = await installation();
  const { key: ofCa } = (await site.store.get('issuingCa', 2))!;
  await site.keys.remove(ofCa!.id);
  const refused = site.gateway.issuingCas.generateCrl(site.admin, 2);
  expect(await refused.catch((fault) => fault)).toMatchObject({
    code: 'unavailable',
    detail: 'the key of the issuing CA is not available on this gateway',
  });
});

test('a CRL with an invalid signature is neither stored nor served', async () => {
  let isWrong = false;
  await using site = await installation({
    wrapKeys: (keys) => ({
      ...keys,
      inProcess: false,
      async sign(...given) {
        const signature = await keys.sign(...given);
        // Another value that is valid DER.
        return isWrong ? testKey('p-256', 'impostor').sign('ecdsa-sha256', given[2]) : signature;
      },
    }),
  });
  const id = await issued(site, 'pump');
  const { ca } = (await site.store.get('certificate', id))!;
  const { crl } = await site.gateway.issuingCas.generateCrl(site.admin, ca);
  isWrong = true;
  const failed = await site.gateway.issuingCas.generateCrl(site.admin, ca).catch((error) => error);
  expect(failed).toMatchObject({ code: 'internal' });
  site.clock.advance(2000);
  expect(await site.gateway.crl(ca)).toEqual(crl);
});

test('a CRL that misses a revocation during its generation is followed by one that lists it', async () => {
  const clock = testClock();
  const { store, before } = intruded(await openSqliteStore({ path: ':memory:', clock }));
  await using site = await installation({ store, clock });
  const ca = (await store.get('certificate', await issued(site, 'pump')))!.ca;
  await store.commit([{ op: 'update', kind: 'issuingCa', id: ca, set: { lastRevocationAt: clock.now() } }]);
  clock.advance(1000);
  const later = clock.now();
  // Another gateway revoked, and could not issue a CRL afterwards.
  before(recording('crl.generate'), () =>
    store.commit([{ op: 'update', kind: 'issuingCa', id: ca, set: { lastRevocationAt: later } }]),
  );
  await site.gateway.issuingCas.generateCrl(site.admin, ca);
  const noted = (await store.get('issuingCa', ca))!;
  expect(noted.lastRevocationAt).toBe(later);
  clock.advance(60_000);
  await site.gateway.maintain('test');
  expect(await store.get('issuingCa', ca)).toMatchObject({
    crlNumber: noted.crlNumber + 1,
    lastRevocationAt: null,
  });
});

test('the newest CRL is read from the store again after a second, or when the clock was set back', async () => {
  const clock = testClock();
  const inner = await openSqliteStore({ path: ':memory:', clock });
  let reads = 0;
  const store: Store = Object.assign(Object.create(inner), {
    listWithout(...query: Parameters<Store['listWithout']>) {
      if (query[0] === 'crl') reads++;
      return inner.listWithout(...query);
    },
  });
  await using site = await installation({ store, clock });
  clock.advance(60_000);
  for (const [advance, expected] of [
    [0, 1],
    [0, 0],
    [999, 0],
    [1, 1],
    [500, 0],
    [-500, 0],
    [-1, 1],
  ] as const) {
    clock.advance(advance);
    reads = 0;
    await site.gateway.crl(1);
    expect([advance, reads]).toEqual([advance, expected]);
  }
});
