/** A certificate profile that a domain offers, under the profile's own name or an alias. */
export interface DomainProfile {
  readonly profile: number;
  readonly alias: string | null;
}

export interface Domain {
  readonly id: number;
  readonly createdAt: number;
  readonly uniqueName: string;
  /** The CA that signs for the domain; without one it cannot issue. */
  readonly issuingCa: number | null;
  readonly profiles: readonly DomainProfile[];
}

export interface CertificateProfile {
  readonly id: number;
  readonly createdAt: number;
  readonly uniqueName: string;
  /** The rules, in the language of `language.ts`; checked when they were stored. */
  readonly profile: unknown;
}

/**
 * Lets the devices of a manufacturer into a domain although nobody registered them: those whose IDevID (IEEE 802.1AR) chains to
 * the truststore and bears a serial number that the pattern matches.
 */
export interface DevidRegistration {
  readonly id: number;
  readonly createdAt: number;
  readonly uniqueName: string;
  /** Of usage IDevID. */
  readonly truststore: number;
  /** Where the devices are created. */
  readonly domain: number;
  /** In the dialect of `Patterns`; it has to match the whole serial number. */
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
