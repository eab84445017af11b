import { Fault, toFault } from '../fault.ts';
import { hasRoom, isSelfSigned } from '../x509/ca-chain.ts';
import type { Certificate } from '../x509/certificate.ts';
import { demandUnfactored } from '../x509/factorable-rsa.ts';
import { factsOf, proven, readCertificate } from '../x509/facts.ts';
import { sameName } from '../x509/name.ts';
import { validatePath } from '../x509/path.ts';
import { readPublicKey } from '../x509/public-key.ts';

/** An external certificate with its private key, unless a key store already holds the key. DER. */
export interface KeyMaterial {
  /** PKCS#8, unencrypted. */
  readonly privateKey: Uint8Array | undefined;
  readonly certificate: Uint8Array;
  /** The certificates above it, in any order; unrelated certificates are ignored. */
  readonly chain: readonly Uint8Array[];
}

export interface CheckedMaterial {
  readonly certificate: Certificate;
  /** Its issuer first, DER. */
  readonly chain: readonly Uint8Array[];
}

/** Rejects a weak key, see `demandUnfactored`. Faults: malformed with field `certificate`. */
export async function demandStrongKey(certificate: Certificate): Promise<void> {
  try {
    await demandUnfactored(readPublicKey(certificate.spki));
  } catch (error) {
    throw new Fault('malformed', toFault(error).detail, { field: 'certificate', cause: error });
  }
}

const longestChain = 20;

/**
 * Reads the certificate and validates its path (RFC 5280 §6) at a time in milliseconds. The path of a CA has to end at
 * a root, because devices receive it. Faults: malformed with field `certificate` or `certificateChain`.
 */
export function checkMaterial(material: KeyMaterial, time: number, of: 'ca' | 'endEntity'): CheckedMaterial {
  const certificate = parsed(material.certificate, 'certificate');
  if (of === 'ca') demandCa(certificate);
  if (material.chain.length > longestChain) {
    throw new Fault('malformed', `the chain has more than ${longestChain} certificates`, {
      field: 'certificateChain',
    });
  }
  const given = material.chain.map((der) => parsed(der, 'certificateChain'));
  const all = [certificate, ...given];
  const roots = all.filter(isSelfSigned);
  if (of === 'ca' && roots.length === 0) {
    throw new Fault('malformed', 'the chain is incomplete: add the certificates up to a self-signed root', {
      field: 'certificateChain',
    });
  }
  // Without a root, the path ends at the topmost certificate.
  const anchors = roots.length > 0 ? roots : all.filter((one) => !all.some((other) => isAbove(other, one)));
  const path = validatePath(certificate, { time, anchors, intermediates: given });
  if (!path.ok) {
    const own = path.reason === 'expired' || path.reason === 'notYetValid' || given.length === 0;
    throw new Fault('malformed', path.detail, { field: own ? 'certificate' : 'certificateChain' });
  }
  if (of === 'ca' && !hasRoom(path.chain)) {
    throw new Fault('malformed', 'pathLenConstraint of a CA in the chain allows no further CA below it', {
      field: 'certificateChain',
    });
  }
  return { certificate, chain: path.chain.slice(1).map(({ der }) => der) };
}

function parsed(der: Uint8Array, field: string): Certificate {
  return proven(field, () => {
    const certificate = readCertificate(der);
    // Decodes everything that is used later, so that an unreadable extension is found now.
    factsOf(certificate);
    return certificate;
  });
}

/** RFC 5280 §4.2.1.9 and §4.2.1.3. */
function demandCa(certificate: Certificate): void {
  const refuse = (detail: string) => new Fault('malformed', detail, { field: 'certificate' });
  const { basicConstraints, keyUsage: usages } = factsOf(certificate);
  if (!basicConstraints?.ca) throw refuse('this is not a CA certificate');
  if (usages && !usages.includes('keyCertSign')) throw refuse('its key may not sign certificates');
  // Every issued certificate refers to a CRL.
  if (usages && !usages.includes('cRLSign')) throw refuse('its key may not sign CRLs');
}

const isAbove = (one: Certificate, other: Certificate): boolean =>
  one !== other && sameName(one.subject, other.issuer);
