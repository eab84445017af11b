import { defaultSignatureAlgorithm } from '../x509/algorithm.ts';
import type { Certificate } from '../x509/certificate.ts';
import { factsOf } from '../x509/facts.ts';
import { shortcomings } from './demands.ts';
import type { LevelRules } from './levels.ts';

/** Why a CA may not sign at a security level: its key, how long it holds, what it signs by. Undefined when it may. */
export function caShortcoming(rules: LevelRules, certificate: Certificate): string | undefined {
  const { notBefore, notAfter } = certificate;
  const key = factsOf(certificate).key.type;
  const signatureAlgorithm = defaultSignatureAlgorithm(key);
  const found = shortcomings(rules, { holder: 'ca', key, notBefore, notAfter, signatureAlgorithm });
  return found.length > 0 ? found.map(({ detail }) => detail).join('; ') : undefined;
}
