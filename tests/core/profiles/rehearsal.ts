import { patterns } from '#adapters/outbound/system/patterns.ts';
import { Fault } from '#core/fault.ts';
import { compileProfile, type ProfileContext, type ProfileOutcome } from '#core/profiles/apply.ts';
import type { ProfileRules } from '#core/profiles/language.ts';
import { parseProfileRules } from '#core/profiles/parse.ts';
import { defaultSignatureAlgorithm, type KeyType } from '#core/x509/algorithm.ts';
import { subjectAltNamesOf } from '#core/x509/certificate.ts';
import type { Extension } from '#core/x509/extension.ts';
import { subjectAltNameExtension } from '#core/x509/extensions/identity.ts';
import { formatGeneralName, type GeneralName, parseGeneralName } from '#core/x509/general-name.ts';
import { formatDistinguishedName, type Name, parseDistinguishedName } from '#core/x509/name.ts';
import { type VerifiedRequest, verifyPkcs10 } from '#core/x509/request.ts';
import { assembleCertificationRequest, buildCertificationRequestInfo } from '#core/x509/request-builder.ts';
import { testCa } from '#tests/fixtures/certificates.ts';
import { testKey } from '#tests/fixtures/keys.ts';

/** The request of a client: names as text (RFC 4514 and `DNS:…`) or as values. */
export interface Wish {
  readonly subject?: string | Name;
  readonly names?: readonly (string | GeneralName)[];
  readonly extensions?: readonly Extension[];
  readonly key?: KeyType;
}

export function requestFor({
  subject = '',
  names = [],
  extensions = [],
  key = 'p-256',
}: Wish): VerifiedRequest {
  const wanted = names.map((name) => (typeof name === 'string' ? parseGeneralName(name) : name));
  const info = buildCertificationRequestInfo(
    typeof subject === 'string' ? parseDistinguishedName(subject) : subject,
    testKey(key).publicKey.spki,
    [...(wanted.length > 0 ? [subjectAltNameExtension(wanted)] : []), ...extensions],
  );
  const algorithm = defaultSignatureAlgorithm(key);
  return verifyPkcs10(assembleCertificationRequest(info, algorithm, testKey(key).sign(algorithm, info)));
}

const now = Date.UTC(2026, 4, 17, 12, 30, 15, 250);
export const issuer = testCa('p-256').certificate;

/** A device, a domain and a CA. */
export const surroundings: Omit<ProfileContext, 'request'> = {
  device: { id: 7, commonName: 'pump-1', serialNumber: 'SN-0001' },
  domain: { uniqueName: 'plant' },
  now,
  issuer,
  urls: { crl: 'http://pki.example/crl/1.crl', aia: 'http://pki.example/aia/1.cer' },
};

/** Parses rules with the check that those of an administrator pass. */
export const parse = (rules: unknown): ProfileRules =>
  parseProfileRules(JSON.parse(JSON.stringify(rules)), patterns);

export function apply(rules: unknown, wish: Wish, around: Partial<ProfileContext> = {}): ProfileOutcome {
  const profile = compileProfile(parse(rules), patterns);
  return profile.apply({ ...surroundings, request: requestFor(wish), ...around });
}

export const subjectOf = (outcome: ProfileOutcome): string => formatDistinguishedName(outcome.subject);
export const namesOf = (outcome: ProfileOutcome): string[] =>
  subjectAltNamesOf(outcome).map(formatGeneralName);

/** Returns `code: detail` of the Fault, or the outcome. */
export function refusal(attempt: () => unknown): string {
  try {
    return `no fault: ${JSON.stringify(attempt())}`;
  } catch (error) {
    if (error instanceof Fault) return `${error.code}: ${error.detail}`;
    throw error;
  }
}

/** The smallest valid profile. */
export const plain = {
  validity: { duration: 'P1Y' },
  subject: { CN: {} },
} satisfies ProfileRules;
