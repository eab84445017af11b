import { sameBytes } from '../../der/bytes.ts';
import { hasExpired } from '../../der/time.ts';
import { Fault } from '../../fault.ts';
import type { SignatureAlgorithm } from '../algorithm.ts';
import { authorityKeyIdentifierOf, type Certificate, subjectKeyIdentifierOf } from '../certificate.ts';
import { factsOf } from '../facts.ts';
import type { Name } from '../name.ts';
import { type PublicKey, verifySignature } from '../public-key.ts';
import { type Budget, cost, longestPath } from './budget.ts';
import { describe, Refusal, toRefusal } from './failure.ts';
import { foldName } from './folded-name.ts';

interface Candidate {
  readonly issuer: Certificate;
  /** Whether its key identifier is the one that the certificate below names; undefined if either is absent. */
  readonly keyMatches: boolean | undefined;
  /** Candidates with a lower rank are tried first. */
  readonly rank: number;
}

/**
 * Finds the paths from a leaf to the anchors, the most promising first. In a path, names chain, signatures are valid,
 * and no subject key occurs twice. Therefore the search also ends for loops, cross-certificates and repeated
 * certificates.
 */
export class PathBuilder {
  readonly #anchors: Pool;
  readonly #intermediates: Pool;
  readonly #time: number;
  readonly #budget: Budget;
  /** Results of signature checks by certificate and issuer key. */
  readonly #checked = new Map<Certificate, Map<string, boolean>>();
  readonly #keys = new Map<Certificate, PublicKey | Refusal>();
  #failure: Refusal | undefined;
  #failureLength = 0;

  constructor(
    anchors: readonly Certificate[],
    intermediates: readonly Certificate[],
    time: number,
    budget: Budget,
  ) {
    this.#anchors = new Pool(anchors);
    this.#intermediates = new Pool(distinct(intermediates));
    this.#time = time;
    this.#budget = budget;
  }

  /** The reason why the longest path did not reach an anchor. */
  get failure(): Refusal | undefined {
    return this.#failure;
  }

  /** Yields the continuations of a path (leaf first) to each anchor. Throws a Refusal when the budget is used up. */
  *pathsFrom(path: readonly Certificate[]): Generator<readonly Certificate[]> {
    const last = path[path.length - 1]!;
    if (this.#anchors.has(last)) {
      // A path through an anchor to another anchor cannot be valid if this one is not.
      yield path;
      return;
    }
    const candidates = this.#candidates(path, last);
    if (candidates.length === 0) this.#note(path, unknownIssuer(last));
    for (const candidate of candidates) {
      this.#budget.steps(cost.candidate);
      const refusal = this.#refuse(path, last, candidate);
      if (refusal) this.#note(path, refusal);
      else yield* this.pathsFrom([...path, candidate.issuer]);
    }
  }

  #note(path: readonly Certificate[], refusal: Refusal): void {
    if (path.length <= this.#failureLength) return;
    this.#failure = refusal;
    this.#failureLength = path.length;
  }

  #candidates(path: readonly Certificate[], certificate: Certificate): readonly Candidate[] {
    const identifier = hint(() => authorityKeyIdentifierOf(certificate)?.keyIdentifier);
    const candidate = (issuer: Certificate, inPool: number): Candidate => {
      const own = identifier && hint(() => subjectKeyIdentifierOf(issuer));
      const keyMatches = own && sameBytes(own, identifier);
      const keyRank = keyMatches === undefined ? 1 : keyMatches ? 0 : 2;
      const valid = issuer.notBefore <= this.#time && !hasExpired(issuer.notAfter, this.#time);
      return { issuer, keyMatches, rank: 4 * keyRank + (valid ? 0 : 2) + inPool };
    };
    const anchors = this.#anchors.withSubject(certificate.issuer);
    const intermediates = this.#intermediates.withSubject(certificate.issuer);
    this.#budget.steps(anchors.length + intermediates.length);
    return [
      ...anchors.map((issuer) => candidate(issuer, 0)),
      ...intermediates.map((issuer) => candidate(issuer, 1)),
    ]
      .filter(({ issuer }) => !path.some((other) => isSameEntity(issuer, other)))
      .sort((a, b) => a.rank - b.rank);
  }

  /** Returns why the candidate did not issue the certificate; undefined if it did. */
  #refuse(
    path: readonly Certificate[],
    certificate: Certificate,
    { issuer, keyMatches }: Candidate,
  ): Refusal | undefined {
    const { signatureAlgorithm } = certificate;
    if (path.length >= longestPath) {
      return new Refusal('tooMuchWork', `a path of more than ${longestPath} certificates`);
    }
    if (!signatureAlgorithm) {
      return new Refusal(
        'weakAlgorithm',
        `${describe(certificate)} is signed with a weak or unknown algorithm`,
      );
    }
    const key = this.#keyOf(issuer);
    if (key instanceof Refusal) return key;
    if (this.#verify(certificate, signatureAlgorithm, key)) return undefined;
    // RFC 5280 §4.2.1.1: key identifiers only help to choose; the signature decides.
    return keyMatches === false
      ? unknownIssuer(certificate)
      : new Refusal('badSignature', `${describe(certificate)} is not signed by ${describe(issuer)}`);
  }

  /** Returns the key of a certificate that can be decoded completely. Failures are cached too. */
  #keyOf(certificate: Certificate): PublicKey | Refusal {
    let key = this.#keys.get(certificate);
    if (!key) {
      try {
        key = factsOf(certificate).key;
      } catch (error) {
        key = toRefusal(error, certificate);
      }
      this.#keys.set(certificate, key);
    }
    return key;
  }

  #verify(certificate: Certificate, algorithm: SignatureAlgorithm, key: PublicKey): boolean {
    const checked = this.#checked.get(certificate) ?? new Map<string, boolean>();
    this.#checked.set(certificate, checked);
    const issuerKey = Buffer.from(key.spki).toString('latin1');
    let holds = checked.get(issuerKey);
    if (holds === undefined) {
      this.#budget.signatureCheck();
      holds = verifySignature(key, algorithm, certificate.tbs, certificate.signature);
      checked.set(issuerKey, holds);
    }
    return holds;
  }
}

/** Certificates by subject. */
class Pool {
  readonly #bySubject: ReadonlyMap<string, readonly Certificate[]>;

  constructor(certificates: readonly Certificate[]) {
    this.#bySubject = Map.groupBy(certificates, (certificate) => foldName(certificate.subject));
  }

  withSubject(name: Name): readonly Certificate[] {
    return this.#bySubject.get(foldName(name)) ?? [];
  }

  /** Compares bytes. */
  has(certificate: Certificate): boolean {
    return this.withSubject(certificate.subject).some((other) => sameBytes(other.der, certificate.der));
  }
}

/** Removes duplicates, because a peer may send a certificate any number of times. */
function distinct(certificates: readonly Certificate[]): readonly Certificate[] {
  const byDer = new Map<string, Certificate>();
  for (const one of certificates) {
    const text = Buffer.from(one.der).toString('latin1');
    if (!byDer.has(text)) byDer.set(text, one);
  }
  return [...byDer.values()];
}

const isSameEntity = (a: Certificate, b: Certificate): boolean =>
  sameBytes(a.spki, b.spki) && foldName(a.subject) === foldName(b.subject);

const unknownIssuer = (certificate: Certificate): Refusal =>
  new Refusal('unknownIssuer', `no known certificate is the issuer of ${describe(certificate)}`);

/** Returns undefined if `read` fails: hints are optional. */
function hint<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}
