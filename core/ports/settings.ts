/** What the configuration says to the core. Times in milliseconds. */
export interface GatewaySettings {
  /** The domain that is meant where a path names none. */
  readonly defaultDomain: string;
  /** Where devices fetch CRLs and CA certificates, `http://host:port` without a trailing slash. */
  readonly publicUrl: string;
  /** Where devices ask whether a certificate is revoked (OCSP), if they can: `http://…`. */
  readonly ocspUrl?: string;
  /** How people and devices reach it, `https://host:port` without a trailing slash. */
  readonly baseUrl: string;
  /** Which protocols are served for enrolment. */
  readonly protocols: readonly string[];
  /** DNS names and IP addresses that the TLS server credential is made for, the preferred one first. */
  readonly serverNames: readonly string[];
  readonly loginLimits: LoginLimits;
}

export interface LoginLimits {
  /** Failures within `window` after which a name, and an address, have to wait. */
  readonly perName: number;
  readonly perAddress: number;
  readonly window: number;
}

export const defaultLoginLimits: LoginLimits = { perName: 5, perAddress: 50, window: 5 * 60_000 };

export interface WithSettings {
  readonly settings: GatewaySettings;
}
