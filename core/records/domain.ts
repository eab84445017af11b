/** A certificate profile that a domain offers, under the profile's own name or an alias. */
export interface DomainProfile {
  readonly profile: number;
  readonly alias: string | null;
}

export interface Domain {
  readonly id: number;
  readonly createdAt: number;
  readonly uniqueName: string;
  /** The CA that issues for the domain; a domain without a CA cannot issue. */
  readonly issuingCa: number | null;
  readonly profiles: readonly DomainProfile[];
}

export interface CertificateProfile {
  readonly id: number;
  readonly createdAt: number;
  readonly uniqueName: string;
  /** The rules, in the language of `language.ts`; they were checked before they were stored. */
  readonly profile: unknown;
}

/**
 * Registers the devices of a manufacturer in a domain automatically, if their IDevID (IEEE 802.1AR) chains to the
 * truststore and its serial number matches the pattern.
 */
export interface DevidRegistration {
  readonly id: number;
  readonly createdAt: number;
  readonly uniqueName: string;
  /** A truststore with the usage IDevID. */
  readonly truststore: number;
  /** The domain in which the devices are created. */
  readonly domain: number;
  /** In the dialect of `Patterns`; it must match the whole serial number. */
  readonly serialNumberPattern: string;
}

export const intendedUsage = { idevid: 0, tls: 1, generic: 2, deviceOwnerId: 3 } as const;

export interface Truststore {
  readonly id: number;
  readonly createdAt: number;
  readonly uniqueName: string;
  readonly intendedUsage: number;
  /** Trust anchors, DER. */
  readonly certificates: readonly Uint8Array[];
}
