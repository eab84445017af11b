/** The types of devices. */
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
  /** The time at which the device was blocked: all its requests are rejected. null: the device is not blocked. */
  readonly blockedAt: number | null;
  /** The import that created the device. */
  readonly deviceImport: number | null;
  /** Accounts that registered or changed it: `user:3`, `serviceAccount:2`. See `core/access/custody.ts`. */
  readonly custodians: readonly string[];
}

/** The secrets of a device that is not onboarded with a certificate, sealed by the vault. */
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

/** Like NoOnboardingConfig, for a device that first obtains a domain credential. */
export interface OnboardingConfig extends NoOnboardingConfig {
  readonly onboardingStatus: number;
  readonly onboardingProtocol: EnrolmentProtocol | null;
  /** The truststore to which its IDevID has to chain. */
  readonly idevidTruststore: number | null;
  /**
   * The IDevID of the device, DER, and the SHA-256 of its public key, upper-case hex. Once they are set, no other
   * IDevID can act as this device, even with the same serial number.
   */
  readonly idevid: Uint8Array | null;
  readonly idevidKey: string | null;
  /**
   * The certificate issued during onboarding with the IDevID, unless the protocol confirms certificates: it is unknown
   * whether this certificate arrived.
   */
  readonly onboardedWith: number | null;
}
