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

/** A certificate of ours that a request renews. */
export interface Renewed {
  readonly record: StoredCertificate;
  readonly certificate: Certificate;
}

/**
 * Returns the certificate that a request names for renewal. This is the certificate that the requester presented; only a
 * registration authority may name another one of its domain. Faults: notFound, forbidden.
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
    throw new Fault('forbidden', 'the certificate to be renewed is not the certificate of the requester');
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

/** Returns the certificate of one of our CAs with this issuer and serial number, if there is one. */
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
