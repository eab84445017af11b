import { sameBytes } from '../der/bytes.ts';
import { hasExpired } from '../der/time.ts';
import { Fault } from '../fault.ts';
import { authorityKeyIdentifierOf, type Certificate, subjectKeyIdentifierOf } from './certificate.ts';
import { factsOf } from './facts.ts';
import { sameName } from './name.ts';
import { validatePath } from './path.ts';
import { readPublicKey, verifySignature } from './public-key.ts';

/** The most signature checks for ordering a chain. Each blocks the event loop for up to a millisecond. */
const mostChecks = 200;
/** The most issuing CAs of one name from which a path is built. */
const mostTried = 8;
const tooMany = `ordering the CA certificates requires more than ${mostChecks} signature checks: there are too many of them, or too many have the same name`;

/**
 * Returns the chain from the issuing CA up to the root. `certificates`: those of a CA in any order, as EST `cacerts`
 * (RFC 7030 §4.1.3) and CMP `caCerts` deliver them, including links between old and new roots. The issuing CA is one
 * that has not certified any other CA in the list; if there are several, the newest with the name of the first that leads to
 * a root, of the newest eight. Returns
 * undefined if none leads to a self-signed certificate. Faults: malformed if the order requires too many signature
 * checks, because many certificates share few names.
 */
export function orderCaChain(
  certificates: readonly Certificate[],
  time: number,
): readonly Certificate[] | undefined {
  const cas = certificates.filter((one) => !hasExpired(one.notAfter, time) && isCa(one));
  let checks = 0;
  const count = (): void => {
    if (++checks > mostChecks) throw new Fault('malformed', tooMany);
  };
  const roots = cas.filter((one) => {
    if (!sameName(one.subject, one.issuer)) return false;
    count();
    return isSelfSigned(one);
  });
  const issuing = cas.filter(
    (one) =>
      !cas.some((other) => {
        if (!mayBeAbove(one, other)) return false;
        count();
        return hasSigned(one, other);
      }),
  );
  const [first] = issuing;
  if (!first) return undefined;
  const named = issuing.filter((one) => sameName(one.subject, first.subject));
  for (const leaf of named.toSorted((a, b) => b.notBefore - a.notBefore).slice(0, mostTried)) {
    const path = validatePath(leaf, { time, intermediates: cas, anchors: roots });
    if (path.ok) return path.chain;
  }
  return undefined;
}

/**
 * Returns whether the path lengths in a chain allow its first and lowest CA to issue certificates (RFC 5280 §6.1.4
 * (l)). With `more`, whether they allow it to a CA that many levels below. Faults: those of `factsOf`.
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
 * Returns whether a certificate is the self-signed certificate of a root. If an old root signed itself with an
 * algorithm that is not accepted, equal names are enough, because path validation does not use a root's signature (RFC
 * 5280 §6.1). Faults: malformed; those of `readPublicKey`.
 */
export function isSelfSigned(certificate: Certificate): boolean {
  if (!sameName(certificate.subject, certificate.issuer)) return false;
  if (certificate.signatureAlgorithm) return hasSigned(certificate, certificate);
  const issuers = authorityKeyIdentifierOf(certificate)?.keyIdentifier;
  const own = subjectKeyIdentifierOf(certificate);
  return !issuers || !own || sameBytes(issuers, own);
}

/** Link certificates (RFC 4210 §4.4) have the same subject and issuer and do not put a CA above itself. */
const mayBeAbove = (one: Certificate, other: Certificate): boolean =>
  sameName(one.subject, other.issuer) && !sameName(other.subject, other.issuer);

function hasSigned(issuer: Certificate, { signatureAlgorithm, tbs, signature }: Certificate): boolean {
  return (
    signatureAlgorithm !== undefined &&
    verifySignature(readPublicKey(issuer.spki), signatureAlgorithm, tbs, signature)
  );
}
