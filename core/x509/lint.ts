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

/** Applies the rules about the common parts. Certificates of one profile and CA are checked once. */
function brokenInCommon(of: Common): readonly string[] {
  if (!last || !isAlike(last.of, of)) last = { of, found: broken(commonRules, of) };
  return last.found;
}

/** Compares by identity: equal parts are the same objects, because decoded values and issuers are cached. */
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
 * Returns the violations of RFC 5280, and of further rules that careful CAs follow, in a certificate before it is
 * signed. `tbs`: the TBSCertificate (DER). `issuer`: the CA that will sign it; undefined for a self-signed certificate.
 * `above`: the CAs above the issuer, in order. A certificate that cannot be read and a key that is not accepted are
 * findings too.
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
 * Like `lint`, for a TBSCertificate that was just built from `template` for `key`. It does not decode the names, the
 * key and the extensions again, because `tbs` contains them octet for octet.
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
