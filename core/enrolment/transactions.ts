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
  memory,
  type Progress,
  refusedExchange,
} from '../transactions/record.ts';
import type { WithCircuits } from '../upstream/circuits.ts';
import { type Confirmation, confirm } from './confirm.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'issuers' | 'log' | 'store'>,
    WithCircuits,
    WithConfiguration {}

/** What is known of the transaction that a message names. */
export interface RecalledTransaction {
  readonly transaction: Transaction | undefined;
  /** To this very message, when it has been answered before: as much of it as was kept. */
  readonly answer: Uint8Array | undefined;
}

/** A transaction as administrators see it: without the messages. */
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

/** What of enrolment takes several messages. */
export interface Transactions {
  /** Before anything else is done for a message. `name`: upper-case hex. Faults: unavailable. */
  recall(name: string, message: Uint8Array): Promise<RecalledTransaction>;
  /** What stands above the certificate that came of it, its issuer first, up to the root, DER. */
  chainOf(transaction: Transaction): Promise<readonly Uint8Array[]>;
  /**
   * Stores that a request is pending, with the answer that says so, for `lasts` ms unless the outcome itself says for how long.
   * Faults: replayed when another message has used the transaction.
   */
  defer(
    requester: Requester,
    outcome: Extract<EnrolmentResult, { kind: 'pending' }>,
    exchange: ExchangeWithResponse<Extract<EnrolmentResult, { kind: 'pending' }>>,
    lasts: number,
  ): Promise<void>;
  /** Ends a transaction that was pending, with the answer that says why. Faults: replayed. */
  refuse(requester: Requester, exchange: ExchangeWithResponse<void>): Promise<void>;
  /**
   * The sender says what it makes of its certificate; one that it does not accept is revoked. Faults: forbidden for anybody
   * but the one who was given it, conflict when nothing waits for it, badProof when the hash is not the certificate's, replayed.
   */
  confirm(requester: Requester, confirmation: Confirmation): Promise<void>;
  /** Whether it is the registration authority that passed the opening message on, by whichever of its certificates. */
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
      // Whoever stored it may have been told that it is in doubt.
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
      // What people here have granted may wait for an upstream CA then.
      const until = follows && Math.max(follows.expiresAt, follows.createdAt + lasts);
      const progress = {
        state: 'pending',
        lasts: outcome.lasts ?? (until === undefined ? lasts : until - clock.now()),
        request: follows?.request ?? message,
      } as const;
      await record(requester, exchange, await exchange.answer(outcome), progress);
    },
    async refuse(requester, exchange) {
      await record(requester, exchange, await exchange.answer(), { state: 'rejected', lasts: memory });
    },
    confirm: (requester, confirmation) => confirm(context, crls, requester, confirmation),
    isRelay,
    async list(principal, query) {
      demand(principal, 'certificates.read');
      const page = await readsOf(store, principal).list('transaction', query);
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
