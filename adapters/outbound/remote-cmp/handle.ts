import { Fault } from '#core/fault.ts';

/** All that it takes to go on with a transaction, at whichever gateway. */
export interface Handle {
  /** See `Letter`. */
  readonly seed: Uint8Array;
  /** The upstream's last senderNonce. */
  readonly nonce: Uint8Array;
  readonly certReqId: number;
  /** When the next message is due, in milliseconds since 1970; earlier versions did not say. */
  readonly time?: number | undefined;
  /** See `Letter`. */
  readonly transactionID?: Uint8Array | undefined;
}

export const writeHandle = ({ seed, nonce, certReqId, time, transactionID }: Handle): string =>
  JSON.stringify({
    seed: seed.toHex(),
    nonce: nonce.toHex(),
    certReqId,
    time,
    transactionID: transactionID?.toHex(),
  });

/** What `writeHandle` wrote. */
export function readHandle(text: string): Handle {
  try {
    const { seed, nonce, certReqId, time, transactionID } = JSON.parse(text);
    if (!Number.isInteger(certReqId)) throw new Error('no certReqId');
    return {
      seed: Uint8Array.fromHex(seed),
      nonce: Uint8Array.fromHex(nonce),
      certReqId,
      time: Number.isSafeInteger(time) ? time : undefined,
      transactionID: transactionID === undefined ? undefined : Uint8Array.fromHex(transactionID),
    };
  } catch (cause) {
    throw new Fault('unsupported', 'the pending request was started with another protocol or version', {
      cause,
    });
  }
}
