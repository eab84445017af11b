import type { Transaction } from '../records/transaction.ts';
import type { Requester } from '../requester/requester.ts';

/** A message that opens a transaction, or continues the one that it `follows`. */
export interface Exchange {
  /** The transaction ID, upper-case hex. */
  readonly name: string;
  readonly operation: string;
  readonly certReqId: number;
  /** The encoded message. */
  readonly message: Uint8Array;
  /** See `Transaction`; only for messages that open one. */
  readonly replayableUntil?: number | undefined;
  readonly follows: Transaction | undefined;
  /** The registration authority that relayed the opening message inside a message of its own. */
  readonly relay?: Requester | undefined;
}

/** The response to a message; it is stored before it is sent. */
export interface ResponseMessage {
  readonly message: Uint8Array;
  /** A shorter response that is stored instead, if the rest can be added again. It is a valid response by itself. */
  readonly kept?: Uint8Array | undefined;
  /** The nonce that the next message has to return. */
  readonly nonce: Uint8Array;
}

/** An exchange whose response depends on the result of the request, and is stored together with it. */
export interface ExchangeWithResponse<T> extends Exchange {
  answer(result: T): ResponseMessage | Promise<ResponseMessage>;
}
