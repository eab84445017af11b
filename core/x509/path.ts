import type { Certificate } from './certificate.ts';
import { factsOf } from './facts.ts';
import { Budget } from './path/budget.ts';
import { PathBuilder } from './path/build.ts';
import { type PathFailure, Refusal, toRefusal } from './path/failure.ts';
import { type Conditions, validate } from './path/validate.ts';

export interface PathOptions extends Conditions {
  /** In any order. Certificates that do not belong to the path are ignored. */
  readonly intermediates: readonly Certificate[];
  /** Trusted certificates, self-signed or not. A path ends at the first of them. */
  readonly anchors: readonly Certificate[];
}

export type PathResult =
  | {
      readonly ok: true;
      /** Leaf first, anchor last. Only the leaf if it is itself an anchor, byte for byte. */
      readonly chain: readonly Certificate[];
      /**
       * OIDs of the certificate policies that are valid for the whole path, in the domain of the anchor (RFC 5280
       * §6.1.6). The OID of anyPolicy means all.
       */
      readonly policies: readonly string[];
    }
  | { readonly ok: false; readonly reason: PathFailure; readonly detail: string };

/**
 * Builds a path from a leaf to an anchor and validates it (RFC 5280 §6; RFC 9618 for policies). The tests note where
 * the RFC differs from `openssl verify -x509_strict`. Several paths are tried with bounded work. If all fail, the
 * result describes the most promising path to an anchor or, without one, the longest path. Invalid certificates never
 * cause an exception; only `isRevoked` may throw.
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
