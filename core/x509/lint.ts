import { Fault } from '../fault.ts';
import {
  type Certificate,
  type CertificateTemplate,
  outlineTbsCertificate,
  parseTbsCertificate,
} from './certificate.ts';
import { type Common, type Draft, type Rule, readDraft } from './lint/draft.ts';
import { extensionRules, formRules, identifierRules } from './lint/extensions.ts';
import { fieldRules, signerRules } from './lint/fields.ts';
import { nameRules } from './lint/names.ts';
import { useRules } from './lint/usage.ts';
import type { PublicKey } from './public-key.ts';

const ownRules: readonly Rule[] = [...fieldRules, ...nameRules, ...identifierRules];
const commonRules: readonly Rule<Common>[] = [...signerRules, ...extensionRules, ...formRules, ...useRules];

const nothing: readonly string[] = [];

function broken<T>(rules: readonly Rule<T>[], of: T): readonly string[] {
  let found = nothing;
  for (const rule of rules) {
    const text = rule.finding(of);
    if (text) found = [...found, `${text} (${rule.section})`];
  }
  return found;
}

let last: { readonly of: Common; readonly found: readonly string[] } | undefined;

/** By the rules for what certificates have in common: those of one profile and CA are judged once. */
function brokenInCommon(of: Common): readonly string[] {
  if (!last || !isAlike(last.of, of)) last = { of, found: broken(commonRules, of) };
  return last.found;
}

/** What is decoded, and the issuer, are the very same objects for as long as they are alike. */
const isAlike = (a: Common, b: Common): boolean =>
  a.ca === b.ca &&
  a.selfIssued === b.selfIssued &&
  a.key === b.key &&
  a.basicConstraints === b.basicConstraints &&
  a.keyUsage === b.keyUsage &&
  a.purposes === b.purposes &&
  a.purposesCritical === b.purposesCritical &&
  a.authorityKeyIdentifier === b.authorityKeyIdentifier &&
  a.crlDistributionPoints === b.crlDistributionPoints &&
  a.authorityInfoAccess === b.authorityInfoAccess &&
  a.issuerName === b.issuerName &&
  a.issuer === b.issuer &&
  a.signer === b.signer &&
  a.signatureAlgorithm === b.signatureAlgorithm &&
  haveSameForm(a.extensions, b.extensions);

function haveSameForm(a: Common['extensions'], b: Common['extensions']): boolean {
  if (a.length !== b.length) return false;
  for (let n = 0; n < a.length; n++) {
    if (a[n]!.oid !== b[n]!.oid || a[n]!.critical !== b[n]!.critical) return false;
  }
  return true;
}

/**
 * What is wrong with a certificate before it is signed: RFC 5280, and what careful CAs ask for beyond it. `tbs`: the TBSCertificate
 * in DER. `issuer`: the CA that is to sign it, undefined when it signs itself; `above`: those above that one, in their order. Empty
 * when nothing is wrong; what cannot be read, and a key that is not accepted, are a finding too.
 */
export function lint(
  tbs: Uint8Array,
  issuer: Certificate | undefined,
  above: readonly Certificate[] = [],
): readonly string[] {
  try {
    return findings(readDraft(parseTbsCertificate(tbs), issuer, above, undefined));
  } catch (error) {
    return [unreadable(error)];
  }
}

/**
 * The same of a TBSCertificate that has just been built from `template`, for `key`, without reading again what went into it: each
 * name, the key and the value of each extension stand in it octet for octet.
 */
export function lintBuilt(
  tbs: Uint8Array,
  template: CertificateTemplate,
  key: PublicKey,
  issuer: Certificate | undefined,
  above: readonly Certificate[] = [],
): readonly string[] {
  const known = key.spki === template.spki ? key : undefined;
  try {
    return findings(readDraft(outlineTbsCertificate(tbs, template), issuer, above, known));
  } catch (error) {
    return [unreadable(error)];
  }
}

function findings(draft: Draft): readonly string[] {
  const own = broken(ownRules, draft);
  const common = brokenInCommon(draft);
  return own.length === 0 ? common : [...own, ...common];
}

function unreadable(error: unknown): string {
  if (!(error instanceof Fault)) throw error;
  return error.code === 'badAlgorithm'
    ? `${error.detail} (RFC 5280 §4.1.2.7)`
    : `it cannot be read: ${error.detail} (RFC 5280 §4.1)`;
}
