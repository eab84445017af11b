import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import { compileProfile } from '../profiles/apply.ts';
import { parseProfileRules } from '../profiles/parse.ts';
import type { CertificateProfile, DevidRegistration, Domain } from '../records/domain.ts';
import type { IssuingCa } from '../records/issuing-ca.ts';
import type { Webhook } from '../records/webhook.ts';
import { guardedKey } from '../signing/guarded-key.ts';
import { absentIssuer, localIssuer } from '../signing/issuers.ts';
import { defaultSignatureAlgorithm } from '../x509/algorithm.ts';
import { basicConstraintsOf, subjectKeyIdentifierOf } from '../x509/certificate.ts';
import { readCertificate } from '../x509/facts.ts';
import { readPublicKey } from '../x509/public-key.ts';
import type { LoadedCa, LoadedProfile, LoadedRegistration } from './configuration.ts';
import { isListOfText } from './policy-rule.ts';

/**
 * Loads each kind of record into the configuration. Code that stores a record calls the same function before it
 * commits, so that every stored record can be loaded. Faults of all functions: those of parsing and compiling; a
 * damaged record may cause any error.
 */

export function loadProfile(
  { patterns }: Pick<Ports, 'patterns'>,
  record: CertificateProfile,
): LoadedProfile {
  const rules = parseProfileRules(record.profile, patterns);
  return { record, rules, compiled: compileProfile(rules, patterns) };
}

/** Reads the CA certificate and those above it. `signs`: the key is ours, so its type must be supported. */
export function readCa(
  { certificate: der, chain }: Pick<IssuingCa, 'certificate' | 'chain'>,
  signs: boolean,
): Pick<LoadedCa, 'certificate' | 'above'> {
  const certificate = readCertificate(der);
  basicConstraintsOf(certificate);
  subjectKeyIdentifierOf(certificate);
  if (signs) defaultSignatureAlgorithm(readPublicKey(certificate.spki).type);
  return { certificate, above: chain.map(readCertificate) };
}

export function loadCa(
  ports: Pick<Ports, 'keyStores' | 'ownKeyStores' | 'clock' | 'issuers'>,
  record: IssuingCa,
): LoadedCa {
  const { key, issuer: upstream } = record;
  const chain = [record.certificate, ...record.chain];
  const read = readCa(record, key !== null);
  const issuer = key
    ? localIssuer(guardedKey(ports, key, readPublicKey(read.certificate.spki)), chain)
    : (ports.issuers.get(upstream ?? '') ?? absentIssuer(upstream ?? ''));
  return { record, ...read, chain, issuer };
}

export const loadRegistration = (
  { patterns }: Pick<Ports, 'patterns'>,
  record: DevidRegistration,
): LoadedRegistration => ({ record, matches: patterns.compile(record.serialNumberPattern) });

export function loadDomain(record: Domain): Domain {
  if (
    !Array.isArray(record.profiles) ||
    !record.profiles.every((offered) => Number.isInteger(offered?.profile))
  )
    throw new Fault('malformed', 'the list of its profiles is damaged');
  return record;
}

export function loadWebhook(record: Webhook): Webhook {
  if (!isListOfText(record.events)) throw new Fault('malformed', 'the list of its events is damaged');
  return record;
}
