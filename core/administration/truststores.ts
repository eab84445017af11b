import { type Resource, resource } from '../access/resource.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Truststore } from '../records/domain.ts';
import { fingerprint, parseCertificate } from '../x509/certificate.ts';
import { proven, readCertificate } from '../x509/facts.ts';
import { commonName, formatDistinguishedName } from '../x509/name.ts';
import { demandUsageUnused } from './idevid-truststore.ts';

interface Dependencies extends Pick<Ports, 'clock' | 'log' | 'store'>, WithConfiguration {}

export interface TruststoreInput {
  /** Default: the common name of the first certificate. */
  readonly uniqueName?: string;
  /** One of `intendedUsage`. */
  readonly intendedUsage: number;
  /** DER. */
  readonly certificates: readonly Uint8Array[];
}

const mostCertificates = 200;
const longestName = 255;

export function truststores(context: Dependencies): Resource<'truststore', TruststoreInput, Truststore> {
  return resource<'truststore', TruststoreInput, Truststore>(context, {
    kind: 'truststore',
    reads: 'truststores.read',
    writes: 'truststores.write',
    view: (record) => record,
    summary: ({ uniqueName, certificates }) => ({ uniqueName, certificates: certificates.length }),
    async create({ uniqueName, intendedUsage, certificates: given }) {
      const certificates = checked(given);
      const values = {
        createdAt: context.clock.now(),
        uniqueName: uniqueName || nameOf(certificates[0]!),
        intendedUsage,
        certificates,
      };
      return { values };
    },
    async update({ id, intendedUsage: present }, { uniqueName, intendedUsage, certificates }) {
      if (intendedUsage !== undefined && intendedUsage !== present) await demandUsageUnused(context, id);
      const set = {
        ...(uniqueName && { uniqueName }),
        ...(intendedUsage !== undefined && { intendedUsage }),
        ...(certificates && { certificates: checked(certificates) }),
      };
      return [{ op: 'update', kind: 'truststore', id, set }];
    },
    remove: async ({ id }) => [{ op: 'delete', kind: 'truststore', id }],
  });
}

/**
 * Returns the certificates in their order without duplicates, after checking that all are readable. Faults: malformed
 * with field `trustStoreFile`.
 */
function checked(certificates: readonly Uint8Array[]): readonly Uint8Array[] {
  const field = 'trustStoreFile';
  if (certificates.length === 0) throw new Fault('malformed', 'the file contains no certificate', { field });
  if (certificates.length > mostCertificates) {
    throw new Fault('malformed', `the file contains more than ${mostCertificates} certificates`, { field });
  }
  const unique = new Map(certificates.map((der) => [fingerprint(der), der]));
  for (const der of unique.values()) {
    proven(field, () => readCertificate(der));
  }
  return [...unique.values()];
}

function nameOf(der: Uint8Array): string {
  const { subject } = parseCertificate(der);
  return (commonName(subject) ?? formatDistinguishedName(subject)).slice(0, longestName) || fingerprint(der);
}
