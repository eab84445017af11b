import { sameBytes } from '#core/der/bytes.ts';
import { Fault } from '#core/fault.ts';
import { type Certificate, parseCertificate, subjectKeyIdentifierOf } from '#core/x509/certificate.ts';
import { sameName } from '#core/x509/name.ts';
import type { SealedPkiMessage } from './message.ts';

interface ExtraCerts {
  /** The certificate whose key is said to have signed the message. */
  readonly signer: Certificate;
  /** The rest, to build a path from. */
  readonly others: readonly Certificate[];
}

/**
 * The extraCerts of a message that is protected by a signature (RFC 9483 §3.3: the signer's certificate stands first), of
 * which sender and senderKID have to speak too (§3.1). Whether to trust it is for the caller to say. Faults: malformed;
 * unauthenticated when there is none, or the header names another.
 */
export function readExtraCerts(message: SealedPkiMessage): ExtraCerts {
  const [signer, ...others] = message.extraCerts.map(parseCertificate);
  if (!signer) throw new Fault('unauthenticated', 'CMP: the certificate of the signer is not in extraCerts');
  const { sender, senderKID } = message.header;
  if (sender.kind !== 'directory' || !sameName(sender.value, signer.subject)) {
    throw new Fault('unauthenticated', 'CMP: sender is not the subject of the first of extraCerts');
  }
  const keyIdentifier = subjectKeyIdentifierOf(signer);
  if (senderKID && keyIdentifier && !sameBytes(senderKID, keyIdentifier)) {
    throw new Fault('unauthenticated', 'CMP: senderKID is not that of the first of extraCerts');
  }
  return { signer, others };
}
