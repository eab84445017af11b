import { Fault } from '../fault.ts';
import { defaultSignatureAlgorithm, type KeyType, type SignatureAlgorithm } from '../x509/algorithm.ts';
import type { Certificate } from '../x509/certificate.ts';
import { factsOf } from '../x509/facts.ts';
import type { Holder, LevelRules } from './levels.ts';

/** What of a certificate a security level has something to say about. */
export interface AssessedCertificate {
  readonly holder: Holder;
  readonly key: KeyType;
  /** Milliseconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** Its profile has no end for it; it may still end with its CA. */
  readonly endless?: boolean;
  readonly signatureAlgorithm: SignatureAlgorithm;
}

/** How a certificate falls short of a security level. */
export interface Shortcoming {
  readonly about: 'key' | 'validity' | 'signature';
  readonly detail: string;
}

const dayMs = 24 * 3_600_000;
const yearMs = 365.25 * dayMs;
/** The hour that notBefore lies back, and leap days: no calendar has just 365.25 days in each year. */
const grace = 2 * dayMs;

/** RFC 5280 §4.1.2.5: the end of what has no end. */
const noEnd = Date.UTC(9999, 11, 31, 23, 59, 59);

const nouns = { endEntity: 'an end entity', ca: 'a CA' } as const satisfies Record<Holder, string>;

/** Why a key is not enough, undefined when it is. */
export function keyShortcoming(
  { level, keys }: LevelRules,
  holder: Holder,
  key: KeyType,
): string | undefined {
  const { minimumRsaBits, kinds } = keys[holder];
  if (!key.startsWith('rsa-')) {
    if ((kinds as readonly string[]).includes(key)) return undefined;
    return `the security level ${level} does not allow keys of the kind ${key} for ${nouns[holder]}`;
  }
  if (Number(key.slice(4)) >= minimumRsaBits) return undefined;
  return `the security level ${level} demands ${minimumRsaBits} bits of an RSA key for ${nouns[holder]}, not ${key.slice(4)}`;
}

/** Why a certificate holds too long, undefined when it does not. */
export function validityShortcoming(
  { level, years, endless }: LevelRules,
  judged: Pick<AssessedCertificate, 'holder' | 'notBefore' | 'notAfter' | 'endless'>,
): string | undefined {
  const { holder, notBefore, notAfter } = judged;
  const longest = years[holder];
  if (longest === null || notAfter - notBefore <= longest * yearMs + grace) return undefined;
  if (endless && (judged.endless || notAfter === noEnd)) return undefined;
  return `the security level ${level} allows a validity of ${longest} years at most for ${nouns[holder]}`;
}

/** Why nothing may be signed like this, undefined when it may. */
export function signatureShortcoming(
  { level, bannedSignatures }: LevelRules,
  algorithm: SignatureAlgorithm,
): string | undefined {
  if (!bannedSignatures.includes(algorithm)) return undefined;
  return `the security level ${level} bans signatures by ${algorithm}`;
}

/** Everything in which a certificate falls short. */
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

/** The key is the requester's fault, the rest that of the profile or the CA. */
export const faultOf = ({ about, detail }: Shortcoming): Fault =>
  new Fault(about === 'key' ? 'badAlgorithm' : 'conflict', detail, { id: 'security_level' });

/** Why a CA may not sign at a security level: its key, how long it holds, what it signs by. Undefined when it may. */
export function caShortcoming(rules: LevelRules, certificate: Certificate): string | undefined {
  const { notBefore, notAfter } = certificate;
  const key = factsOf(certificate).key.type;
  const signatureAlgorithm = defaultSignatureAlgorithm(key);
  const found = shortcomings(rules, { holder: 'ca', key, notBefore, notAfter, signatureAlgorithm });
  return found.length > 0 ? found.map(({ detail }) => detail).join('; ') : undefined;
}
