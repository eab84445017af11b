import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHash, createPrivateKey } from 'node:crypto';
import { readPkcs12 } from '#adapters/wire/pkcs12.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { parseCrl, revokedEntries } from '#core/x509/crl.ts';
import { revocationReasonCodes } from '#core/x509/extensions/revocation.ts';
import { type Api, apiAs, apiOf } from '#tests/fixtures/api.ts';
import {
  type Installation,
  installation,
  password,
  request,
  testClock,
} from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { openssl, pem } from '#tests/fixtures/openssl.ts';

let site: Installation;
let api: Api;

beforeAll(async () => {
  site = await installation({ clock: testClock(Date.now() + 60_000) });
  api = await apiOf(site);
});
afterAll(() => site[Symbol.asyncDispose]());

const path = '/api/certificates/';
const key = testKey('p-256', 'certificates');
const csr = (subject: string, names: readonly string[] = []): string =>
  pem('CERTIFICATE REQUEST', request(key, subject, names));

describe('a certificate requested by name', () => {
  test('is issued in the default domain, and its key can be fetched once', async () => {
    const { status, body } = await api.post(path, { common_name: 'operator terminal' });
    expect([status, body]).toMatchObject([
      201,
      {
        common_name: 'operator terminal',
        subject: 'CN=operator terminal',
        status: 'good',
        domain: 1,
        device: null,
        protocol: 'management',
      },
    ]);
    const one = `${path}${body.id}`;
    const wrong = await api.post(`${one}/pkcs12/`, { password: 'short' });
    expect([wrong.status, wrong.body]).toEqual([400, { password: ['at least 8 characters are needed'] }]);
    const file = await api.post(`${one}/pkcs12/`, { password: 'a long secret' });
    expect([file.status, file.headers['content-type'], file.headers['content-disposition']]).toEqual([
      200,
      'application/x-pkcs12',
      'attachment; filename="operator-terminal.p12"',
    ]);
    const { privateKeys, certificates } = await readPkcs12(file.bytes, 'a long secret');
    expect(pem('CERTIFICATE', certificates[0]!)).toBe(body.pem);
    expect(certificates).toHaveLength(3);
    createPrivateKey({ key: Buffer.from(privateKeys[0]!), format: 'der', type: 'pkcs8' });
    const text = openssl(['pkcs12', '-in', 'p12', '-nodes', '-passin', 'pass:a long secret'], {
      p12: file.bytes,
    }).text;
    expect(text.split('BEGIN CERTIFICATE')).toHaveLength(4);
    const again = await api.post(`${one}/pkcs12/`, { password: 'a long secret' });
    expect([again.status, Object.keys(again.body)]).toEqual([409, ['detail', 'code']]);
    expect(await site.store.find('certificateKey', { certificate: body.id })).toBeUndefined();
    const taken = (await site.audit('certificate.takeKey')).filter(
      ({ object }) => object === `certificate:${body.id}`,
    );
    expect(taken).toHaveLength(1);
  });

  test('is fetched by one of two concurrent requests', async () => {
    const { body } = await api.post(path, { common_name: 'for one' });
    const answers = await Promise.all(
      [1, 2, 3].map(() => api.post(`${path}${body.id}/pkcs12/`, { password: 'a long secret' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  });

  test('is issued for a PKCS#10 request, with its own inventory name', async () => {
    const { status, body } = await api.post(path, {
      common_name: 'Pump in hall 3',
      csr: csr('CN=pump-3,O=Plant', ['DNS:pump-3.plant.example']),
    });
    expect([status, body]).toMatchObject([
      201,
      {
        common_name: 'Pump in hall 3',
        subject: 'CN=pump-3,O=Plant',
        subject_alternative_names: ['DNS:pump-3.plant.example'],
      },
    ]);
    expect(parseCertificate(Buffer.from(body.pem.split('\n').slice(1, -2).join(''), 'base64')).spki).toEqual(
      Buffer.from(key.publicKey.spki),
    );
    expect((await api.post(`${path}${body.id}/pkcs12/`, { password: 'a long secret' })).status).toBe(409);
  });

  test('of more than 64 characters has a shortened common name and the complete inventory name', async () => {
    // X.520: ub-common-name.
    for (const name of ['x'.repeat(65), 'é'.repeat(256), `${'x'.repeat(64)}y`]) {
      const { status, body } = await api.post(path, { common_name: name });
      const digest = createHash('sha256').update(name).digest('hex').slice(0, 16);
      const subject = `CN=${name.slice(0, 47)}-${digest}`;
      expect([status, body]).toMatchObject([201, { common_name: name, subject }]);
    }
    const longest = await api.post(path, { common_name: 'y'.repeat(64) });
    expect(longest.body).toMatchObject({ subject: `CN=${'y'.repeat(64)}` });
  });

  test('can be issued from another profile and in another domain', async () => {
    const profiles = (await api.get('/api/cert-profiles/')).body;
    const server = profiles.find((one: { unique_name: string }) => one.unique_name === 'tls_server').id;
    const { body: domain } = await api.post('/api/domains/', {
      unique_name: 'servers',
      profiles: [{ profile: server }],
    });
    const { status, body } = await api.post(path, {
      common_name: 'web.plant.example',
      domain: domain.id,
      key_type: 'rsa-2048',
    });
    expect([status, body]).toMatchObject([
      201,
      { domain: domain.id, cert_profile: server, subject_alternative_names: ['DNS:web.plant.example'] },
    ]);
  });

  test('can be issued from a form', async () => {
    const form = new URLSearchParams({ common_name: 'from a form', csr: csr('CN=from a form') });
    const { status, body } = await api.call('POST', path, {
      body: form.toString(),
      contentType: 'application/x-www-form-urlencoded',
    });
    expect([status, body.subject]).toEqual([201, 'CN=from a form']);
  });

  for (const [body, field] of [
    [{}, 'common_name'],
    [{ common_name: ' ' }, 'common_name'],
    [{ common_name: 'x'.repeat(257) }, 'common_name'],
    [{ common_name: 'a\u0000b' }, 'common_name'],
    [{ common_name: 7 }, 'common_name'],
    [{ common_name: 'x', domain: 999 }, 'domain'],
    [{ common_name: 'x', domain: 'default' }, 'domain'],
    [{ common_name: 'x', cert_profile: 999 }, 'cert_profile'],
    // No domain offers it after the first start.
    [{ common_name: 'x', cert_profile: 7 }, 'cert_profile'],
    [{ common_name: 'x', key_type: 'dsa' }, 'key_type'],
    [{ common_name: 'x', csr: 'no csr' }, 'csr'],
    [{ common_name: 'x', csr: forged() }, 'csr'],
    [{ common_name: 'x', csr: csr('CN=x', ['DNS:other.example']) }, 'csr'],
    [{ common_name: 'x', csr: csr('CN=x'), key_type: 'p-256' }, 'key_type'],
    [{ common_name: 'x', serial: 1 }, 'serial'],
  ] as const) {
    test(`is rejected with the field named: ${JSON.stringify(body).slice(0, 80)}`, async () => {
      const before = (await api.get(path)).body.length;
      const answer = await api.post(path, body);
      expect([answer.status, Object.keys(answer.body)]).toEqual([400, [field]]);
      expect((await api.get(path)).body).toHaveLength(before);
    });
  }

  function forged(): string {
    const der = request(key, 'CN=x');
    der[der.length - 1]! ^= 1;
    return pem('CERTIFICATE REQUEST', der);
  }
});

describe('the record of a certificate', () => {
  test('can be renamed without a change to the certificate', async () => {
    const { body } = await api.post(path, { common_name: 'first name', csr: csr('CN=first name') });
    const long = 'y'.repeat(256);
    const renamed = await api.patch(`${path}${body.id}/`, { common_name: long });
    expect([renamed.status, renamed.body]).toEqual([200, { ...body, common_name: long }]);
    const replaced = await api.put(`${path}${body.id}/`, { ...renamed.body, common_name: ' third ' });
    expect([replaced.status, replaced.body]).toEqual([200, { ...body, common_name: 'third' }]);
    const refused = await api.patch(`${path}${body.id}/`, { csr: 'x' });
    expect([refused.status, Object.keys(refused.body)]).toEqual([400, ['csr']]);
  });

  test('is hidden when it is deleted, and the certificate remains', async () => {
    const { body } = await api.post(path, { common_name: 'deleted' });
    expect((await api.remove(`${path}${body.id}/`)).status).toBe(204);
    expect((await api.get(`${path}${body.id}/`)).status).toBe(404);
    expect((await api.post(`${path}${body.id}/pkcs12/`, { password: 'a long secret' })).status).toBe(404);
    expect((await api.get(path)).body.map(({ id }: { id: number }) => id)).not.toContain(body.id);
    expect(await site.store.get('certificate', body.id)).toMatchObject({ status: 'good', hidden: true });
    expect(await site.store.find('certificateKey', { certificate: body.id })).toBeUndefined();
  });

  test('can be found by its serial number in any form, and by its first day', async () => {
    const { body } = await api.post(path, { common_name: 'to be found', csr: csr('CN=found') });
    const colons = body.serial_number.toLowerCase().replace(/..(?=.)/g, '$&:');
    for (const query of [
      `serial_number=${body.serial_number}`,
      `serial_number=${colons}`,
      `serial_number=00:${colons}`,
      'search=to%20be%20FOUND',
      `search=${body.fingerprint.toLowerCase().slice(0, 20)}`,
    ]) {
      expect((await api.get(`${path}?${query}`)).body.map(({ id }: { id: number }) => id)).toEqual([body.id]);
    }
    const today = (await api.get(`${path}?not_valid_before=${body.not_valid_before.slice(0, 10)}&limit=1`))
      .body;
    expect(today).toHaveLength(1);
    expect((await api.get(`${path}?not_valid_before=yesterday`)).status).toBe(400);
    expect((await api.get(`${path}?serial_number=xyz`)).status).toBe(400);
  });
});

describe('revocation', () => {
  const issue = async (): Promise<number> =>
    (await api.post(path, { common_name: 'revoked', csr: csr('CN=revoked') })).body.id;
  const revoke = (id: number, body?: object) => api.post(`${path}${id}/revoke/`, body);
  const entry = async (id: number) => {
    const { serialNumber, ca } = (await site.store.get('certificate', id))!;
    const crl = parseCrl((await api.get(`/api/issuing-cas/${ca}/crl/?encoding=der`)).bytes);
    return [...revokedEntries(crl)].find(({ serial }) =>
      Buffer.from(serial).toString('hex').toUpperCase().endsWith(serialNumber),
    );
  };

  for (const [name, code] of Object.entries(revocationReasonCodes)) {
    if (name === 'removeFromCRL') continue;
    test(`with ${name}, by name and by code ${code}, is on the next CRL`, async () => {
      for (const reason of [name, code]) {
        const id = await issue();
        const { status, body } = await revoke(id, { reason });
        expect([status, body.status, body.revocation_reason]).toEqual([
          200,
          name === 'certificateHold' ? 'hold' : 'revoked',
          name,
        ]);
        expect((await entry(id))?.reason).toBe(
          name === 'unspecified' ? undefined : (name as 'keyCompromise'),
        );
      }
    });
  }

  test('without a body has no particular reason', async () => {
    const { body } = await revoke(await issue());
    expect(body).toMatchObject({
      status: 'revoked',
      revocation_reason: 'unspecified',
      revoked_at: expect.any(String),
    });
  });

  test('records the invalidity date', async () => {
    const id = await issue();
    await revoke(id, { reason: 'keyCompromise', invalidity_date: '2026-01-02T03:04:05Z' });
    expect((await entry(id))?.invalidityDate).toBe(Date.UTC(2026, 0, 2, 3, 4, 5));
    const day = await issue();
    expect((await revoke(day, { invalidity_date: '2026-01-02' })).status).toBe(200);
    expect((await entry(day))?.invalidityDate).toBe(Date.UTC(2026, 0, 2));
  });

  test('on hold can be released, which removes it from the next CRL, and is then permanent', async () => {
    const id = await issue();
    await revoke(id, { reason: 'certificateHold' });
    expect((await revoke(id, { reason: 6 })).status).toBe(409);
    expect(await entry(id)).toBeDefined();
    const released = await revoke(id, { reason: 'removeFromCRL' });
    expect([released.status, released.body]).toMatchObject([
      200,
      { status: 'good', revoked_at: null, revocation_reason: null },
    ]);
    expect(await entry(id)).toBeUndefined();
    await revoke(id, { reason: 'certificateHold' });
    expect((await revoke(id, { reason: 'superseded' })).body.status).toBe('revoked');
    expect((await entry(id))?.reason).toBe('superseded');
    for (const reason of ['superseded', 'certificateHold', 'removeFromCRL'])
      expect((await revoke(id, { reason })).status).toBe(409);
  });

  test('by many concurrent requests is done once', async () => {
    const id = await issue();
    const answers = await Promise.all(
      ['superseded', 'keyCompromise', 'certificateHold', 'unspecified'].map((reason) =>
        revoke(id, { reason }),
      ),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses[0]).toBe(200);
    expect(statuses.every((status) => status === 200 || status === 409)).toBe(true);
  });

  for (const [body, field] of [
    [{ reason: 7 }, 'reason'],
    [{ reason: 'lost' }, 'reason'],
    [{ reason: null }, 'reason'],
    [{ invalidity_date: 'yesterday' }, 'invalidity_date'],
    [{ invalidity_date: '2026-02-31' }, 'invalidity_date'],
    [{ invalidity_date: '2999-01-01' }, 'invalidity_date'],
    [{ invalidity_date: 1 }, 'invalidity_date'],
    [{ why: 'lost' }, 'why'],
  ] as const) {
    test(`with ${JSON.stringify(body)} is rejected`, async () => {
      const id = await issue();
      const answer = await revoke(id, body);
      expect([answer.status, Object.keys(answer.body)]).toEqual([400, [field]]);
      expect((await site.store.get('certificate', id))?.status).toBe('good');
    });
  }

  test('requires its permission', async () => {
    const id = await issue();
    const reader = await apiAs(site, 'Default');
    const operator = await apiAs(site, 'Operator');
    expect((await reader.post(`${path}${id}/revoke/`)).status).toBe(403);
    expect((await operator.post(`${path}${id}/revoke/`)).status).toBe(200);
    expect((await reader.post(path, { common_name: 'x' })).status).toBe(403);
    expect((await operator.patch(`${path}${id}/`, { common_name: 'x' })).status).toBe(403);
  });
});

describe('a deleted device', () => {
  test('is deleted with its certificates and its configuration', async () => {
    const { device, password: secret } = await site.device('leaving');
    await site.enrol(password('leaving', secret), {}, request(key, 'CN=leaving'));
    await site.enrol(password('leaving', secret), { profile: 'tls_client' }, request(key, 'CN=leaving'));
    const { records } = await site.store.list('certificate', {
      where: [{ field: 'device', is: 'equal', value: device.id }],
      limit: 10,
    });
    await api.post(`${path}${records[0]!.id}/revoke/`, { reason: 'keyCompromise' });
    const { status } = await api.remove(`/api/devices/${device.id}/`);
    expect(status).toBe(204);
    for (const { id } of records) {
      const { body } = await api.get(`${path}${id}/`);
      expect(body).toMatchObject({ status: 'revoked', device: null });
    }
    const reasons = await Promise.all(
      records.map(async ({ id }) => (await api.get(`${path}${id}/`)).body.revocation_reason),
    );
    expect(reasons).toEqual(['keyCompromise', 'cessationOfOperation']);
    const crl = parseCrl((await api.get(`/api/issuing-cas/${records[0]!.ca}/crl/?encoding=der`)).bytes);
    const listed = [...revokedEntries(crl)].map(({ serial }) =>
      Buffer.from(serial).toString('hex').toUpperCase(),
    );
    for (const { serialNumber } of records)
      expect(listed.some((serial) => serial.endsWith(serialNumber))).toBe(true);
    expect((await api.get(`/api/no-onboarding-configs/${device.noOnboardingConfig}/`)).status).toBe(404);
    expect((await site.audit('device.delete')).at(-1)?.detail).toEqual({ commonName: 'leaving', revoked: 1 });
    expect((await api.remove(`/api/devices/${device.id}/`)).status).toBe(404);
  });

  test('leaves a configuration that another device uses', async () => {
    const { device } = await site.device('one of two');
    const config = device.noOnboardingConfig;
    await api.post('/api/devices/', { common_name: 'two of two', no_onboarding_config: config });
    expect((await api.remove(`/api/devices/${device.id}/`)).status).toBe(204);
    expect((await api.get(`/api/no-onboarding-configs/${config}/`)).status).toBe(200);
  });

  test('during its enrolment has no valid certificate afterwards', async () => {
    const { device, password: secret } = await site.device('racing');
    const der = request(key, 'CN=racing');
    const work = Array.from({ length: 8 }, () =>
      site.enrol(password('racing', secret), {}, der).then(
        () => true,
        () => false,
      ),
    );
    const removed = api.remove(`/api/devices/${device.id}/`);
    await Promise.all(work);
    expect((await removed).status).toBe(204);
    const { records } = await site.store.list('certificate', {
      where: [{ field: 'commonName', is: 'equal', value: 'racing' }],
      limit: 100,
    });
    expect(records.filter(({ status }) => status === 'good')).toEqual([]);
  });
});
