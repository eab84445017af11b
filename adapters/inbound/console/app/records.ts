/** Records as the API shows them; members that no page uses are left out. */

export interface Device {
  readonly id: number;
  readonly common_name: string;
  readonly serial_number: string;
  readonly device_type: number;
  readonly created_at: string;
  readonly domain: number | null;
  readonly onboarding_config: number | null;
  readonly no_onboarding_config: number | null;
  readonly state: 'registered' | 'active' | 'blocked';
  readonly blocked_at: string | null;
  readonly next_expiry: string | null;
  readonly device_import: number | null;
}

export interface DeviceConfig {
  readonly id: number;
  readonly protocols: readonly string[];
  readonly est_password: string | null;
  readonly cmp_shared_secret: string | null;
  readonly onboarding_status?: number;
  readonly onboarding_protocol?: string | null;
  readonly idevid_truststore?: number | null;
  readonly idevid?: {
    readonly subject: string;
    readonly issuer: string;
    readonly serial_number: string;
    readonly not_valid_after: string;
    readonly fingerprint: string;
  } | null;
}

/** Devices from a file, and how far that has come. */
export interface DeviceImport {
  readonly id: number;
  readonly created_at: string;
  readonly file_name: string;
  readonly account: string;
  readonly state: 'receiving' | 'waiting' | 'running' | 'done' | 'cancelled' | 'failed';
  readonly total: number;
  readonly done: number;
  readonly created: number;
  readonly refused: number;
  readonly finished_at: string | null;
  readonly reason: string | null;
}

export interface Certificate {
  readonly id: number;
  readonly common_name: string;
  readonly created_at: string;
  readonly serial_number: string;
  readonly subject: string;
  readonly not_valid_before: string;
  readonly not_valid_after: string;
  readonly status: 'good' | 'hold' | 'revoked';
  readonly revoked_at: string | null;
  readonly revocation_reason: string | null;
  readonly issuing_ca: number;
  readonly device: number | null;
  readonly domain: number | null;
  readonly cert_profile: number | null;
  readonly protocol: string;
}

export interface Said {
  readonly term: string;
  readonly text?: string;
}

export interface ExplainedExtension {
  readonly oid: string;
  readonly name: string | null;
  readonly critical: boolean;
  readonly values: readonly Said[];
  readonly value: string;
}

export interface CertificateView {
  readonly contents: {
    readonly version: number;
    readonly serial_number: string;
    readonly subject: string;
    readonly issuer: string;
    readonly not_valid_before: string;
    readonly not_valid_after: string;
    readonly signature_algorithm: string | null;
    readonly public_key: { readonly type: string | null; readonly sha256: string };
    readonly sha256: string;
    readonly sha1: string;
    readonly extensions: readonly ExplainedExtension[];
  };
  readonly chain: readonly {
    readonly subject: string;
    readonly serial_number: string;
    readonly not_valid_after: string;
    readonly fingerprint: string;
    readonly issuing_ca: number | null;
  }[];
}

export interface IssuingCa {
  readonly id: number;
  readonly unique_name: string;
  readonly common_name: string;
  readonly issuing_ca_type: number;
  readonly issuing_ca_type_display: string;
  readonly is_active: boolean;
  readonly created_at: string;
  readonly last_crl_issued_at: string | null;
  readonly has_crl: boolean;
}

export interface CaPosition {
  readonly id: number;
  readonly unique_name: string;
  readonly issuing_ca_type: number;
  readonly is_active: boolean;
  readonly subject: string;
  readonly issuer: string;
  readonly parent: number | null;
  readonly not_valid_before: string;
  readonly not_valid_after: string;
  readonly crl: {
    readonly number: number;
    readonly this_update: string;
    readonly next_update: string;
  } | null;
}

/** A configured upstream CA, as the process knows it that `gateway` names. */
export interface UpstreamCa {
  readonly name: string;
  readonly protocol: 'est' | 'cmp' | null;
  readonly url: string | null;
  readonly label: string | null;
  readonly profile: string | null;
  readonly ok: boolean;
  readonly problem: string | null;
  readonly circuit: {
    readonly state: 'closed' | 'open' | 'half-open';
    readonly failures: number;
    readonly since: string | null;
    readonly next_try_at: string | null;
  };
  readonly client_certificate: { readonly subject: string; readonly not_valid_after: string } | null;
  readonly last_success_at: string | null;
  readonly last_error: { readonly at: string; readonly detail: string } | null;
  readonly pending_requests: number;
  readonly issuing_cas: readonly number[];
  readonly gateway: string;
}

export interface Domain {
  readonly id: number;
  readonly unique_name: string;
  readonly created_at: string;
  readonly issuing_ca: number | null;
  readonly profiles: readonly { readonly profile: number; readonly alias: string | null }[];
}

export interface Named {
  readonly id: number;
  readonly unique_name: string;
}

export interface Truststore extends Named {
  readonly intended_usage: number;
  readonly created_at: string;
}

export interface Registration extends Named {
  readonly created_at: string;
  readonly truststore: number;
  readonly domain: number;
  readonly serial_number_pattern: string;
}

export interface Profile extends Named {
  readonly created_at: string;
  /** As written: what is in it the profile pages know. */
  readonly profile: Readonly<Record<string, unknown>>;
}

export interface Signer extends Named {
  readonly certificate_cn: string;
  readonly certificate_not_valid_after: string;
  readonly signature_suite: string;
  readonly created_at: string;
}
