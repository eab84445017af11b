import { createHash, diffieHellman, generateKeyPairSync } from 'node:crypto';
import { der } from '#core/der/builder.ts';
import { readDer } from '#core/der/reader.ts';
import { contextConstructed, tag } from '#core/der/tag.ts';
import { Fault } from '#core/fault.ts';
import type { HashName, KeyType } from '#core/x509/algorithm.ts';
import type { PublicKey } from '#core/x509/public-key.ts';
import { aes256Wrap, aesKeyOctets, wrapAesKey } from './algorithms.ts';

interface Scheme {
  readonly namedCurve: string;
  readonly hash: HashName;
  /** dhSinglePass-stdDH with the key derivation function of X9.63 (RFC 5753 §7.1.4). */
  readonly oid: string;
}

const schemes: Partial<Record<KeyType, Scheme>> = {
  'p-256': { namedCurve: 'P-256', hash: 'sha256', oid: '1.3.132.1.11.1' },
  'p-384': { namedCurve: 'P-384', hash: 'sha384', oid: '1.3.132.1.11.2' },
  'p-521': { namedCurve: 'P-521', hash: 'sha512', oid: '1.3.132.1.11.3' },
};
const ukmOctets = 32;

/**
 * Builds KeyAgreeRecipientInfo (DER, RFC 5652 §6.2.2, RFC 5753 §3.1.1) with an ephemeral key. Faults: badAlgorithm for
 * a key that is not on a supported curve.
 */
export async function keyAgreementRecipient(
  contentKey: Uint8Array,
  recipient: PublicKey,
  keyIdentifier: Uint8Array,
  random: (octets: number) => Uint8Array,
): Promise<Uint8Array> {
  const scheme = schemes[recipient.type];
  if (!scheme)
    throw new Fault('badAlgorithm', `keys of type ${recipient.type} cannot be used for encryption`);
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: scheme.namedCurve });
  const ukm = random(ukmOctets);
  const shared = diffieHellman({ privateKey, publicKey: recipient.key });
  const encryptedKey = await wrapAesKey(contentKey, deriveKey(scheme.hash, shared, ukm));
  const originator = readDer(new Uint8Array(publicKey.export({ format: 'der', type: 'spki' })), (r) =>
    r.contents(tag.sequence),
  );
  return der((b) =>
    b.add(contextConstructed(1), (kari) => {
      kari.integer(3).explicit(0, (choice) => choice.add(contextConstructed(1), originator));
      kari.explicit(1, (explicit) => explicit.octetString(ukm));
      kari.sequence((algorithm) => algorithm.oid(scheme.oid).raw(aes256Wrap));
      kari.sequence((keys) =>
        keys.sequence((key) => {
          key.add(contextConstructed(0), (id) => id.octetString(keyIdentifier)).octetString(encryptedKey);
        }),
      );
    }),
  );
}

/** Derives the key (RFC 5753 §7.2, SEC 1 §3.6.1). One hash is enough, because each is at least as long as the key. */
function deriveKey(hash: HashName, shared: Uint8Array, ukm: Uint8Array): Uint8Array {
  const bits = Uint8Array.of(0, 0, 0x01, 0x00);
  const sharedInfo = der((b) =>
    b.sequence((info) => {
      info.raw(aes256Wrap).explicit(0, (explicit) => explicit.octetString(ukm));
      info.explicit(2, (explicit) => explicit.octetString(bits));
    }),
  );
  const counter = Uint8Array.of(0, 0, 0, 1);
  const digest = createHash(hash).update(shared).update(counter).update(sharedInfo).digest();
  return digest.subarray(0, aesKeyOctets);
}
