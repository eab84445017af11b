import type { CertificateTemplate } from '../x509/certificate.ts';
import type { VerifiedRequest } from '../x509/request.ts';

declare const prepared: unique symbol;

/**
 * A certificate to be: made from a profile, linted, with its serial number. Only `prepare` mints it, and
 * `issue` takes nothing else; what is signed is `tbs`, byte for byte.
 */
export interface Prepared {
  readonly template: CertificateTemplate;
  /** TBSCertificate, DER. */
  readonly tbs: Uint8Array;
  readonly request: VerifiedRequest;
  readonly [prepared]: true;
}
