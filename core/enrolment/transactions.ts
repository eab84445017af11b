import { demand, type Principal, readsOf } from '../access/principal.ts';
import type { Crls } from '../ca/crls.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import { sameBytes } from '../der/bytes.ts';
import { Fault } from '../fault.ts';
import type { EnrolmentResult } from '../issuance/enrolment-request.ts';
import type { Ports } from '../ports/ports.ts';
import type { Page, Query } from '../ports/store.ts';
import type { Transaction } from '../records/transaction.ts';
import type { Requester } from '../requester/requester.ts';
import type { Exchange, ExchangeWithResponse, ResponseMessage } from '../transactions/exchange.ts';
import {
  demandOpener,
  digest,
  exchangeWrite,
  isRelay,
  type Progress,
  refusedExchange,
  responseRetention,
} from '../transactions/record.ts';
import type { WithCircuits } from '../upstream/circuits.ts';
import { type Confirmation, confirm } from './confirm.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'issuers' | 'log' | 'store'>,
    WithCircuits,
    WithConfiguration {}

/** The transaction that a message names, and the response if the message is repeated. */
export interface RecalledTransaction {
  readonly transaction: Transaction | undefined;
  /** The stored response to this very message, when it is repeated. */
  readonly answer: Uint8Array | undefined;
}

/** A transaction as administrators see it, without the messages. */
export type TransactionView = Omit<
  Transaction,
  | 'relay'
  | 'replayableUntil'
  | 'request'
  | 'openingDigest'
  | 'openingAnswer'
  | 'latestDigest'
  | 'latestAnswer'
  | 'nonce'
>;

/** Transactions of several messages. */
export interface Transactions {
  /** Finds the transaction of a message, before the message is processed. `name`: upper-case hex. Faults: unavailable. */
  recall(name: string, message: Uint8Array): Promise<RecalledTransaction>;
  /** Returns the CA certificates above the certificate of the transaction, its issuer first, up to the root, DER. */
  chainOf(transaction: Transaction): Promise<readonly Uint8Array[]>;
  /**
   * Stores a pending request and its response for `lasts` ms, unless the result names another period. Faults: replayed when another
   * message has used the transaction.
   */
  defer(
    requester: Requester,
    outcome: Extract<EnrolmentResult, { kind: 'pending' }>,
    exchange: ExchangeWithResponse<Extract<EnrolmentResult, { kind: 'pending' }>>,
    lasts: number,
  ): Promise<void>;
  /** Ends a pending transaction with the response that says why. Faults: replayed. */
  refuse(requester: Requester, exchange: ExchangeWithResponse<void>): Promise<void>;
  /**
   * Confirms a certificate, or revokes it when the sender rejects it. Faults: forbidden for other requesters, conflict when the
   * transaction expects no confirmation, badProof when the hash does not match the certificate, replayed.
   */
  confirm(requester: Requester, confirmation: Confirmation): Promise<void>;
  /** Whether the requester is the registration authority that relayed the opening message, with any of its certificates. */
  isRelay(requester: Requester, transaction: Transaction): boolean;
  list(principal: Principal, query: Query<'transaction'>): Promise<Page<TransactionView>>;
  /** Faults: notFound. */
  read(principal: Principal, id: number): Promise<TransactionView>;
}

export function transactions(context: Dependencies, crls: Crls): Transactions {
  const { store, clock } = context;
  const record = async (
    requester: Requester,
    exchange: Exchange,
    answer: ResponseMessage,
    progress: Progress,
  ): Promise<void> => {
    demandOpener(requester, exchange);
    try {
      await store.commit([exchangeWrite(context, requester, exchange, answer, progress)]);
    } catch (error) {
      throw refusedExchange(error, exchange);
    }
  };
  return {
    async recall(name, message) {
      const transaction = await store.find('transaction', { name });
      const answer = transaction && answerTo(transaction, message);
      // The instance that stored it may have failed to make it durable.
      if (answer) await store.confirm?.();
      return { transaction, answer };
    },
    async chainOf({ certificate: id }) {
      const record = id === null ? undefined : await store.get('certificate', id);
      const configuration = await context.configuration.current();
      return (record && configuration.ca(record.ca)?.chain) ?? [];
    },
    async defer(requester, outcome, exchange, lasts) {
      const { follows, message } = exchange;
      // A request that was approved here may still be pending at an upstream CA.
      const until = follows && Math.max(follows.expiresAt, follows.createdAt + lasts);
      const progress = {
        state: 'pending',
        lasts: outcome.lasts ?? (until === undefined ? lasts : until - clock.now()),
        request: follows?.request ?? message,
      } as const;
      await record(requester, exchange, await exchange.answer(outcome), progress);
    },
    async refuse(requester, exchange) {
      await record(requester, exchange, await exchange.answer(), {
        state: 'rejected',
        lasts: responseRetention,
      });
    },
    confirm: (requester, confirmation) => confirm(context, crls, requester, confirmation),
    isRelay,
    async list(principal, query) {
      demand(principal, 'certificates.read');
      const page = await readsOf(context, principal).list('transaction', query);
      return { ...page, records: page.records.map(shown) };
    },
    async read(principal, id) {
      demand(principal, 'certificates.read');
      const record = await store.get('transaction', id);
      if (!record) throw new Fault('notFound', 'there is no such transaction');
      return shown(record);
    },
  };
}

function answerTo(transaction: Transaction, message: Uint8Array): Uint8Array | undefined {
  const { openingDigest, openingAnswer, latestDigest, latestAnswer } = transaction;
  const own = digest(message);
  if (latestDigest && latestAnswer && sameBytes(own, latestDigest)) return latestAnswer;
  return openingAnswer.length > 0 && sameBytes(own, openingDigest) ? openingAnswer : undefined;
}

function shown(transaction: Transaction): TransactionView {
  const {
    relay,
    replayableUntil,
    request,
    openingDigest,
    openingAnswer,
    latestDigest,
    latestAnswer,
    nonce,
    ...view
  } = transaction;
  return view;
}
