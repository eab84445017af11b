import type { DerBuilder } from '#core/der/builder.ts';
import type { DerReader } from '#core/der/reader.ts';
import { contextConstructed, tag } from '#core/der/tag.ts';
import { readEncoded, readExplicit } from './sequence-of.ts';

/** Challenge (RFC 9810 §5.2.8.3.3). */
export interface Challenge {
  /** AlgorithmIdentifier (DER); absent: the same as in the previous challenge. */
  readonly owf?: Uint8Array | undefined;
  readonly witness: Uint8Array;
  readonly challenge: Uint8Array;
  /** EnvelopedData in DER. */
  readonly encryptedRand?: Uint8Array | undefined;
}

/** Consumes a Challenge. Faults: malformed. */
export function readChallenge(reader: DerReader): Challenge {
  const sequence = reader.sequence();
  const owf = sequence.peek() === tag.sequence ? readEncoded(sequence) : undefined;
  const witness = sequence.octetString();
  const challenge = sequence.octetString();
  const encryptedRand = readExplicit(sequence, contextConstructed(0), readEncoded);
  sequence.finish();
  return { owf, witness, challenge, encryptedRand };
}

export function addChallenge(builder: DerBuilder, challenge: Challenge): void {
  builder.sequence((s) => {
    if (challenge.owf) s.raw(challenge.owf);
    s.octetString(challenge.witness).octetString(challenge.challenge);
    if (challenge.encryptedRand) s.explicit(0, challenge.encryptedRand);
  });
}
