import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { encodePem } from '#adapters/wire/pem.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { type Api, apiAs, apiOf } from '#tests/fixtures/api.ts';
import { type Installation, installation, testClock } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { openssl, pem } from '#tests/fixtures/openssl.ts';
import { caExtensions, outsideCa, selfSigned, signed } from '#tests/fixtures/outside-ca.ts';

let site: Installation;
let api: Api;

beforeAll(async () => {
  site = await installation({ clock: testClock(Date.now() + 60_000) });
  api = await apiOf(site);
  await api.post(path, { credential_type: 3, unique_name: 'taken' });
});
afterAll(() => site[Symbol.asyncDispose]());

const path = '/api/tls/';
const server =
  'basicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\nsubjectAltName=DNS:pki.plant.example\n';

describe('a credential', () => {
  for (const [type, commonName, usage] of [
    [0, 'pki.example', /TLS Web Server Authentication/],
    [1, expect.stringMatching(/^Postern Root CA [0-9A-F]{8}$/), /CA:TRUE/],
    [2, expect.stringMatching(/^Postern Issuing CA [0-9A-F]{8}$/), /CA:TRUE, pathlen:0/],
    [3, expect.stringMatching(/^issued-credential-/), /TLS Web Client Authentication/],
    [4, expect.stringMatching(/^owner-id-/), /Digital Signature/],
    [5, expect.stringMatching(/^signer-/), /Code Signing/],
  ] as const) {
    test(`of type ${type} can be created with its type only`, async () => {
      const { status, body } = await api.post(path, { credential_type: type });
      expect([status, body]).toMatchObject([
        201,
        { credential_type: type, common_name: commonName, is_active: false, created_at: expect.any(String) },
      ]);
      const text = openssl(['x509', '-in', 'c', '-noout', '-text'], { c: body.pem }).text;
      expect(text).toMatch(usage);
      const isCa = type === 1 || type === 2;
      expect(body.issuing_ca !== null).toBe(isCa);
      if (isCa) {
        const { body: ca } = await api.get(`/api/issuing-cas/${body.issuing_ca}/`);
        expect(ca).toMatchObject({ unique_name: body.unique_name, issuing_ca_type: type - 1 });
      }
    });
  }

  test('can be created for other names', async () => {
    const { status, body } = await api.post(path, {
      credential_type: 0,
      unique_name: 'plant server',
      common_name: 'pki.plant.example',
      subject_alternative_names: ['DNS:pki.plant.example', 'IP:192.0.2.9'],
      key_type: 'rsa-2048',
    });
    expect([status, body]).toMatchObject([
      201,
      {
        unique_name: 'plant server',
        common_name: 'pki.plant.example',
        subject_alternative_names: ['DNS:pki.plant.example', 'IP:192.0.2.9'],
        signature_suite: 'rsa-pkcs1-sha256',
      },
    ]);
  });

  for (const [body, field] of [
    [{}, 'credential_type'],
    [{ credential_type: 6 }, 'credential_type'],
    [{ credential_type: '0' }, 'credential_type'],
    [{ credential_type: 0, unique_name: 'taken' }, 'unique_name'],
    [{ credential_type: 0, common_name: 'x'.repeat(65) }, 'common_name'],
    [{ credential_type: 0, common_name: 'not a host name' }, 'common_name'],
    [{ credential_type: 0, subject_alternative_names: ['pki.example'] }, 'subject_alternative_names'],
    [{ credential_type: 0, subject_alternative_names: ['DNS:not a host name'] }, 'subject_alternative_names'],
    [{ credential_type: 0, subject_alternative_names: 'DNS:x' }, 'subject_alternative_names'],
    [{ credential_type: 0, key_type: 'ed25519' }, 'key_type'],
    [{ credential_type: 5, key_type: 'ed25519' }, 'key_type'],
    // Profile code_signing requires more.
    [{ credential_type: 5, key_type: 'rsa-2048' }, 'key_type'],
    [{ credential_type: 1, subject_alternative_names: ['DNS:x.example'] }, 'subject_alternative_names'],
    [{ credential_type: 1, certificate: outsideCa().root }, 'certificate'],
    [{ credential_type: 3, certificate: outsideCa().certificate }, 'private_key'],
    [{ credential_type: 0, is_default: true }, 'is_default'],
  ] as const) {
    test(`is rejected with the field named: ${JSON.stringify(body).slice(0, 90)}`, async () => {
      const before = (await api.get(path)).body.length;
      const answer = await api.post(path, body);
      expect([answer.status, Object.keys(answer.body)]).toEqual([400, [field]]);
      expect((await api.get(path)).body).toHaveLength(before);
    });
  }

  test('keeps its type when its unique name changes', async () => {
    const { body: made } = await api.post(path, { credential_type: 3 });
    const url = `${path}${made.id}/`;
    expect((await api.put(url, { credential_type: 3 })).body).toEqual({
      ...made,
      updated_at: expect.any(String),
    });
    expect((await api.put(url, {})).body).toEqual({ credential_type: ['this field is required'] });
    for (const call of [api.put, api.patch]) {
      const { status, body } = await call(url, { credential_type: 4 });
      expect([status, body]).toEqual([
        400,
        { credential_type: ['the type of a credential cannot be changed'] },
      ]);
    }
    const renamed = await api.patch(url, { unique_name: 'renamed' });
    expect([renamed.status, renamed.body.unique_name]).toEqual([200, 'renamed']);
    const back = await api.put(url, { ...renamed.body, unique_name: 'renamed again' });
    expect([back.status, back.body.unique_name]).toEqual([200, 'renamed again']);
    expect((await api.remove(url)).status).toBe(204);
    expect((await api.get(url)).status).toBe(404);
  });

  test('can be filtered by its type', async () => {
    const { body: made } = await api.post(path, { credential_type: 5 });
    const { body } = await api.get(`${path}?credential_type=5`);
    expect(body[0].id).toBe(made.id);
    expect(body.every((one: { credential_type: number }) => one.credential_type === 5)).toBe(true);
    const { body: all } = await api.get(path);
    expect(body).toEqual(all.filter((one: { credential_type: number }) => one.credential_type === 5));
    expect((await api.get(`${path}?credential_type=x`)).status).toBe(400);
  });

  test('of a CA is deleted with its CA, and not separately', async () => {
    const { body } = await api.post(path, { credential_type: 1 });
    expect((await api.remove(`${path}${body.id}/`)).status).toBe(204);
    expect((await api.get(`/api/issuing-cas/${body.issuing_ca}/`)).status).toBe(200);
    expect((await api.post(`/api/issuing-cas/${body.issuing_ca}/generate-crl/`)).status).toBe(200);
    const { body: second } = await api.post(path, { credential_type: 1 });
    expect((await api.remove(`/api/issuing-cas/${second.issuing_ca}/`)).status).toBe(204);
    expect((await api.get(`${path}${second.id}/`)).status).toBe(404);
  });

  test('of which the key is destroyed cannot be used any more', async () => {
    const { body } = await api.post(path, { credential_type: 3 });
    const { key } = (await site.store.get('credential', body.id))!;
    await api.remove(`${path}${body.id}/`);
    await expect(site.keys.publicKey(key.id)).rejects.toMatchObject({ code: 'notFound' });
  });
});

test('of an issuing CA requires a root that can sign', async () => {
  await using own = await installation();
  const ownApi = await apiOf(own);
  await ownApi.post('/api/issuing-cas/', { unique_name: 'last', issuing_ca_type: 0, path_length: 0 });
  expect((await ownApi.post(path, { credential_type: 2 })).status).toBe(201);
  await ownApi.post('/api/issuing-cas/1/deactivate/');
  const { status, body } = await ownApi.post(path, { credential_type: 2 });
  expect([status, body]).toEqual([400, { credential_type: [expect.stringContaining('no root CA')] }]);
});

describe('an imported credential', () => {
  const outside = outsideCa();
  const key = testKey('p-256', 'outside server').pem();
  const issuer = { key: outside.key, certificate: outside.certificate };
  const certificate = pem(
    'CERTIFICATE',
    signed({ key, subject: '/CN=pki.plant.example', extensions: server }, issuer),
  );
  const material = { private_key: key, certificate, certificate_chain: outside.certificate };

  test('is served like any other, with its chain, and only its owner can replace it', async () => {
    await using own = await installation({ clock: testClock(Date.now() + 60_000) });
    const ownApi = await apiOf(own);
    const { status, body } = await ownApi.post(path, { credential_type: 0, ...material });
    expect([status, body]).toMatchObject([201, { common_name: 'pki.plant.example', is_active: false }]);
    await ownApi.post(`${path}${body.id}/activate/`);
    const served = await own.gateway.tlsCredential();
    expect(served.id).toBe(body.id);
    expect(served.chain.map((der) => encodePem('CERTIFICATE', der))).toEqual([outside.certificate]);
    own.clock.advance(990 * 86_400_000);
    await own.gateway.maintain('test');
    expect((await own.gateway.tlsCredential()).id).toBe(body.id);
  });

  test('can be in PKCS #12', async () => {
    const p12 = openssl(
      [
        'pkcs12',
        '-export',
        '-inkey',
        'k',
        '-in',
        'c',
        '-certfile',
        'i',
        '-out',
        'out',
        '-passout',
        'pass:secret',
      ],
      { k: key, c: certificate, i: outside.certificate + outside.root },
      ['out'],
    ).file('out');
    const fields = { pkcs12: Buffer.from(p12).toString('base64'), password: 'secret' };
    const { status, body } = await api.post(path, { credential_type: 3, ...fields });
    expect([status, body.common_name]).toEqual([201, 'pki.plant.example']);
    expect((await site.store.get('credential', body.id))?.chain).toHaveLength(2);
  });

  const client = selfSigned(key, '/CN=client', 'extendedKeyUsage=clientAuth\n');
  const edKey = testKey('ed25519', 'outside signer').pem();
  for (const [what, fields, field] of [
    ['another key', { ...material, private_key: testKey('p-256', 'not it').pem() }, 'private_key'],
    [
      'a chain of somebody else',
      { ...material, certificate_chain: selfSigned(key, '/O=Plant/CN=Outside Issuing') },
      'certificate_chain',
    ],
    ['a certificate for clients', { private_key: key, certificate: client }, 'certificate'],
    [
      'an Ed25519 key',
      { private_key: edKey, certificate: selfSigned(edKey, '/CN=x', server) },
      'certificate',
    ],
    ['no certificate', { private_key: key }, 'certificate'],
  ] as const) {
    test(`is rejected as a TLS server credential with ${what}`, async () => {
      const { status, body } = await api.post(path, { credential_type: 0, ...fields });
      expect([status, Object.keys(body)]).toEqual([400, [field]]);
    });
  }
  test('cannot be the certificate of a CA', async () => {
    const { status, body } = await api.post(path, {
      credential_type: 2,
      private_key: key,
      certificate: selfSigned(key, '/CN=x', caExtensions),
    });
    expect([status, Object.keys(body)]).toEqual([400, ['certificate']]);
  });
});

describe('the TLS server credential', () => {
  test('is used for the next handshake after its activation', async () => {
    await using own = await installation({ clock: testClock(Date.now() + 60_000) });
    const ownApi = await apiOf(own);
    const before = await own.gateway.tlsCredential();
    const listener = await listen(own);
    own.gateway.onTlsCredential(listener.renew);
    try {
      expect(await presented(listener.port)).toEqual(before.certificate);
      const { body } = await ownApi.post(path, { credential_type: 0, common_name: 'next.example' });
      const { status, body: active } = await ownApi.post(`${path}${body.id}/activate/`);
      expect([status, active.is_active]).toEqual([200, true]);
      const after = await own.gateway.tlsCredential();
      expect(after.id).toBe(body.id);
      expect(await presented(listener.port)).toEqual(after.certificate);
      expect((await ownApi.get(`${path}?is_active=true`)).body.map(({ id }: { id: number }) => id)).toEqual([
        body.id,
      ]);
      expect((await ownApi.get(`${path}${before.id}/`)).body.is_active).toBe(false);
    } finally {
      listener.close();
    }
  });

  test('cannot be deleted while it is in use', async () => {
    const { id } = await site.gateway.tlsCredential();
    const { status, body } = await api.remove(`${path}${id}/`);
    expect([status, body]).toEqual([
      409,
      { detail: expect.stringContaining('is active'), code: 'credential_active' },
    ]);
  });

  test('is a single one after concurrent activations', async () => {
    const made = await Promise.all([1, 2, 3, 4].map(() => api.post(path, { credential_type: 0 })));
    const answers = await Promise.all(made.map(({ body }) => api.post(`${path}${body.id}/activate/`)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await api.get(`${path}?is_active=true`)).body).toHaveLength(1);
  });

  test('must have its type and not be expired', async () => {
    const { body: other } = await api.post(path, { credential_type: 3 });
    expect((await api.post(`${path}${other.id}/activate/`)).status).toBe(409);
    expect((await api.post(`${path}999/activate/`)).status).toBe(404);
    await using later = await installation();
    const laterApi = await apiOf(later);
    const { body } = await laterApi.post(path, { credential_type: 0 });
    later.clock.advance(400 * 86_400_000);
    const again = await apiOf(later);
    expect((await again.post(`${path}${body.id}/activate/`)).body).toEqual({
      detail: 'the certificate of this credential has expired: replace the credential',
      code: 'certificate_expired',
    });
  });

  test('is renewed when a third of its validity is left, with the same names', async () => {
    await using own = await installation();
    const first = await own.gateway.tlsCredential();
    await own.gateway.maintain('one');
    expect((await own.gateway.tlsCredential()).id).toBe(first.id);
    const { notBefore, notAfter } = parseCertificate(first.certificate);
    own.clock.advance(((notAfter - notBefore) * 2) / 3 + 3_600_000);
    await own.gateway.maintain('one');
    const second = await own.gateway.tlsCredential();
    expect(second.id).not.toBe(first.id);
    const [before, after] = [first, second].map(({ certificate }) => parseCertificate(certificate));
    expect(after!.subject.der).toEqual(before!.subject.der);
    const names = ({ extensions }: typeof before & object) =>
      extensions.find(({ oid }) => oid === '2.5.29.17')?.value;
    expect(names(after!)).toEqual(names(before!));
    expect(after!.spki).not.toEqual(before!.spki);
    await own.gateway.maintain('one');
    expect((await own.gateway.tlsCredential()).id).toBe(second.id);
    const active = await own.store.list('credential', {
      where: [{ field: 'isActive', is: 'equal', value: true }],
      limit: 9,
    });
    expect(active.records).toHaveLength(1);
  });

  test('is available to administrators only', async () => {
    const operator = await apiAs(site, 'Operator');
    expect((await operator.post(path, { credential_type: 0 })).status).toBe(403);
    expect((await operator.get(path)).status).toBe(200);
  });
});

/** Makes a new context for the next handshake, like the listener. */
async function listen({ gateway }: Installation) {
  const options = async () => {
    const { certificate, chain, privateKey } = await gateway.tlsCredential();
    const cert = [certificate, ...chain].map((der) => encodePem('CERTIFICATE', der)).join('');
    return { cert, key: encodePem('PRIVATE KEY', privateKey) };
  };
  const server = createServer(await options(), (socket) => socket.end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    renew: async () => server.setSecureContext(await options()),
    close: () => server.close(),
  };
}

const presented = (port: number): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const socket: TLSSocket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(new Uint8Array(socket.getPeerCertificate().raw));
      socket.end();
    });
    socket.on('error', reject);
  });
