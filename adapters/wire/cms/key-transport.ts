import { constants, publicEncrypt } from 'node:crypto';
import { der } from '#core/der/builder.ts';
import { context } from '#core/der/tag.ts';
import { oid } from '#core/x509/oids.ts';
import type { PublicKey } from '#core/x509/public-key.ts';

const sha256 = der((b) => b.sequence((s) => s.oid(oid.sha256).null()));

/** RSAES-OAEP with SHA-256 (RFC 4055 §4.1). */
const oaep = der((b) =>
  b.sequence((s) =>
    s
      .oid('1.2.840.113549.1.1.7')
      .sequence((p) =>
        p.explicit(0, sha256).explicit(1, (mask) => mask.sequence((f) => f.oid(oid.mgf1).raw(sha256))),
      ),
  ),
);

/** Builds KeyTransRecipientInfo (DER, RFC 5652 §6.2.1, RFC 3560) for an RSA key. */
export function keyTransportRecipient(
  contentKey: Uint8Array,
  recipient: PublicKey,
  keyIdentifier: Uint8Array,
): Uint8Array {
  const encrypted = publicEncrypt(
    { key: recipient.key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' },
    contentKey,
  );
  return der((b) =>
    b.sequence((s) => s.integer(2).octetString(keyIdentifier, context(0)).raw(oaep).octetString(encrypted)),
  );
}
