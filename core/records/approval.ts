import type { RevocationReason } from '../x509/crl.ts';
import type { ApprovalOperation, ApprovalProtocol } from './approval-policy.ts';

/**
 * `waiting`: approvers have not decided yet. `granted`: the requester can collect the result. `issued` and `revoked`:
 * the result was collected. `rejected`: an approver rejected the request. `expired`: there was no decision, or the
 * result was not collected, in time or before the device was deleted. `superseded`: another approval of the same
 * request replaced this one, because the result would differ from what the approvers were shown.
 */
export const approvalStates = [
  'waiting',
  'granted',
  'issued',
  'revoked',
  'rejected',
  'expired',
  'superseded',
] as const;
export type ApprovalState = (typeof approvalStates)[number];

/**
 * One request that people decide on, as it was received. Names are those at that time: the records that they name may
 * be deleted later.
 */
export interface Approval {
  readonly id: number;
  readonly createdAt: number;
  readonly state: ApprovalState;
  /**
   * The digest of the request as long as this approval is the current one for the request, else null. Unique: a
   * repeated request joins the existing approval, on any instance.
   */
  readonly answersFor: string | null;
  /** SHA-256, upper-case hex, of the request (`requestDigest`) and of the result that it would have. */
  readonly requestDigest: string;
  readonly outcomeDigest: string;
  readonly policy: number;
  readonly policyName: string;
  readonly operation: ApprovalOperation;
  readonly protocol: ApprovalProtocol;
  readonly domain: number;
  readonly domainName: string;
  readonly device: number | null;
  readonly deviceName: string | null;
  readonly profile: number | null;
  readonly profileName: string | null;
  /** The requester: `user:3`, `password device:7`, `certificate:12`; its name, and the address of the request. */
  readonly requester: string;
  readonly requesterName: string;
  readonly address: string;
  /** RFC 4514, the subject that would be issued; for revocations that of the first certificate. */
  readonly subject: string;
  /**
   * The request as received, DER: PKCS#10, CertReqMsg (RFC 4211 §3) or a whole PKIMessage; null if an account issues a
   * certificate by name.
   */
  readonly request: Uint8Array | null;
  readonly requestKind: 'pkcs10' | 'crmf' | 'revocation' | null;
  readonly content: ApprovalContent;
  /** How many approvers are needed, and how many have approved. */
  readonly approvers: number;
  readonly approvals: number;
  /** Milliseconds for each of the two periods, and the end of the current one. */
  readonly lasts: number;
  readonly expiresAt: number;
  /** The issued certificate; for a revocation the first one. */
  readonly certificate: number | null;
}

/** The fields that make an approval large: lists omit them. */
export const largeFields = ['request', 'content'] as const satisfies readonly (keyof Approval)[];
export type ApprovalSummary = Omit<Approval, (typeof largeFields)[number]>;

/** The decision of one account. */
export interface ApprovalDecision {
  readonly id: number;
  readonly createdAt: number;
  readonly approval: number;
  /** `user:3`, `serviceAccount:2`: an approver decides only once. */
  readonly approver: string;
  readonly approverName: string;
  readonly verdict: 'approved' | 'rejected';
  readonly comment: string;
}

/** What the approvers are shown. */
export type ApprovalContent =
  | { readonly kind: 'certificate'; readonly certificate: CertificateContent }
  | { readonly kind: 'revocation'; readonly entries: readonly RevocationContent[] };

/** What would be issued, beside what was requested. Times in milliseconds since 1970. */
export interface CertificateContent {
  readonly requested: CertificateFields;
  readonly outcome: CertificateFields & {
    readonly issuer: string;
    readonly notBefore: number;
    readonly notAfter: number;
  };
  readonly differences: readonly Difference[];
  /** The profile's reason for each field, see `ProfileOutcome.explain`. */
  readonly explanations: readonly {
    readonly field: string;
    readonly value: string;
    readonly because: string;
  }[];
}

/** The fields of a certificate that approvers compare. */
export interface CertificateFields {
  /** RFC 4514. */
  readonly subject: string;
  /** `DNS:pump-1.plant.example`. */
  readonly subjectAltNames: readonly string[];
  /** `p-256`, and the SHA-256 of the SubjectPublicKeyInfo; null if Postern has yet to generate the key. */
  readonly keyType: string;
  readonly keyFingerprint: string | null;
  readonly extensions: readonly {
    readonly oid: string;
    readonly critical: boolean;
    /** In words for a known extension, else hexadecimal. */
    readonly value: string;
  }[];
}

/** A field whose values differ from the requested ones: `subject.CN`, `subjectAltName`, `extensions.2.5.29.15`. */
export interface Difference {
  readonly field: string;
  readonly requested: readonly string[];
  readonly outcome: readonly string[];
}

export interface RevocationContent {
  readonly certificate: number;
  readonly subject: string;
  readonly serialNumber: string;
  readonly reason: RevocationReason;
  readonly invalidityDate: number | null;
}
