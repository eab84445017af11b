/**
 * `pending`: the request waits for a decision, and its sender polls. `waiting`: a certificate has been issued and waits
 * for its confirmation. The other states are final: `rejected` by the sender, `expired` without a confirmation or a
 * decision in time.
 */
export type TransactionState = 'pending' | 'waiting' | 'done' | 'rejected' | 'expired';

/** An exchange of several messages, over minutes or days. Each message can arrive at any instance. */
export interface Transaction {
  readonly id: number;
  readonly createdAt: number;
  /** The identifier that the opener chose, upper-case hex. Unique as long as the transaction is kept. */
  readonly name: string;
  /** The operation in the words of the protocol: `ir`, `rr`, … */
  readonly operation: string;
  /** The requester that opened the transaction, see `requesterKey`: no other requester can continue it. */
  readonly requester: string;
  /**
   * The registration authority (a device) whose message wrapped the opening message: it can continue the transaction
   * for the opener.
   */
  readonly relay: number | null;
  readonly device: number | null;
  readonly domain: number;
  /** The profile that the request named. */
  readonly profile: string | null;
  readonly state: TransactionState;
  /**
   * While the transaction is open: the deadline for the next message. After that: until when the transaction is kept.
   */
  readonly expiresAt: number;
  /**
   * Until when an instance that has forgotten the transaction would accept the opening message as a new one, in
   * milliseconds since 1970; null if transactions are kept at least that long anyway.
   */
  readonly replayableUntil: number | null;
  /** The issued certificate. */
  readonly certificate: number | null;
  /** The certReqId of the request. */
  readonly certReqId: number;
  /** The opening message, while pending. */
  readonly request: Uint8Array | null;
  /**
   * SHA-256 of the opening message, and the response to it if it was kept: empty if the response cannot be repeated.
   */
  readonly openingDigest: Uint8Array;
  readonly openingAnswer: Uint8Array;
  /** Like the fields above, for the latest message after the opening one. */
  readonly latestDigest: Uint8Array | null;
  readonly latestAnswer: Uint8Array | null;
  /** The nonce that the next message must return. */
  readonly nonce: Uint8Array;
}
