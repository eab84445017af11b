import { sameBytes } from '../der/bytes.ts';
import { Fault, toFault } from '../fault.ts';
import type { Truststore } from '../records/domain.ts';
import type { Certificate } from '../x509/certificate.ts';
import { readCertificate } from '../x509/facts.ts';

/** The trust anchors of a truststore that can be read. */
export interface Anchors {
  /** What they were read from, DER. */
  readonly from: readonly Uint8Array[];
  readonly certificates: readonly Certificate[];
  /** About the first certificate that cannot be read; nobody is trusted because of it. */
  readonly damage: Fault | undefined;
}

/** Reads the anchors; `known`, of an earlier reading, is returned when the certificates are the same. */
export function loadAnchors({ certificates: from }: Truststore, known: Anchors | undefined): Anchors {
  if (known?.from.length === from.length && known.from.every((der, n) => sameBytes(der, from[n]!)))
    return known;
  const certificates: Certificate[] = [];
  let damage: Fault | undefined;
  for (const [n, der] of from.entries()) {
    try {
      certificates.push(readCertificate(der));
    } catch (error) {
      const { code, detail } = toFault(error);
      const why = code === 'internal' ? 'it cannot be read' : detail;
      damage ??= new Fault('malformed', `certificate ${n + 1} of ${from.length}: ${why}`, { cause: error });
    }
  }
  return { from, certificates, damage };
}
