/**
 * `pending`: the request waits for a decision, its sender polls. `waiting`: a certificate has been issued and waits for its
 * confirmation. The others are the end: `rejected` by the sender, `expired` without a confirmation or a decision in time.
 */
export type TransactionState = 'pending' | 'waiting' | 'done' | 'rejected' | 'expired';

/** Several messages that belong together, over minutes or days, whatever instance each of them arrives at. */
export interface Transaction {
  readonly id: number;
  readonly createdAt: number;
  /** The identifier that its opener chose, upper-case hex. Unique for as long as the transaction is remembered. */
  readonly name: string;
  /** What it was opened for, as the protocol calls it: `ir`, `rr`, … */
  readonly operation: string;
  /** Who opened it, see `requesterKey`: nobody else may go on with it. */
  readonly requester: string;
  /** The registration authority, a device, inside whose own message the opening one came: it may go on in its opener's place. */
  readonly relay: number | null;
  readonly device: number | null;
  readonly domain: number;
  /** The profile that the request named. */
  readonly profile: string | null;
  readonly state: TransactionState;
  /** While it is open, the end of the time for the next message; after that, until when it is remembered. */
  readonly expiresAt: number;
  /**
   * Until when the opening message, sent again, would be taken for a new one by who does not remember it; null when that is no longer than
   * every transaction is remembered. Milliseconds since 1970.
   */
  readonly replayableUntil: number | null;
  /** The certificate that came of it. */
  readonly certificate: number | null;
  /** The number that the request gave to what it asks for. */
  readonly certReqId: number;
  /** The opening message, while pending. */
  readonly request: Uint8Array | null;
  /** SHA-256 of the opening message, and the answer to it, as far as it is kept: empty when it is not given again. */
  readonly openingDigest: Uint8Array;
  readonly openingAnswer: Uint8Array;
  /** The same of the latest message after it. */
  readonly latestDigest: Uint8Array | null;
  readonly latestAnswer: Uint8Array | null;
  /** What the next message has to bring back. */
  readonly nonce: Uint8Array;
}
