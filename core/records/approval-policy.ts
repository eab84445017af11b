export const approvalOperations = ['issuance', 'renewal', 'revocation'] as const;
export type ApprovalOperation = (typeof approvalOperations)[number];

/** By which something can be asked for; `management`: by an administrator, for a name. */
export const approvalProtocols = ['est', 'rest', 'cmp', 'management'] as const;
export type ApprovalProtocol = (typeof approvalProtocols)[number];

export const approvalDecisions = ['automatic', 'manual', 'deny'] as const;

/** What has to happen before a request is granted. What is left open (no protocols, null) matches everything. */
export interface ApprovalPolicy {
  readonly id: number;
  readonly createdAt: number;
  readonly uniqueName: string;
  /** The policy with the lowest number that matches decides; of two with the same one, the older. */
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
  /** For `manual`: seconds for the decision, and as many again for the requester to come back after it. */
  readonly expiresIn: number;
}

/** What a policy says that is left out. */
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
