import { sameBytes } from '../der/bytes.ts';
import { Fault, toFault } from '../fault.ts';
import type { Truststore } from '../records/domain.ts';
import type { Certificate } from '../x509/certificate.ts';
import { readCertificate } from '../x509/facts.ts';

/** The readable trust anchors of a truststore. */
export interface Anchors {
  /** The certificates that were read, DER. */
  readonly from: readonly Uint8Array[];
  readonly certificates: readonly Certificate[];
  /** The error of the first unreadable certificate; such a certificate trusts nobody. */
  readonly damage: Fault | undefined;
}

/** Reads the anchors; returns `known`, from an earlier call, if the certificates are the same. */
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
