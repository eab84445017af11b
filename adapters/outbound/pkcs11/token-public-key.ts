import { der } from '#core/der/builder.ts';
import { Fault } from '#core/fault.ts';
import { oid } from '#core/x509/oids.ts';
import { type PublicKey, readPublicKey } from '#core/x509/public-key.ts';
import type { TokenKey } from './messages.ts';

/** Octets of an uncompressed point or an Edwards key. Some tokens return it without its OCTET STRING. */
const bareLengths: ReadonlySet<number> = new Set([32, 65, 97, 133]);

/** Converts a public key to the X.509 format. Faults: badAlgorithm for an unsupported type of key, malformed. */
export function publicKeyOf(key: TokenKey): PublicKey {
  return readPublicKey(
    der((b) =>
      b.sequence((info) => {
        switch (key.kind) {
          case 'rsa':
            info
              .sequence((a) => a.oid(oid.rsaEncryption).null())
              .bitString(der((n) => n.sequence((s) => s.unsigned(key.modulus).unsigned(key.exponent))));
            break;
          case 'ec':
            info
              .sequence((a) => a.oid(oid.ecPublicKey).raw(key.parameters))
              .bitString(withoutOctetString(key.point));
            break;
          case 'edwards':
            // PKCS #11 identifies the curve by its OID or by a name. The length distinguishes Ed448.
            info.sequence((a) => a.oid(oid.ed25519)).bitString(withoutOctetString(key.point));
        }
      }),
    ),
  );
}

function withoutOctetString(point: Uint8Array): Uint8Array {
  if (bareLengths.has(point.length)) return point;
  const header = point[1] === 0x81 ? 3 : 2;
  if (!bareLengths.has(point.length - header)) {
    throw new Fault('badAlgorithm', 'the token returned a public key of an unsupported type');
  }
  return point.subarray(header);
}
