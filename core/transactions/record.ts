import { hash } from 'node:crypto';
import { sameBytes } from '../der/bytes.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Handle, Write } from '../ports/store.ts';
import type { Transaction, TransactionState } from '../records/transaction.ts';
import { requesterKey } from '../requester/request-identity.ts';
import type { Requester } from '../requester/requester.ts';
import type { Exchange, ResponseMessage } from './exchange.ts';

/**
 * The minimum time for which a finished transaction is kept, so that a repeated message gets the stored response. In
 * milliseconds.
 */
export const responseRetention = 24 * 3_600_000;

export const digest = (message: Uint8Array): Uint8Array => hash('sha256', message, 'buffer');

/** Whether the transaction was opened with an IDevID, so that its certificate onboards a device. */
export const isOnboarding = ({ requester }: Pick<Transaction, 'requester'>): boolean =>
  requester.startsWith('idevid ');

/** Faults: forbidden for a requester that neither opened the transaction nor relayed its opening message. */
export function demandOpener(requester: Requester, { follows }: Exchange): void {
  if (follows && follows.requester !== requesterKey(requester) && !isRelay(requester, follows)) {
    throw new Fault('forbidden', 'another requester opened this transaction');
  }
}

/** See `Transactions.isRelay`. */
export const isRelay = ({ credential, device }: Requester, { relay }: Pick<Transaction, 'relay'>): boolean =>
  relay !== null && credential === 'registrationAuthority' && device?.id === relay;

/** The state of a transaction after an exchange. */
export interface Progress {
  readonly state: TransactionState;
  /** From now, in milliseconds. */
  readonly lasts: number;
  readonly certificate?: number | Handle | null;
  /** The opening message, if it has to be read again later. */
  readonly request?: Uint8Array;
}

/** Records an exchange: opens or continues its transaction. The write is guarded, so that one of two concurrent messages wins. */
export function exchangeWrite(
  { clock }: Pick<Ports, 'clock'>,
  requester: Requester,
  exchange: Exchange,
  answer: ResponseMessage,
  { state, lasts, certificate = null, request }: Progress,
): Write {
  const now = clock.now();
  const { name, operation, certReqId, message, replayableUntil = now, follows, relay } = exchange;
  const kept = answer.kept ?? answer.message;
  const common = {
    state,
    expiresAt: now + lasts,
    nonce: answer.nonce,
    request: request ?? null,
    certificate,
  };
  if (follows) {
    const latest = { latestDigest: digest(message), latestAnswer: kept };
    const where = { state: follows.state, nonce: follows.nonce };
    return { op: 'update', kind: 'transaction', id: follows.id, where, set: { ...common, ...latest } };
  }
  return {
    op: 'insert',
    kind: 'transaction',
    values: {
      ...common,
      createdAt: now,
      name,
      operation,
      requester: requesterKey(requester),
      relay: relay?.device?.id ?? null,
      device: requester.device?.id ?? null,
      domain: requester.domain.id,
      profile: requester.target.profile ?? null,
      certReqId,
      replayableUntil: replayableUntil > now + responseRetention ? replayableUntil : null,
      openingDigest: digest(message),
      openingAnswer: kept,
      latestDigest: null,
      latestAnswer: null,
    },
  };
}

/** Whether no other message has opened or continued the transaction in the meantime. */
export async function isNext(
  { store }: Pick<Ports, 'store'>,
  exchange: Exchange | undefined,
): Promise<boolean> {
  if (!exchange) return true;
  const { name, follows } = exchange;
  const latest = await store.find('transaction', { name });
  return follows ? latest !== undefined && sameBytes(latest.nonce, follows.nonce) : latest === undefined;
}

/** Returns `replayed` for a failed commit when another message opened or continued the transaction in the meantime. */
export function refusedExchange(error: unknown, { follows }: Exchange): unknown {
  if (!(error instanceof Fault) || error.code !== 'conflict') return error;
  if (error.field !== 'name' && !follows) return error;
  return new Fault('replayed', 'another message has already used this transaction', { cause: error });
}
