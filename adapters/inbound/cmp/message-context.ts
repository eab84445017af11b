import type { PkiBody } from '#adapters/wire/cmp/body.ts';
import type { SealedPkiMessage } from '#adapters/wire/cmp/message.ts';
import type { Gateway } from '#core/gateway.ts';
import type { Clock, Entropy, Log } from '#core/ports/platform.ts';
import type { Transaction } from '#core/records/transaction.ts';
import type { Requester } from '#core/requester/requester.ts';
import type { KeyDelivery } from './key-recipient.ts';
import type { ReplayRules } from './message-time.ts';
import type { CmpPath } from './path.ts';
import type { Sender } from './sender.ts';

export interface CmpSurroundings extends ReplayRules {
  readonly gateway: Pick<
    Gateway,
    | 'admit'
    | 'refused'
    | 'enrol'
    | 'revoke'
    | 'transactions'
    | 'information'
    | 'protection'
    | 'caCertificates'
  >;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly keyDelivery: KeyDelivery;
  readonly log: Log;
  /** How long a certificate may go without its confirmation, and a request without a decision. Milliseconds. */
  readonly confirmWithin: number;
  readonly decideWithin: number;
}

/** One message of a sender that is known, to be answered. */
export interface Dialogue extends Sender {
  readonly message: SealedPkiMessage;
  readonly path: CmpPath;
  readonly address: string;
  /** It came inside TLS. */
  readonly secure: boolean;
  /** Of the transactionID, upper-case hex. */
  readonly name: string;
  /** The transaction that this message continues; undefined when it opens one. */
  readonly transaction: Transaction | undefined;
  /** The registration authority inside whose message it came. */
  readonly relay: Requester | undefined;
}

/** The bodies that may be of this type: several types share one form. */
type BodyOf<T, B extends PkiBody = PkiBody> = B extends unknown ? (T extends B['type'] ? B : never) : never;

/** What answers one kind of body: the whole message, DER. */
export type Handler<T extends PkiBody['type']> = (
  surroundings: CmpSurroundings,
  dialogue: Dialogue,
  body: BodyOf<T>,
) => Promise<Uint8Array>;
