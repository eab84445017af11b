import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { CaInput } from '#core/administration/make-ca.ts';
import { Fault } from '#core/fault.ts';
import type { KeyStore, StoredKey } from '#core/ports/keys.ts';
import { issuingCaType } from '#core/records/issuing-ca.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { type Installation, installation, password, request } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { openssl, pem } from '#tests/fixtures/openssl.ts';

/** A token: keys cannot be exported or imported, it makes two kinds, and it runs in another process. */
const token = ({ export: _, import: __, ...keys }: KeyStore): KeyStore => ({
  ...keys,
  keyTypes: ['p-256', 'rsa-2048'],
  inProcess: false,
});

let site: Installation;
let names = 0;

beforeAll(async () => {
  site = await installation({ token });
});
afterAll(() => site[Symbol.asyncDispose]());

const create = (input: Partial<CaInput>) =>
  site.gateway.issuingCas.create(site.admin, {
    uniqueName: `token ${++names}`,
    type: issuingCaType.localPkcs11,
    keyStore: 'hsm',
    ...input,
  });

const key = (): Promise<StoredKey> => site.keys.generate('p-256', 'made with a tool of the token');

describe('a CA whose key is in a token', () => {
  test('signs its certificate with a new key, as a root or below a CA', async () => {
    const root = await create({ commonName: 'Token Root', keyType: 'p-256' });
    expect([root.key?.store, root.chain]).toEqual(['hsm', []]);
    const below = await create({ commonName: 'Token Issuing', parent: root.id, keyType: 'rsa-2048' });
    expect(below.key?.store).toBe('hsm');
    const { text } = openssl(['verify', '-no_check_time', '-CAfile', 'root', 'ca'], {
      root: pem('CERTIFICATE', root.certificate),
      ca: pem('CERTIFICATE', below.certificate),
    });
    expect(text).toBe('ca: OK\n');
  });

  test('signs with a key that exists in the token', async () => {
    const { id, spki } = await key();
    const ca = await create({ commonName: 'With its own key', keyId: id });
    expect(ca.key).toEqual({ store: 'hsm', id, found: true });
    expect(parseCertificate(ca.certificate).spki).toEqual(spki);
    await site.gateway.issuingCas.remove(site.admin, ca.id);
    // A key that an administrator put there stays in the token.
    expect(await site.keys.publicKey(id)).toEqual(spki);
  });

  test('deletes a key that was made for it when it is deleted', async () => {
    const { id, key } = await create({ commonName: 'With a key made for it', keyType: 'p-256' });
    await site.gateway.issuingCas.remove(site.admin, id);
    expect(await site.keys.publicKey(key!.id).catch((fault) => fault)).toMatchObject({ code: 'notFound' });
  });

  test('can be imported with its certificate when its key is in the token', async () => {
    const { id } = await key();
    const made = await create({ commonName: 'Referenced', keyId: id });
    // The token as a second installation would find it.
    await site.store.commit([
      { op: 'delete', kind: 'certificate', id: (await site.store.find('certificate', { ca: made.id }))!.id },
      { op: 'delete', kind: 'issuingCa', id: made.id },
    ]);
    const material = { certificate: made.certificate, chain: [], privateKey: undefined };
    const other = await key();
    const refused = create({ material, keyId: other.id });
    expect(await refused.catch((fault) => fault)).toMatchObject({ code: 'malformed', field: 'keyId' });
    const ca = await create({ material, keyId: id });
    expect([ca.commonName, ca.key]).toEqual(['Referenced', { store: 'hsm', id, found: true }]);
    expect((await site.gateway.issuingCas.generateCrl(site.admin, ca.id)).number).toBe(2);
  });

  test('issues device certificates', async () => {
    const ca = await create({ commonName: 'For devices', parent: 1, keyType: 'p-256' });
    const domain = await site.gateway.domains.create(site.admin, {
      uniqueName: 'of a token',
      issuingCa: ca.id,
    });
    const { password: secret } = await site.device('pump', domain.id);
    const target = { domain: 'of a token' };
    const certificate = await site.enrol(
      password('pump', secret),
      target,
      request(testKey('p-256'), 'CN=pump'),
    );
    expect(parseCertificate(certificate).issuer.der).toEqual(parseCertificate(ca.certificate).subject.der);
  });

  for (const [what, input, field] of [
    ['a key store that is not configured', { keyStore: 'other' }, 'keyStore'],
    ['a key store that exports keys', { keyStore: 'default' }, 'keyStore'],
    ['a kind of key that the token does not make', { keyType: 'p-384' as const }, 'keyType'],
    ['a key that the token does not have', { keyId: 'nothing' }, 'keyId'],
  ] as const) {
    test(`is rejected with ${what}`, async () => {
      const fault = await create(input).catch((error) => error);
      expect(fault).toBeInstanceOf(Fault);
      expect(fault).toMatchObject({ code: 'malformed', field });
    });
  }
});

test('the key of a CA whose creation failed is destroyed', async () => {
  const made: string[] = [];
  const counting = (keys: KeyStore): KeyStore => ({
    ...keys,
    async generate(...args) {
      const key = await keys.generate(...args);
      made.push(key.id);
      return key;
    },
  });
  await using own = await installation({ wrapKeys: counting });
  made.length = 0;
  // The lint rejects the certificate after the key was made.
  const attempt = own.gateway.issuingCas.create(own.admin, {
    uniqueName: 'x',
    type: issuingCaType.autoGeneratedRoot,
    subject: 'C=D1,CN=x',
  });
  expect(await attempt.catch((fault) => fault)).toMatchObject({ field: 'subject' });
  expect(made).toHaveLength(1);
  expect(await own.keys.publicKey(made[0]!).catch((fault) => fault)).toMatchObject({ code: 'notFound' });
});
