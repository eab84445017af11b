import type { RevocationReason } from '../x509/crl.ts';
import type { ApprovalOperation, ApprovalProtocol } from './approval-policy.ts';

/**
 * `waiting` for approvers; `granted`: the requester may come for it; `issued` and `revoked`: it came. `rejected` by an approver,
 * `expired` without a decision or without having been come for, in time or before the device was deleted, `superseded` by another
 * approval of the same request, because what would come of it is no longer what the approvers were shown.
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

/** One request that people decide on, as it was when it came. Names are those of that time: what they name may go. */
export interface Approval {
  readonly id: number;
  readonly createdAt: number;
  readonly state: ApprovalState;
  /**
   * The digest of the request for as long as this approval is the answer to it, else null. Unique: the same request joins it,
   * however often it comes and wherever.
   */
  readonly answersFor: string | null;
  /** SHA-256, upper-case hex, of the request (`requestDigest`), and of what would come of it. */
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
  /** Who asked: `user:3`, `password device:7`, `certificate:12`; their name, and where the request came from. */
  readonly requester: string;
  readonly requesterName: string;
  readonly address: string;
  /** RFC 4514, of what would be issued; for revocations of the first certificate. */
  readonly subject: string;
  /** As it came, DER: PKCS#10, CertReqMsg (RFC 4211 §3) or a whole PKIMessage; null when an account asked for a name. */
  readonly request: Uint8Array | null;
  readonly requestKind: 'pkcs10' | 'crmf' | 'revocation' | null;
  readonly content: ApprovalContent;
  /** How many approvers are needed, and how many have approved. */
  readonly approvers: number;
  readonly approvals: number;
  /** Milliseconds for each of its phases, and the end of the present one. */
  readonly lasts: number;
  readonly expiresAt: number;
  /** The certificate that came of it; for a revocation the first one. */
  readonly certificate: number | null;
}

/** What makes an approval large: lists do without. */
export const largeFields = ['request', 'content'] as const satisfies readonly (keyof Approval)[];
export type ApprovalSummary = Omit<Approval, (typeof largeFields)[number]>;

/** What one account said. */
export interface ApprovalDecision {
  readonly id: number;
  readonly createdAt: number;
  readonly approval: number;
  /** `user:3`, `serviceAccount:2`: nobody decides twice. */
  readonly approver: string;
  readonly approverName: string;
  readonly verdict: 'approved' | 'rejected';
  readonly comment: string;
}

/** What the approvers are shown. */
export type ApprovalContent =
  | { readonly kind: 'certificate'; readonly certificate: CertificateContent }
  | { readonly kind: 'revocation'; readonly entries: readonly RevocationContent[] };

/** What would be issued, beside what was asked for. Times in milliseconds since 1970. */
export interface CertificateContent {
  readonly requested: Portrait;
  readonly outcome: Portrait & {
    readonly issuer: string;
    readonly notBefore: number;
    readonly notAfter: number;
  };
  readonly differences: readonly Difference[];
  /** The profile's word on each field, see `ProfileOutcome.explain`. */
  readonly explanations: readonly {
    readonly field: string;
    readonly value: string;
    readonly because: string;
  }[];
}

export interface Portrait {
  /** RFC 4514. */
  readonly subject: string;
  /** `DNS:pump-1.plant.example`. */
  readonly subjectAltNames: readonly string[];
  /** `p-256`, and the SHA-256 of the SubjectPublicKeyInfo; null while the key is yet to be made here. */
  readonly keyType: string;
  readonly keyFingerprint: string | null;
  readonly extensions: readonly {
    readonly oid: string;
    readonly critical: boolean;
    /** In words where it is one that is known, else hexadecimal. */
    readonly value: string;
  }[];
}

/** A field whose values are not those that were asked for: `subject.CN`, `subjectAltName`, `extensions.2.5.29.15`. */
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
