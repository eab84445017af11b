import { der } from '#core/der/builder.ts';
import { contentTypes } from './algorithms.ts';
import { buildEnvelopedData, type Recipient } from './enveloped-data.ts';
import { buildSignedData, type Signer } from './signed-data.ts';

/**
 * A private key that was generated for someone else (RFC 9483 §4.1.6): in an AsymmetricKeyPackage (RFC 5958 §2), signed,
 * and encrypted to its owner. `privateKey`: PKCS#8 in DER. EnvelopedData in DER. Faults: badAlgorithm for a recipient's
 * key that nothing can be encrypted to.
 */
export async function envelopePrivateKey(
  privateKey: Uint8Array,
  signer: Signer,
  recipient: Recipient,
  random: (octets: number) => Uint8Array,
): Promise<Uint8Array> {
  const keyPackage = der((b) => b.sequence(privateKey));
  const signed = await buildSignedData(contentTypes.keyPackage, keyPackage, signer);
  return buildEnvelopedData(contentTypes.signedData, signed, recipient, random);
}
