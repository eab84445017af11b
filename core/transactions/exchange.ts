import type { Transaction } from '../records/transaction.ts';
import type { Requester } from '../requester/requester.ts';

/** A message that opens a transaction, or goes on with the one that it `follows`. */
export interface Exchange {
  /** Of the transaction, upper-case hex. */
  readonly name: string;
  readonly operation: string;
  readonly certReqId: number;
  /** The message as it came. */
  readonly message: Uint8Array;
  /** See `Transaction`; of messages that open one. */
  readonly replayableUntil?: number | undefined;
  readonly follows: Transaction | undefined;
  /** Who passed it on inside a message of their own, when it opens a transaction. */
  readonly relay?: Requester | undefined;
}

/** What is sent in answer to a message; it is stored before it leaves. */
export interface ResponseMessage {
  readonly message: Uint8Array;
  /**
   * What of it is stored, where the rest is not worth its place as it can be had again: an answer by itself too, which earlier
   * versions give as it is.
   */
  readonly kept?: Uint8Array | undefined;
  /** What the next message has to bring back. */
  readonly nonce: Uint8Array;
}

/** An exchange whose answer depends on what becomes of the request, and is stored together with that. */
export interface ExchangeWithResponse<T> extends Exchange {
  answer(result: T): ResponseMessage | Promise<ResponseMessage>;
}
