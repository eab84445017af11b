import type { Handle } from '../ports/store.ts';
import type { StoredCertificate } from '../records/certificate.ts';
import { type Certificate, fingerprint } from '../x509/certificate.ts';
import { commonName, formatDistinguishedName } from '../x509/name.ts';

/** The record of a certificate that is yet to be in the store; `CA` is a `Ref` where the CA is yet to be there, too. */
export type NewCertificate<CA extends number | Handle = number> = Omit<StoredCertificate, 'id' | 'ca'> & {
  readonly ca: CA;
};

/** For whom it is, by what profile and over which protocol. */
type Circumstances = Pick<StoredCertificate, 'device' | 'domain' | 'profile' | 'protocol'> & {
  /** The inventory name; default: the subject's common name. */
  readonly inventoryName?: string | null | undefined;
};

/** What of a record changes with the signature. */
type Signed = Pick<StoredCertificate, 'status' | 'der' | 'fingerprint'>;

export const signed = (certificate: Uint8Array): Signed => ({
  status: 'good',
  der: certificate,
  fingerprint: fingerprint(certificate),
});

/** The one place where a certificate's record begins. `createdAt`: ms since 1970; `serialNumber`: upper-case hex. */
export function newCertificate<CA extends number | Handle>(
  createdAt: number,
  ca: CA,
  { device, domain, profile, protocol, inventoryName }: Circumstances,
  { subject, notBefore, notAfter }: Pick<Certificate, 'subject' | 'notBefore' | 'notAfter'>,
  serialNumber: string,
  { status, der, fingerprint }: Signed,
): NewCertificate<CA> {
  return {
    createdAt,
    commonName: inventoryName ?? commonName(subject) ?? '',
    ca,
    serialNumber,
    subject: formatDistinguishedName(subject),
    notValidBefore: notBefore,
    notValidAfter: notAfter,
    revokedAt: null,
    revocationReason: null,
    invalidityDate: null,
    device,
    domain,
    profile,
    protocol,
    hidden: false,
    status,
    der,
    fingerprint,
  };
}
