import { describe, expect, test } from 'bun:test';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import { Fault } from '#core/fault.ts';
import type { KeyStore } from '#core/ports/keys.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { recordedOf } from '#tests/fixtures/certificates.ts';
import { installation, password, request, testClock } from '#tests/fixtures/installation.ts';
import { intruded, recording } from '#tests/fixtures/intruded.ts';
import { testKey } from '#tests/fixtures/keys.ts';

const key = testKey('p-256', 'issuance');

test('certificates of the service belong to no device, and only its credentials have a profile', async () => {
  await using site = await installation();
  const { records } = await site.store.list('certificate', { limit: 10 });
  expect(
    records.map(({ commonName, protocol, device, domain, profile }) => [
      commonName.replace(/ [0-9A-F]{8}$/, ''),
      protocol,
      device,
      [domain, profile].map((id) => typeof id),
    ]),
  ).toEqual([
    ['pki.example', 'internal', null, ['number', 'number']],
    ['Postern Issuing CA', 'internal', null, ['object', 'object']],
    ['Postern Root CA', 'internal', null, ['object', 'object']],
  ]);
  for (const record of records) expect(record).toMatchObject(recordedOf(record.der));
});

/** An out-of-process key store whose signatures can be tampered with after the first start. */
function remoteKeys() {
  let sign: KeyStore['sign'] | undefined;
  return {
    signWith(replacement: KeyStore['sign']) {
      sign = replacement;
    },
    wrap: (keys: KeyStore): KeyStore => ({
      ...keys,
      inProcess: false,
      sign: (...args) => (sign ?? keys.sign)(...args),
    }),
  };
}

describe('a key in another process', () => {
  test('signs only after the intent is durable', async () => {
    const remote = remoteKeys();
    await using site = await installation({ wrapKeys: remote.wrap });
    const { password: secret } = await site.device('pump');
    let seen: unknown;
    remote.signWith(async () => {
      const { records } = await site.store.list('certificate', { limit: 1 });
      seen = records[0];
      throw new Fault('unavailable', 'the token is gone');
    });
    const attempt = site.enrol(password('pump', secret), {}, request(key, 'CN=pump'));
    await expect(attempt).rejects.toMatchObject({ code: 'unavailable' });
    expect(seen).toMatchObject({ status: 'intended', commonName: 'pump', fingerprint: '' });
    const { records } = await site.store.list('certificate', { limit: 1 });
    expect(records[0]).toMatchObject({ status: 'failed' });
    expect((await site.audit('certificate.issue')).at(-1)).toMatchObject({ outcome: 'failed' });
  });

  test('issues, and the status changes from intended to good', async () => {
    await using site = await installation({ wrapKeys: remoteKeys().wrap });
    const { password: secret } = await site.device('pump');
    const certificate = await site.enrol(password('pump', secret), {}, request(key, 'CN=pump'));
    const { records } = await site.store.list('certificate', { limit: 1 });
    expect(records[0]).toMatchObject({ status: 'good' });
    expect(Buffer.compare(records[0]!.der, certificate)).toBe(0);
  });

  test('a wrong signature is detected before the certificate is handed out', async () => {
    const remote = remoteKeys();
    await using site = await installation({ wrapKeys: remote.wrap });
    const { password: secret } = await site.device('pump');
    remote.signWith(() => testKey('p-256', 'impostor').sign('ecdsa-sha256', new Uint8Array(3)));
    const attempt = site.enrol(password('pump', secret), {}, request(key, 'CN=pump'));
    await expect(attempt).rejects.toMatchObject({ code: 'internal' });
    const { records } = await site.store.list('certificate', { limit: 1 });
    expect(records[0]).toMatchObject({ status: 'failed' });
  });

  test('an intent that is abandoned during the signature stays abandoned, and its certificate is not visible', async () => {
    const remote = remoteKeys();
    await using site = await installation({ wrapKeys: remote.wrap });
    const { password: secret } = await site.device('pump');
    const sign = site.keys.sign.bind(site.keys);
    remote.signWith(async (...given) => {
      site.clock.advance(86_400_000);
      await site.gateway.maintain('another');
      return sign(...given);
    });
    const attempt = await site
      .enrol(password('pump', secret), {}, request(key, 'CN=pump'))
      .catch((error) => error);
    expect(attempt).toMatchObject({ code: 'conflict' });
    const intents = await site.store.list('certificate', {
      where: [{ field: 'commonName', is: 'equal', value: 'pump' }],
      limit: 10,
    });
    expect(intents.records.map(({ status }) => status)).toEqual(['failed']);
    expect(await site.audit('certificate.settle')).toHaveLength(1);
  });

  test('an intent that is abandoned while the key fails is reported once', async () => {
    const remote = remoteKeys();
    await using site = await installation({ wrapKeys: remote.wrap });
    const { password: secret } = await site.device('pump');
    remote.signWith(async () => {
      site.clock.advance(86_400_000);
      await site.gateway.maintain('another');
      throw new Fault('unavailable', 'the token is gone');
    });
    const before = (await site.audit('certificate.issue')).length;
    const attempt = await site
      .enrol(password('pump', secret), {}, request(key, 'CN=pump'))
      .catch((error) => error);
    expect(attempt).toBeInstanceOf(Fault);
    expect(await site.audit('certificate.settle')).toHaveLength(1);
    expect(await site.audit('certificate.issue')).toHaveLength(before);
  });

  test('an intent that is completed during its settlement stays a certificate', async () => {
    const remote = remoteKeys();
    const clock = testClock();
    const { store, before } = intruded(await openSqliteStore({ path: ':memory:', clock }));
    await using site = await installation({ wrapKeys: remote.wrap, store, clock });
    const { password: secret } = await site.device('pump');
    const sign = site.keys.sign.bind(site.keys);
    const signing = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    remote.signWith(async (...given) => {
      signing.resolve();
      await goOn.promise;
      return sign(...given);
    });
    const asked = site.enrol(password('pump', secret), {}, request(key, 'CN=pump'));
    await signing.promise;
    clock.advance(86_400_000);
    before(recording('certificate.settle'), () => {
      goOn.resolve();
      return asked;
    });
    await site.gateway.maintain('another').catch(() => {});
    const { serialNumber } = parseCertificate(await asked);
    expect(await store.find('certificate', { serialNumber })).toMatchObject({ status: 'good' });
    expect(await site.audit('certificate.settle')).toEqual([]);
  });

  test('maintenance settles the intent of a crash, but not too early', async () => {
    const remote = remoteKeys();
    await using site = await installation({ wrapKeys: remote.wrap });
    const { password: secret } = await site.device('pump');
    // The process is killed while the token signs: nothing after this line runs.
    const signing = Promise.withResolvers<void>();
    remote.signWith(() => {
      signing.resolve();
      return new Promise(() => {});
    });
    void site.enrol(password('pump', secret), {}, request(key, 'CN=pump'));
    await signing.promise;
    const newest = async () => (await site.store.list('certificate', { limit: 1 })).records[0]!;
    remote.signWith(() => Promise.reject(new Fault('unavailable', 'gone')));
    await site.gateway.maintain('one');
    expect((await newest()).status).toBe('intended');
    site.clock.advance(11 * 60_000);
    await site.gateway.maintain('one');
    expect((await newest()).status).toBe('failed');
    expect(await site.audit('certificate.settle')).toHaveLength(1);
  });
});

test('serial numbers are positive, unique, at most 20 octets long and have 80 random bits', async () => {
  await using site = await installation();
  const { password: secret } = await site.device('pump');
  const der = request(key, 'CN=pump');
  await Promise.all(Array.from({ length: 100 }, () => site.enrol(password('pump', secret), {}, der)));
  const { records } = await site.store.list('certificate', { limit: 1000 });
  const serials = records.map(({ serialNumber }) => serialNumber);
  expect(new Set(serials).size).toBe(serials.length);
  for (const serial of serials) expect(serial).toMatch(/^[0-7][0-9A-F]{31}$/);
  expect(new Set(serials.map((serial) => serial.slice(12))).size).toBe(serials.length);
});

test('the validity period starts one hour ago and ends no later than that of the CA', async () => {
  await using site = await installation();
  const { password: secret } = await site.device('pump');
  site.clock.advance(9.5 * 365.25 * 24 * 3_600_000);
  await site.enrol(password('pump', secret), {}, request(key, 'CN=pump'));
  const { records } = await site.store.list('certificate', { limit: 1 });
  const issuing = await site.store.find('certificate', {
    commonName: (await site.store.get('issuingCa', 2))!.commonName,
  });
  expect(records[0]!.notValidAfter).toBe(issuing!.notValidAfter);
  expect(records[0]!.notValidBefore).toBe(site.clock.now() - 3_600_000);
});

test('issuance is unavailable when the key exists only at another gateway', async () => {
  let gone = false;
  const wrapKeys = (keys: KeyStore): KeyStore => ({
    ...keys,
    sign: (...signing) =>
      gone ? Promise.reject(new Fault('notFound', 'there is no such key')) : keys.sign(...signing),
  });
  await using site = await installation({ wrapKeys });
  const { password: secret } = await site.device('pump-1');
  gone = true;
  const csr = request(testKey('p-256', 'kill'), 'CN=pump-1');
  const error = await site.enrol(password('pump-1', secret), {}, csr).catch((error: unknown) => error);
  expect(error).toMatchObject({ code: 'unavailable' });
});
