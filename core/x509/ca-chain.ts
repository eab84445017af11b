import { sameBytes } from '../der/bytes.ts';
import { hasExpired } from '../der/time.ts';
import { Fault } from '../fault.ts';
import { authorityKeyIdentifierOf, type Certificate, subjectKeyIdentifierOf } from './certificate.ts';
import { factsOf } from './facts.ts';
import { sameName } from './name.ts';
import { validatePath } from './path.ts';
import { readPublicKey, verifySignature } from './public-key.ts';

/** Signature checks that tell which of the certificates issued which: each takes up to a millisecond of the event loop. */
const mostChecks = 200;
const tooMany = `the CA certificates take more than ${mostChecks} signature checks to put in order: too many of them have the same name`;

/**
 * From a CA's certificates in any order, as `cacerts` of EST (RFC 7030 §4.1.3) and `caCerts` of CMP give them, links between old and
 * new roots among them: the issuing CA's and those above it, up to the root. The issuing CA is one that has certified no other
 * CA there; of several the newest of the first one's name. Undefined when none of them leads to a self-signed one. Faults: malformed
 * when that takes too many signature checks: of certificates that share few names, each may have issued each.
 */
export function orderCaChain(
  certificates: readonly Certificate[],
  time: number,
): readonly Certificate[] | undefined {
  const cas = certificates.filter((one) => !hasExpired(one.notAfter, time) && isCa(one));
  const roots = cas.filter(isSelfSigned);
  let checks = 0;
  const issuing = cas.filter(
    (one) =>
      !cas.some((other) => {
        if (!mayBeAbove(one, other)) return false;
        if (++checks > mostChecks) throw new Fault('malformed', tooMany);
        return hasSigned(one, other);
      }),
  );
  const [first] = issuing;
  if (!first) return undefined;
  const named = issuing.filter((one) => sameName(one.subject, first.subject));
  for (const leaf of named.toSorted((a, b) => b.notBefore - a.notBefore)) {
    const path = validatePath(leaf, { time, intermediates: cas, anchors: roots });
    if (path.ok) return path.chain;
  }
  return undefined;
}

/**
 * Whether the path lengths in a chain let its lowest CA, which stands first, issue anything (RFC 5280 §6.1.4 (l)); with `more`: a CA
 * that many below it. Faults: those of `factsOf`.
 */
export function hasRoom(chain: readonly Certificate[], more = 0): boolean {
  let below = more;
  for (const ca of chain) {
    const { basicConstraints, selfIssued } = factsOf(ca);
    if (below > (basicConstraints?.pathLength ?? below)) return false;
    if (!selfIssued) below++;
  }
  return true;
}

function isCa(certificate: Certificate): boolean {
  try {
    return factsOf(certificate).basicConstraints?.ca === true;
  } catch {
    return false;
  }
}

/**
 * Whether it is a root's own certificate. Where old roots have signed themselves by an algorithm that is not accepted, what they say
 * is enough, as nobody goes by a root's signature (RFC 5280 §6.1). Faults: malformed; those of `readPublicKey`.
 */
export function isSelfSigned(certificate: Certificate): boolean {
  if (!sameName(certificate.subject, certificate.issuer)) return false;
  if (certificate.signatureAlgorithm) return hasSigned(certificate, certificate);
  const issuers = authorityKeyIdentifierOf(certificate)?.keyIdentifier;
  const own = subjectKeyIdentifierOf(certificate);
  return !issuers || !own || sameBytes(issuers, own);
}

/** Links between two certificates of one CA (RFC 4210 §4.4) do not put it above itself. */
const mayBeAbove = (one: Certificate, other: Certificate): boolean =>
  sameName(one.subject, other.issuer) && !sameName(other.subject, other.issuer);

function hasSigned(issuer: Certificate, { signatureAlgorithm, tbs, signature }: Certificate): boolean {
  return (
    signatureAlgorithm !== undefined &&
    verifySignature(readPublicKey(issuer.spki), signatureAlgorithm, tbs, signature)
  );
}
