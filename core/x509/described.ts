import { sameBytes } from '../der/bytes.ts';
import { readDer } from '../der/reader.ts';
import { readSignatureAlgorithm } from './algorithm.ts';
import { type Certificate, formatSerial } from './certificate.ts';
import type { CertTemplate } from './crmf.ts';
import type { Extension } from './extension.ts';
import { sameName } from './name.ts';

/** The fields of a template that a certificate is compared with. */
type Description = Partial<Omit<CertTemplate, 'der'>>;

/**
 * Returns whether a certificate matches every field of a template. Absent fields match anything. Faults: malformed,
 * badAlgorithm.
 */
export function isDescribedBy(certificate: Certificate, template: Description): boolean {
  const { version, serial, signingAlg, issuer, validity, subject, spki, extensions = [] } = template;
  const { notBefore = certificate.notBefore, notAfter = certificate.notAfter } = validity ?? {};
  return (
    (version === undefined || version === certificate.version - 1) &&
    (!serial || formatSerial(serial) === certificate.serialNumber) &&
    (!signingAlg || readDer(signingAlg, readSignatureAlgorithm) === certificate.signatureAlgorithm) &&
    (!issuer || sameName(issuer, certificate.issuer)) &&
    notBefore === certificate.notBefore &&
    notAfter === certificate.notAfter &&
    (!subject || sameName(subject, certificate.subject)) &&
    (!spki || sameBytes(spki, certificate.spki)) &&
    extensions.every((one) => certificate.extensions.some((other) => isSame(one, other)))
  );
}

const isSame = (one: Extension, other: Extension): boolean =>
  one.oid === other.oid && one.critical === other.critical && sameBytes(one.value, other.value);
