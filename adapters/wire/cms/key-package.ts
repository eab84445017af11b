import { der } from '#core/der/builder.ts';
import { readDer } from '#core/der/reader.ts';
import { context, tag } from '#core/der/tag.ts';
import { contentTypes } from './algorithms.ts';
import { buildEnvelopedData, type Recipient } from './enveloped-data.ts';
import { buildSignedData, type Signer } from './signed-data.ts';

/** A private key that was generated for someone else: PKCS#8 in DER, and its SubjectPublicKeyInfo in DER. */
export interface GeneratedKey {
  readonly privateKey: Uint8Array;
  readonly spki: Uint8Array;
}

/** `asymmetricKeyPackage`: as RFC 9483 §4.1.6 has it. `pkcs8`: the key alone, which is what OpenSSL reads. */
export type KeyFormat = 'asymmetricKeyPackage' | 'pkcs8';

/**
 * A private key, signed by its maker and encrypted to its owner (RFC 9483 §4.1.6). EnvelopedData in DER. Faults: badAlgorithm for a
 * recipient's key that nothing can be encrypted to.
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

/** AsymmetricKeyPackage of one OneAsymmetricKey of version 2, which has the public key (RFC 5958 §2). */
function keyPackage({ privateKey, spki }: GeneratedKey): Uint8Array {
  const { algorithm, key } = readDer(privateKey, (reader) => {
    const info = reader.sequence();
    info.smallInteger(version2);
    // What else PKCS#8 may have, attributes and a public key, says nothing more.
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
