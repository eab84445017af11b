import { sameBytes } from '#core/der/bytes.ts';
import { Fault } from '#core/fault.ts';
import { type Certificate, parseCertificate, subjectKeyIdentifierOf } from '#core/x509/certificate.ts';
import { sameName } from '#core/x509/name.ts';
import type { SealedPkiMessage } from './message.ts';

interface ExtraCerts {
  /** The certificate of the signer, as stated by the message. */
  readonly signer: Certificate;
  /** The other certificates, for path building. */
  readonly others: readonly Certificate[];
}

/**
 * Reads the extraCerts of a message with signature protection. The signer's certificate is the first (RFC 9483 §3.3),
 * and sender and senderKID must match it (§3.1). The caller decides whether to trust it. Faults: malformed;
 * unauthenticated if it is absent or does not match the header.
 */
export function readExtraCerts(message: SealedPkiMessage): ExtraCerts {
  const [signer, ...others] = message.extraCerts.map(parseCertificate);
  if (!signer) throw new Fault('unauthenticated', "CMP: extraCerts must contain the signer's certificate");
  const { sender, senderKID } = message.header;
  if (sender.kind !== 'directory' || !sameName(sender.value, signer.subject)) {
    throw new Fault(
      'unauthenticated',
      'CMP: sender is not the subject of the first certificate in extraCerts',
    );
  }
  const keyIdentifier = subjectKeyIdentifierOf(signer);
  if (senderKID && keyIdentifier && !sameBytes(senderKID, keyIdentifier)) {
    throw new Fault(
      'unauthenticated',
      'CMP: senderKID is not the key identifier of the first certificate in extraCerts',
    );
  }
  return { signer, others };
}
