import { sameBytes } from '../der/bytes.ts';
import type { Configuration } from './configuration.ts';

/** A certificate on the way up, and which CA of ours it is that of. */
export interface Link {
  /** DER. */
  readonly certificate: Uint8Array;
  readonly ca: number | null;
}

/** From a certificate's issuer up to the root. `issuer`: the CA that signed it. */
export function linksAbove(configuration: Configuration, issuer: number): readonly Link[] {
  return (configuration.ca(issuer)?.chain ?? []).map((certificate) => ({
    certificate,
    ca: configuration.cas.find(({ record }) => sameBytes(record.certificate, certificate))?.record.id ?? null,
  }));
}
