import type { Store } from '../ports/store.ts';
import type { StoredCertificate } from '../records/certificate.ts';
import type { Certificate } from '../x509/certificate.ts';
import { formatDistinguishedName } from '../x509/name.ts';
import type { Configuration } from './configuration.ts';

/**
 * The stored certificate that `certificate` is, byte for byte. That it was signed by our CA needs no second check: what
 * is in the store is what the CA signed.
 */
export async function findIssued(
  store: Store,
  configuration: Configuration,
  certificate: Certificate,
): Promise<StoredCertificate | undefined> {
  for (const ca of configuration.casNamed(formatDistinguishedName(certificate.issuer))) {
    const record = await store.find('certificate', {
      ca: ca.record.id,
      serialNumber: certificate.serialNumber,
    });
    if (record && Buffer.compare(record.der, certificate.der) === 0) return record;
  }
  return undefined;
}
