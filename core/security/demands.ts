import { Fault } from '../fault.ts';
import { defaultSignatureAlgorithm, type KeyType, type SignatureAlgorithm } from '../x509/algorithm.ts';
import type { Certificate } from '../x509/certificate.ts';
import { factsOf } from '../x509/facts.ts';
import type { Holder, LevelRules } from './levels.ts';

/** The parts of a certificate that a security level restricts. */
export interface AssessedCertificate {
  readonly holder: Holder;
  readonly key: KeyType;
  /** Milliseconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** The profile sets no expiry (99991231235959Z); the certificate may still expire with its CA. */
  readonly endless?: boolean;
  readonly signatureAlgorithm: SignatureAlgorithm;
}

/** A way in which a certificate violates a security level. */
export interface Shortcoming {
  readonly about: 'key' | 'validity' | 'signature';
  readonly detail: string;
}

const dayMs = 24 * 3_600_000;
const yearMs = 365.25 * dayMs;
/**
 * A tolerance for the hour by which notBefore is set back, and for leap days: no calendar year has exactly 365.25 days.
 */
const grace = 2 * dayMs;

/** RFC 5280 §4.1.2.5: notAfter of a certificate without a well-defined expiry. */
const noEnd = Date.UTC(9999, 11, 31, 23, 59, 59);

const nouns = { endEntity: 'an end entity', ca: 'a CA' } as const satisfies Record<Holder, string>;

/** Returns why a key is too weak, or undefined. */
export function keyShortcoming(
  { level, keys }: LevelRules,
  holder: Holder,
  key: KeyType,
): string | undefined {
  const { minimumRsaBits, kinds } = keys[holder];
  if (!key.startsWith('rsa-')) {
    if ((kinds as readonly string[]).includes(key)) return undefined;
    return `the security level ${level} does not allow ${key} keys for ${nouns[holder]}`;
  }
  if (Number(key.slice(4)) >= minimumRsaBits) return undefined;
  return `the security level ${level} requires RSA keys of at least ${minimumRsaBits} bits for ${nouns[holder]}, not ${key.slice(4)}`;
}

/** Returns why a validity period is too long, or undefined. */
export function validityShortcoming(
  { level, years, endless }: LevelRules,
  judged: Pick<AssessedCertificate, 'holder' | 'notBefore' | 'notAfter' | 'endless'>,
): string | undefined {
  const { holder, notBefore, notAfter } = judged;
  const longest = years[holder];
  if (longest === null || notAfter - notBefore <= longest * yearMs + grace) return undefined;
  if (endless && (judged.endless || notAfter === noEnd)) return undefined;
  return `the security level ${level} allows a validity period of at most ${longest} years for ${nouns[holder]}`;
}

/** Returns why a signature algorithm is banned, or undefined. */
export function signatureShortcoming(
  { level, bannedSignatures }: LevelRules,
  algorithm: SignatureAlgorithm,
): string | undefined {
  if (!bannedSignatures.includes(algorithm)) return undefined;
  return `the security level ${level} does not allow the signature algorithm ${algorithm}`;
}

/** Returns every violation of a certificate. */
export function shortcomings(rules: LevelRules, judged: AssessedCertificate): readonly Shortcoming[] {
  const found: Shortcoming[] = [];
  add(found, 'key', keyShortcoming(rules, judged.holder, judged.key));
  add(found, 'validity', validityShortcoming(rules, judged));
  add(found, 'signature', signatureShortcoming(rules, judged.signatureAlgorithm));
  return found;
}

function add(to: Shortcoming[], about: Shortcoming['about'], detail: string | undefined): void {
  if (detail !== undefined) to.push({ about, detail });
}

/** A weak key is the requester's fault; the other violations belong to the profile or the CA. */
export const faultOf = ({ about, detail }: Shortcoming): Fault =>
  new Fault(about === 'key' ? 'badAlgorithm' : 'conflict', detail, { id: 'security_level' });

/** Returns why a CA may not sign at a security level (key, validity period, signature algorithm), or undefined. */
export function caShortcoming(rules: LevelRules, certificate: Certificate): string | undefined {
  const { notBefore, notAfter } = certificate;
  const key = factsOf(certificate).key.type;
  const signatureAlgorithm = defaultSignatureAlgorithm(key);
  const found = shortcomings(rules, { holder: 'ca', key, notBefore, notAfter, signatureAlgorithm });
  return found.length > 0 ? found.map(({ detail }) => detail).join('; ') : undefined;
}
