import type { Certificate } from './certificate.ts';
import { factsOf } from './facts.ts';
import { Budget } from './path/budget.ts';
import { PathBuilder } from './path/build.ts';
import { type PathFailure, Refusal, toRefusal } from './path/failure.ts';
import { type Conditions, validate } from './path/validate.ts';

export interface PathOptions extends Conditions {
  /** In any order; what does not belong to the path is passed over. */
  readonly intermediates: readonly Certificate[];
  /** What is trusted, self-signed or not: a path ends at the first that it meets. */
  readonly anchors: readonly Certificate[];
}

export type PathResult =
  | {
      readonly ok: true;
      /** Leaf first, anchor last; the leaf alone when it is an anchor itself, byte for byte. */
      readonly chain: readonly Certificate[];
      /**
       * OIDs of the certificate policies that hold all the way, in the terms of the anchor (RFC 5280 §6.1.6); that of
       * anyPolicy for all.
       */
      readonly policies: readonly string[];
    }
  | { readonly ok: false; readonly reason: PathFailure; readonly detail: string };

/**
 * Builds a path from a leaf to an anchor and validates it (RFC 5280 §6; RFC 9618 for policies). Where the text differs from
 * what `openssl verify -x509_strict` demands, the tests say so. Several paths are tried, with bounded work; when all
 * fail, the answer is about the most promising one that led to an anchor, or else about where the search came furthest.
 * Bad certificates never cause an exception, only `isRevoked` may throw its own.
 */
export function validatePath(leaf: Certificate, options: PathOptions): PathResult {
  const budget = new Budget();
  const builder = new PathBuilder(options.anchors, options.intermediates, options.time, budget);
  let failure = unreadable(leaf);
  if (failure) return refused(failure);
  try {
    for (const chain of builder.pathsFrom([leaf])) {
      try {
        return { ok: true, chain, policies: validate(chain, options, budget) };
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        failure ??= error;
      }
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refused(error);
  }
  return refused(failure ?? builder.failure!);
}

function unreadable(leaf: Certificate): Refusal | undefined {
  try {
    factsOf(leaf);
    return undefined;
  } catch (error) {
    return toRefusal(error, leaf);
  }
}

const refused = ({ reason, message }: Refusal): PathResult => ({ ok: false, reason, detail: message });
