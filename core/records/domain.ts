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
