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

/** What the handlers of CMP messages use, and their time limits. */
export interface CmpServices extends ReplayRules {
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
  /** The longest time until a certificate is confirmed, in milliseconds. */
  readonly confirmWithin: number;
  /** The longest time until a pending request is decided, in milliseconds. */
  readonly decideWithin: number;
}

/** One message of an authenticated sender. */
export interface MessageContext extends Sender {
  readonly message: SealedPkiMessage;
  readonly path: CmpPath;
  readonly address: string;
  /** It arrived over TLS. */
  readonly secure: boolean;
  /** The transactionID in upper-case hex. */
  readonly name: string;
  /** The transaction that this message continues; undefined when it opens one. */
  readonly transaction: Transaction | undefined;
  /** The registration authority whose nested message contained it. */
  readonly relay: Requester | undefined;
}

/** The bodies of type T: several body types share one structure. */
type BodyOf<T, B extends PkiBody = PkiBody> = B extends unknown ? (T extends B['type'] ? B : never) : never;

/** Handles one type of body. Returns the response, a complete PKIMessage (DER). */
export type Handler<T extends PkiBody['type']> = (
  services: CmpServices,
  context: MessageContext,
  body: BodyOf<T>,
) => Promise<Uint8Array>;
