import { Fault } from '#core/fault.ts';

/** The state of a transaction; with it, any gateway can continue the transaction. */
export interface Handle {
  /** See `CmpRequest`. */
  readonly seed: Uint8Array;
  /** The upstream's last senderNonce. */
  readonly nonce: Uint8Array;
  readonly certReqId: number;
  /** When the next message is due, in milliseconds since 1970. Absent in handles of earlier versions. */
  readonly time?: number | undefined;
  /** See `CmpRequest`. */
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

/** Parses the text made by `writeHandle`. Faults: unsupported. */
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
