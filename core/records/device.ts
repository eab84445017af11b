/** How a device came to be known and what it may still use. */
export const deviceTypes = { generic: 0, opcUaGds: 1, opcUaGdsPush: 2, agent: 3 } as const;

export type EnrolmentProtocol = 'cmp' | 'est' | 'rest' | 'manual';

export interface Device {
  readonly id: number;
  readonly createdAt: number;
  readonly commonName: string;
  readonly serialNumber: string;
  readonly deviceType: number;
  readonly domain: number | null;
  readonly onboardingConfig: number | null;
  readonly noOnboardingConfig: number | null;
  /** Since when nobody is let in who stands for it; null: it is not blocked. */
  readonly blockedAt: number | null;
  /** The import that made it. */
  readonly deviceImport: number | null;
  /** Accounts that registered or changed it: `user:3`, `serviceAccount:2`. See `core/access/custody.ts`. */
  readonly custodians: readonly string[];
}

/** The secrets of a device that is not onboarded with a certificate. Sealed by the vault. */
export interface NoOnboardingConfig {
  readonly id: number;
  readonly createdAt: number;
  readonly protocols: readonly EnrolmentProtocol[];
  readonly estPassword: Uint8Array | null;
  readonly cmpSharedSecret: Uint8Array | null;
  /** Accounts that made or changed it, or have read its secrets. */
  readonly custodians: readonly string[];
}

export const onboardingStatus = { pending: 1, onboarded: 2 } as const;

/** As NoOnboardingConfig, for a device that gets a domain credential first. */
export interface OnboardingConfig extends NoOnboardingConfig {
  readonly onboardingStatus: number;
  readonly onboardingProtocol: EnrolmentProtocol | null;
  /** The one that its IDevID has to chain to. */
  readonly idevidTruststore: number | null;
  /**
   * The IDevID that it came with, DER, and the SHA-256 of that one's public key, upper-case hex: from then on no other stands for
   * the device, whatever serial number it bears.
   */
  readonly idevid: Uint8Array | null;
  readonly idevidKey: string | null;
  /** The certificate that it was onboarded with by its IDevID, unless that had to be confirmed: nothing tells whether it arrived. */
  readonly onboardedWith: number | null;
}
