import { der } from '#core/der/builder.ts';
import { readDer } from '#core/der/reader.ts';
import { context, tag } from '#core/der/tag.ts';
import { contentTypes } from './algorithms.ts';
import { buildEnvelopedData, type Recipient } from './enveloped-data.ts';
import { buildSignedData, type Signer } from './signed-data.ts';

/** A private key that Postern generated for a client: PKCS#8 (DER) and its SubjectPublicKeyInfo (DER). */
export interface GeneratedKey {
  readonly privateKey: Uint8Array;
  readonly spki: Uint8Array;
}

/** `asymmetricKeyPackage`: the format of RFC 9483 §4.1.6. `pkcs8`: only the key, the format that OpenSSL reads. */
export type KeyFormat = 'asymmetricKeyPackage' | 'pkcs8';

/**
 * Builds EnvelopedData (DER) with a private key that is signed by its generator and encrypted for its owner (RFC 9483
 * §4.1.6). Faults: badAlgorithm for a recipient key that cannot be used for encryption.
 */
export async function envelopePrivateKey(
  key: GeneratedKey,
  signer: Signer,
  recipient: Recipient,
  random: (octets: number) => Uint8Array,
  format: KeyFormat = 'asymmetricKeyPackage',
): Promise<Uint8Array> {
  const signed = await (format === 'pkcs8'
    ? buildSignedData(contentTypes.data, key.privateKey, signer)
    : buildSignedData(contentTypes.keyPackage, keyPackage(key), signer));
  return buildEnvelopedData(contentTypes.signedData, signed, recipient, random);
}

const version2 = 1;

/**
 * Builds an AsymmetricKeyPackage with one OneAsymmetricKey of version 2, which includes the public key (RFC 5958 §2).
 */
function keyPackage({ privateKey, spki }: GeneratedKey): Uint8Array {
  const { algorithm, key } = readDer(privateKey, (reader) => {
    const info = reader.sequence();
    info.smallInteger(version2);
    // Attributes and the public key in PKCS#8 are not needed.
    return { algorithm: info.element(tag.sequence), key: info.octetString() };
  });
  const publicKey = readDer(spki, (reader) => {
    const info = reader.sequence();
    info.element(tag.sequence);
    return info.bitStringBytes();
  });
  return der((b) =>
    b.sequence((list) =>
      list.sequence((one) =>
        one.integer(version2).raw(algorithm).octetString(key).bitString(publicKey, 0, context(1)),
      ),
    ),
  );
}
