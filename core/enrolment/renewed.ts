import type { Configuration } from '../configuration/configuration.ts';
import { hasExpired } from '../der/time.ts';
import { Fault } from '../fault.ts';
import type { CertificateReference, EnrolmentRequest } from '../issuance/enrolment-request.ts';
import type { Ports } from '../ports/ports.ts';
import type { Store } from '../ports/store.ts';
import type { StoredCertificate } from '../records/certificate.ts';
import type { Requester } from '../requester/requester.ts';
import { type Certificate, parseCertificate } from '../x509/certificate.ts';
import { formatDistinguishedName, sameName } from '../x509/name.ts';

/** A certificate of ours that a request is to renew. */
export interface Renewed {
  readonly record: StoredCertificate;
  readonly certificate: Certificate;
}

/**
 * What a request renews: the certificate that was presented, and no other may be named, unless a registration authority asks
 * for one of its domain. Faults: notFound, forbidden.
 */
export async function renewedCertificate(
  context: Pick<Ports, 'clock' | 'store'>,
  requester: Requester,
  operation: EnrolmentRequest['operation'],
  renews: CertificateReference,
): Promise<Renewed | undefined> {
  const { presented, credential } = requester;
  if (presented && isNamed(presented.certificate, renews)) return presented;
  if (operation !== 'renew' || credential !== 'registrationAuthority') {
    throw new Fault('forbidden', 'the certificate to be renewed is another one than that of the requester');
  }
  const record = await findReferred(context.store, requester.configuration, renews);
  if (!record || record.domain !== requester.domain.id || record.status !== 'good') {
    throw new Fault('notFound', 'there is no such certificate to be renewed', { field: 'renews' });
  }
  const certificate = parseCertificate(record.der);
  if (hasExpired(certificate.notAfter, context.clock.now())) {
    throw new Fault('forbidden', 'the certificate to be renewed has expired');
  }
  return { record, certificate };
}

const isNamed = (certificate: Certificate, { issuer, serialNumber }: CertificateReference): boolean =>
  certificate.serialNumber === serialNumber && sameName(certificate.issuer, issuer);

/** The certificate of one of our CAs with this number; undefined where there is none. */
export async function findReferred(
  store: Store,
  configuration: Configuration,
  { issuer, serialNumber }: CertificateReference,
): Promise<StoredCertificate | undefined> {
  for (const ca of configuration.casNamed(formatDistinguishedName(issuer))) {
    const record = await store.find('certificate', { ca: ca.record.id, serialNumber });
    if (record) return record;
  }
  return undefined;
}
