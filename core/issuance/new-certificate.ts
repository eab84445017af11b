import type { Handle } from '../ports/store.ts';
import type { StoredCertificate } from '../records/certificate.ts';
import { type Certificate, fingerprint } from '../x509/certificate.ts';
import { commonName, formatDistinguishedName } from '../x509/name.ts';

/** The record of a certificate before it is stored; `CA` is a handle when the CA is stored in the same commit. */
export type NewCertificate<CA extends number | Handle = number> = Omit<StoredCertificate, 'id' | 'ca'> & {
  readonly ca: CA;
};

/** For whom the certificate is, by which profile and over which protocol. */
type Circumstances = Pick<StoredCertificate, 'device' | 'domain' | 'profile' | 'protocol'> & {
  /** The inventory name; default: the subject's common name. */
  readonly inventoryName?: string | null | undefined;
};

/** The fields of a record that change with the signature. */
type Signed = Pick<StoredCertificate, 'status' | 'der' | 'fingerprint'>;

export const signed = (certificate: Uint8Array): Signed => ({
  status: 'good',
  der: certificate,
  fingerprint: fingerprint(certificate),
});

/** Creates the record of a certificate. `createdAt`: ms since 1970; `serialNumber`: upper-case hex. */
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
