import { describe, expect, test } from 'bun:test';
import { createHash, randomBytes } from 'node:crypto';
import * as asn1js from 'asn1js';
import * as pkijs from 'pkijs';
import type { Recipient } from '#adapters/wire/cms/enveloped-data.ts';
import { envelopePrivateKey } from '#adapters/wire/cms/key-package.ts';
import { buildSignedData, type Signer } from '#adapters/wire/cms/signed-data.ts';
import { type DerBuilder, der } from '#core/der/builder.ts';
import { hex } from '#core/der/bytes.ts';
import { readDer } from '#core/der/reader.ts';
import { context, tag } from '#core/der/tag.ts';
import { defaultSignatureAlgorithm, type KeyType, type SignatureAlgorithm } from '#core/x509/algorithm.ts';
import { keyIdentifier, verifySignature } from '#core/x509/public-key.ts';
import { testCa } from '#tests/fixtures/certificates.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { openssl, pem } from '#tests/fixtures/openssl.ts';

const random = (octets: number): Uint8Array => new Uint8Array(randomBytes(octets));
const ca = testCa('p-256');
const privateKey = new Uint8Array(
  testKey('p-384', 'generated').privateKey.export({ format: 'der', type: 'pkcs8' }),
);
const password = new TextEncoder().encode('SiemensIT');

function signerOf(type: KeyType, algorithm: SignatureAlgorithm = defaultSignatureAlgorithm(type)): Signer {
  const key = testKey(type, 'signer');
  return {
    certificates: [ca.issue(key).der, ca.certificate.der],
    keyIdentifier: keyIdentifier(key.publicKey),
    algorithm,
    sign: (data) => key.sign(algorithm, data),
  };
}

const certified = (type: KeyType): Recipient => {
  const { publicKey } = testKey(type, 'recipient');
  return { kind: 'certificate', key: publicKey, keyIdentifier: keyIdentifier(publicKey) };
};

const contentInfo = (type: string, content: Uint8Array): Uint8Array =>
  der((b) => b.sequence((s) => s.oid(type).explicit(0, content)));
const enveloped = '1.2.840.113549.1.7.3';
const signed = '1.2.840.113549.1.7.2';

/** Returns the decrypted content. */
function opened(envelope: Uint8Array, type: KeyType): Uint8Array {
  const key = testKey(type, 'recipient');
  return openssl(
    [
      'cms',
      '-decrypt',
      '-inform',
      'DER',
      '-in',
      'cms',
      '-recip',
      'cert',
      '-inkey',
      'key',
      '-out',
      'out',
      '-binary',
    ],
    { cms: contentInfo(enveloped, envelope), cert: pem('CERTIFICATE', ca.issue(key).der), key: key.pem() },
    ['out'],
  ).file('out');
}

/** Returns the signed content after OpenSSL has verified the signature. */
function verified(signedData: Uint8Array): Uint8Array {
  const run = openssl(
    [
      'cms',
      '-verify',
      '-inform',
      'DER',
      '-in',
      'cms',
      '-CAfile',
      'ca',
      '-purpose',
      'any',
      '-out',
      'out',
      '-binary',
    ],
    { cms: contentInfo(signed, signedData), ca: pem('CERTIFICATE', ca.certificate.der) },
    ['out'],
  );
  expect(run.text).toContain('erification successful');
  return run.file('out');
}

const generated = { privateKey, spki: testKey('p-384', 'generated').publicKey.spki };
/** RFC 5958 §2: version 2, with the public key under [1]. */
const keyPackage = der((b) =>
  b.sequence((list) =>
    list.sequence((one) => {
      const [algorithm, key] = readDer(privateKey, (reader) => {
        const info = reader.sequence();
        info.smallInteger(0);
        return [info.element(), info.octetString()] as const;
      });
      const { bytes } = testKey('p-384', 'generated').publicKey;
      one.integer(1).raw(algorithm).octetString(key).bitString(bytes, 0, context(1));
    }),
  ),
);
const signer = signerOf('p-256');

describe('a server-generated key', () => {
  test.each<[KeyType]>([['rsa-2048'], ['rsa-3072'], ['p-256'], ['p-384'], ['p-521']])(
    'is for the holder of a key of %s to open',
    async (type) => {
      const envelope = await envelopePrivateKey(generated, signer, certified(type), random);
      expect(hex(verified(opened(envelope, type)))).toBe(hex(keyPackage));
    },
  );

  test.each<[SignatureAlgorithm, KeyType]>([
    ['rsa-pkcs1-sha256', 'rsa-2048'],
    ['rsa-pss-sha256', 'rsa-2048'],
    ['ecdsa-sha384', 'p-384'],
  ])('is signed by %s', async (algorithm, type) => {
    const envelope = await envelopePrivateKey(
      generated,
      signerOf(type, algorithm),
      certified('p-256'),
      random,
    );
    expect(hex(verified(opened(envelope, 'p-256')))).toBe(hex(keyPackage));
  });

  // OpenSSL 3.0 does not verify these in CMS.
  test.each<[SignatureAlgorithm & KeyType]>([['ed25519'], ['ml-dsa-65']])(
    'is signed by %s beside SHA-512',
    async (algorithm) => {
      const { sign, ...rest } = signerOf(algorithm);
      let toBeSigned = new Uint8Array();
      const signedData = await buildSignedData('1.2.3', Uint8Array.of(1), {
        ...rest,
        sign(data) {
          toBeSigned = data.slice();
          return sign(data);
        },
      });
      const schema = asn1js.fromBER(signedData.slice().buffer).result;
      const [info] = new pkijs.SignedData({ schema }).signerInfos;
      const signature = new Uint8Array(info!.signature.getValue());
      const { publicKey } = testKey(algorithm, 'signer');
      expect(verifySignature(publicKey, algorithm, toBeSigned, signature)).toBe(true);
      const digest = createHash('sha512').update(Uint8Array.of(1)).digest();
      expect(Buffer.from(toBeSigned).includes(digest)).toBe(true);
      expect(info!.digestAlgorithm.algorithmId).toBe('2.16.840.1.101.3.4.2.3');
    },
  );

  test('can be decrypted with a password, by OpenSSL', async () => {
    const recipient: Recipient = { kind: 'password', password, iterations: 1000, wrap: 'pwriKek' };
    const envelope = await envelopePrivateKey(generated, signer, recipient, random);
    const run = openssl(
      [
        'cms',
        '-decrypt',
        '-inform',
        'DER',
        '-in',
        'cms',
        '-pwri_password',
        'SiemensIT',
        '-out',
        'out',
        '-binary',
      ],
      { cms: contentInfo(enveloped, envelope) },
      ['out'],
    );
    expect(hex(verified(run.file('out')))).toBe(hex(keyPackage));
  });

  test('can be decrypted with a password and AES key wrap', async () => {
    const recipient: Recipient = { kind: 'password', password, iterations: 1000, wrap: 'aesWrap' };
    const envelope = await envelopePrivateKey(generated, signer, recipient, random);
    const schema = asn1js.fromBER(envelope.slice().buffer).result;
    const content = await new pkijs.EnvelopedData({ schema }).decrypt(0, {
      preDefinedData: password.slice().buffer,
    });
    expect(hex(verified(new Uint8Array(content)))).toBe(hex(keyPackage));
  });

  test('is unencrypted PKCS#8 if the client requests that', async () => {
    const envelope = await envelopePrivateKey(generated, signer, certified('p-256'), random, 'pkcs8');
    expect(hex(verified(opened(envelope, 'p-256')))).toBe(hex(privateKey));
  });

  test('is encrypted differently each time', async () => {
    const [one, other] = await Promise.all(
      [1, 2].map(() => envelopePrivateKey(generated, signer, certified('p-256'), random)),
    );
    expect(hex(one!)).not.toBe(hex(other!));
    expect(Buffer.from(one!).includes(privateKey)).toBe(false);
  });

  test.each<[KeyType]>([['ed25519'], ['ml-dsa-44']])('cannot be encrypted to a key of %s', async (type) => {
    await expect(envelopePrivateKey(generated, signer, certified(type), random)).rejects.toMatchObject({
      code: 'badAlgorithm',
    });
  });

  test.each<[string, Recipient, version: number]>([
    ['key identifier', certified('rsa-2048'), 2],
    ['password', { kind: 'password', password, iterations: 100, wrap: 'aesWrap' }, 3],
  ])('has the CMS version of a %s', async (_what, recipient, version) => {
    const envelope = await envelopePrivateKey(generated, signer, recipient, random);
    const start = (b: DerBuilder): void => void b.integer(version);
    const contents = readDer(envelope, (r) => r.contents(tag.sequence));
    expect(hex(contents.subarray(0, 3))).toBe(hex(der(start)));
  });
});
