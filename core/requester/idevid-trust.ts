import type { Configuration } from '../configuration/configuration.ts';
import type { Certificate } from '../x509/certificate.ts';
import { type PathResult, validatePath } from '../x509/path.ts';

/** Whether an IDevID chains to truststores. Each path is validated once. */
export interface Trust {
  of(truststore: number): PathResult;
  ofAny(truststores: readonly number[]): PathResult;
}

/**
 * Validates the paths of one IDevID. Revocation is not checked, because the gateway does not fetch the CRLs of manufacturers, and neither
 * are key purposes, which differ between IDevIDs.
 */
export function trustIn(
  configuration: Configuration,
  certificate: Certificate,
  intermediates: readonly Certificate[],
  time: number,
): Trust {
  const known = new Map<string, PathResult>();
  const ofAny = (truststores: readonly number[]): PathResult => {
    const name = [...new Set(truststores)].join();
    let result = known.get(name);
    if (!result) {
      const anchors = [...new Set(truststores)].flatMap((id) => configuration.idevidAnchors(id));
      result = validatePath(certificate, { time, intermediates, anchors });
      known.set(name, result);
    }
    return result;
  };
  return { of: (truststore) => ofAny([truststore]), ofAny };
}
