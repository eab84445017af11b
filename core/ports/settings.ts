/** The settings of the configuration file that the core uses. Times in milliseconds. */
export interface GatewaySettings {
  /** Names this process among all gateways: the computer, and the number of the process. */
  readonly instance: string;
  /** The domain used if a path names none. */
  readonly defaultDomain: string;
  /** Base URL for CRLs and CA certificates, `http://host:port` without a trailing slash. */
  readonly publicUrl: string;
  /** URL of the OCSP responder, `http://…`, if there is one. */
  readonly ocspUrl?: string;
  /** Base URL for people and devices, `https://host:port` without a trailing slash. */
  readonly baseUrl: string;
  /** The enabled enrolment protocols. */
  readonly protocols: readonly string[];
  /** DNS names and IP addresses of the TLS server certificate, the preferred name first. */
  readonly serverNames: readonly string[];
  readonly loginLimits: LoginLimits;
  /** Reads the metrics without an account. */
  readonly scrapeToken?: string;
}

export interface LoginLimits {
  /** The number of failures within `window` after which a name, or an address, has to wait. */
  readonly perName: number;
  readonly perAddress: number;
  readonly window: number;
}

export const defaultLoginLimits: LoginLimits = { perName: 5, perAddress: 50, window: 5 * 60_000 };

export interface WithSettings {
  readonly settings: GatewaySettings;
}
