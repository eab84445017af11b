import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { type Api, apiAs, apiOf } from '#tests/fixtures/api.ts';
import { type Installation, installation, testClock } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { openssl } from '#tests/fixtures/openssl.ts';
import { selfSigned } from '#tests/fixtures/outside-ca.ts';

let site: Installation;
let api: Api;

beforeAll(async () => {
  site = await installation({ clock: testClock(Date.now() + 60_000) });
  api = await apiOf(site);
});
afterAll(() => site[Symbol.asyncDispose]());

const file = 'firmware';
const digest = (hash: string): string => createHash(hash).update(file).digest('hex');
const sign = (body: object, from: Api = api) => from.post('/api/signers/sign/', body);
const make = async (fields: object = {}): Promise<number> => {
  const { status, body } = await api.post('/api/tls/', { credential_type: 5, ...fields });
  expect(status).toBe(201);
  return body.id;
};

/** Verifies with OpenSSL and the downloaded certificate. */
async function verified(id: number, hash: string, signature: string): Promise<string> {
  const certificate = (await api.get(`/api/signers/${id}/certificate/`)).text;
  const key = openssl(['x509', '-in', 'c', '-noout', '-pubkey'], { c: certificate }).text;
  const files = { key, file, signature: Buffer.from(signature, 'hex') };
  return openssl(
    ['dgst', `-${hash}`, '-verify', 'key', '-signature', 'signature', 'file'],
    files,
  ).text.trim();
}

describe('a signer', () => {
  for (const [keyType, hash, suite] of [
    ['p-256', 'sha256', 'ecdsa-sha256'],
    ['p-384', 'sha384', 'ecdsa-sha384'],
    ['p-521', 'sha512', 'ecdsa-sha512'],
    ['rsa-3072', 'sha256', 'rsa-pkcs1-sha256'],
  ] as const) {
    test(`with a key of type ${keyType} signs a given digest, and OpenSSL verifies it`, async () => {
      const id = await make({
        unique_name: `signer ${keyType}`,
        common_name: `Signer ${keyType}`,
        key_type: keyType,
      });
      const { body: signer } = await api.get(`/api/signers/${id}/`);
      expect(signer).toEqual({
        id,
        unique_name: `signer ${keyType}`,
        certificate_cn: `Signer ${keyType}`,
        certificate_not_valid_after: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+$/),
        signature_suite: suite,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      });
      const { status, body } = await sign({ signer_id: id, hash_value: digest(hash).toUpperCase() });
      expect([status, body]).toEqual([
        200,
        {
          signer_id: id,
          signer_name: `signer ${keyType}`,
          hash_algorithm: hash.toUpperCase(),
          hash_value: digest(hash),
          signature: expect.stringMatching(/^[0-9a-f]+$/),
          signed_message_id: expect.any(Number),
          created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+$/),
        },
      ]);
      expect(await verified(id, hash, body.signature)).toBe('Verified OK');
      const message = await api.get(`/api/signed-messages/${body.signed_message_id}/`);
      expect(message.body).toEqual({
        id: body.signed_message_id,
        signer: id,
        signer_name: `signer ${keyType}`,
        hash_value: digest(hash),
        signature: body.signature,
        created_at: body.created_at,
      });
    });
  }

  test('with an imported key signs too', async () => {
    const key = testKey('p-256', 'outside signer').pem();
    const id = await make({
      private_key: key,
      certificate: selfSigned(key, '/CN=Outside Signer', 'keyUsage=digitalSignature\n'),
    });
    const { body } = await sign({ signer_id: id, hash_value: digest('sha256') });
    expect(await verified(id, 'sha256', body.signature)).toBe('Verified OK');
  });

  test('has its certificate as a file or in JSON', async () => {
    const id = await make({ unique_name: 'of files' });
    const pem = await api.get(`/api/signers/${id}/certificate/`);
    expect([pem.headers['content-type'], pem.headers['content-disposition']]).toEqual([
      'application/x-pem-file',
      'attachment; filename="of-files.pem"',
    ]);
    const json = await api.get(`/api/signers/${id}/certificate/`, { accept: 'application/json' });
    expect(json.body).toEqual({ signer_id: id, signer_name: 'of files', certificate_pem: pem.text });
  });

  test('is a credential of type 5 and cannot be a server credential', async () => {
    const { id } = await site.gateway.tlsCredential();
    expect((await api.get(`/api/signers/${id}/`)).status).toBe(404);
    expect((await sign({ signer_id: id, hash_value: digest('sha256') })).status).toBe(404);
    await make({ unique_name: 'sought after' });
    const { body } = await api.get('/api/signers/?search=after%20SOUGHT');
    expect(body.map((one: { unique_name: string }) => one.unique_name)).toEqual(['sought after']);
    const ordered = (await api.get('/api/signers/?ordering=unique_name')).body.map(
      (one: { unique_name: string }) => one.unique_name,
    );
    expect(ordered).toEqual(ordered.toSorted());
    for (const method of ['POST', 'PUT', 'DELETE'])
      expect(
        (await api.call(method, method === 'POST' ? '/api/signers/' : `/api/signers/${id}/`)).status,
      ).toBe(405);
  });

  test('that has signed cannot be deleted', async () => {
    const id = await make();
    await sign({ signer_id: id, hash_value: digest('sha256') });
    const { status, body } = await api.remove(`/api/tls/${id}/`);
    expect([status, body]).toEqual([
      409,
      { detail: 'still used by 1 signed message', code: 'still_used', values: { signedMessage: 1 } },
    ]);
    expect((await sign({ signer_id: id, hash_value: digest('sha256') })).status).toBe(200);
    expect((await api.remove(`/api/tls/${await make()}/`)).status).toBe(204);
  });
});

describe('signing', () => {
  for (const [change, status, ...members] of [
    [{ hash_value: 'xyz' }, 400, 'hash_value'],
    [{ hash_value: 'abc' }, 400, 'hash_value'],
    [{ hash_value: '' }, 400, 'hash_value'],
    [{ hash_value: digest('sha1') }, 400, 'hash_value'],
    [{ hash_value: digest('sha512') }, 400, 'hash_value'],
    [{ hash_value: `0x${digest('sha256')}` }, 400, 'hash_value'],
    [{ hash_value: 7 }, 400, 'hash_value'],
    [{ hash_value: undefined }, 400, 'hash_value'],
    [{ signer_id: undefined }, 400, 'signer_id'],
    [{ signer_id: 'one' }, 400, 'signer_id'],
    [{ signer_id: 0 }, 400, 'signer_id'],
    [{ message: 'x' }, 400, 'message'],
    [{ signer_id: 999_999 }, 404, 'detail', 'code'],
  ] as const) {
    test(`with ${JSON.stringify(change).slice(0, 60)} gives ${status}`, async () => {
      const before = (await api.get('/api/signed-messages/')).body.length;
      const answer = await sign({ signer_id: await make(), hash_value: digest('sha256'), ...change });
      expect([answer.status, Object.keys(answer.body)]).toEqual([status, members]);
      expect((await api.get('/api/signed-messages/')).body).toHaveLength(before);
    });
  }

  test('that fails gives 500 with a detail', async () => {
    const id = await make();
    await site.store.commit([
      { op: 'update', kind: 'credential', id, set: { key: { store: 'gone', id: 'x' } } },
    ]);
    const { status, body } = await sign({ signer_id: id, hash_value: digest('sha256') });
    expect([status, body]).toEqual([
      500,
      { detail: 'the key store of this signer is not configured', code: 'unavailable' },
    ]);
  });

  test('requires the permission, and is audited', async () => {
    const id = await make();
    const reader = await apiAs(site, 'Default');
    const operator = await apiAs(site, 'Operator');
    expect((await sign({ signer_id: id, hash_value: digest('sha256') }, reader)).status).toBe(403);
    expect((await sign({ signer_id: id, hash_value: digest('sha256') }, operator)).status).toBe(200);
    expect((await site.audit('signer.sign')).at(-1)).toMatchObject({
      object: `credential:${id}`,
      actor: { name: 'operator' },
      detail: { hashValue: digest('sha256') },
    });
  });
});

test('signed messages are listed newest first and can be filtered by signer', async () => {
  const [one, two] = [await make(), await make()];
  for (const signer_id of [one, two, one]) await sign({ signer_id, hash_value: digest('sha256') });
  const all = (await api.get('/api/signed-messages/')).body;
  expect(all.slice(0, 3).map(({ signer }: { signer: number }) => signer)).toEqual([one, two, one]);
  const ofTwo = (await api.get(`/api/signed-messages/?signer=${two}`)).body;
  expect(ofTwo.map(({ signer }: { signer: number }) => signer)).toEqual([two]);
  const oldest = (await api.get('/api/signed-messages/?ordering=created_at&limit=1')).body;
  expect(oldest[0].id).toBe(Math.min(...all.map(({ id }: { id: number }) => id)));
  expect((await api.get('/api/signed-messages/?ordering=nothing')).status).toBe(400);
  expect((await api.call('DELETE', `/api/signed-messages/${all[0].id}/`)).status).toBe(405);
});
