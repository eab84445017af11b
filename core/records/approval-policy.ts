export const approvalOperations = ['issuance', 'renewal', 'revocation'] as const;
export type ApprovalOperation = (typeof approvalOperations)[number];

/** The protocol of a request; `management`: an administrator issues a certificate by name. */
export const approvalProtocols = ['est', 'rest', 'cmp', 'management'] as const;
export type ApprovalProtocol = (typeof approvalProtocols)[number];

export const approvalDecisions = ['automatic', 'manual', 'deny'] as const;

/**
 * Decides whether a request is granted automatically, needs approval or is denied. An empty list or null matches
 * everything.
 */
export interface ApprovalPolicy {
  readonly id: number;
  readonly createdAt: number;
  readonly uniqueName: string;
  /** The matching policy with the lowest number decides; if two have the same number, the older one. */
  readonly priority: number;
  readonly isActive: boolean;
  readonly protocols: readonly ApprovalProtocol[];
  readonly operations: readonly ApprovalOperation[];
  readonly domain: number | null;
  readonly profile: number | null;
  readonly device: number | null;
  /** Matches the whole common name of the device, see `Patterns`. */
  readonly devicePattern: string | null;
  readonly decision: (typeof approvalDecisions)[number];
  /** For `manual`: how many different accounts have to approve. */
  readonly approvers: number;
  /**
   * For `manual`: limits two periods, each in seconds: the time approvers have to decide, and then the time the
   * requester has to collect the result.
   */
  readonly expiresIn: number;
}

/** Default values of a policy. */
export const usualPolicy = {
  priority: 100,
  isActive: true,
  protocols: [],
  operations: [],
  domain: null,
  profile: null,
  device: null,
  devicePattern: null,
  approvers: 1,
  expiresIn: 7 * 86_400,
} as const;
