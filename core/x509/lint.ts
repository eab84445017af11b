import { Fault } from '../fault.ts';
import {
  type Certificate,
  type CertificateTemplate,
  outlineTbsCertificate,
  parseTbsCertificate,
  type TbsCertificate,
} from './certificate.ts';
import { type Draft, type Form, type Rule, readDraft, type Use } from './lint/draft.ts';
import { extensionRules, formRules } from './lint/extensions.ts';
import { fieldRules } from './lint/fields.ts';
import { nameRules } from './lint/names.ts';
import { useRules } from './lint/usage.ts';
import type { PublicKey } from './public-key.ts';

const ownRules = [...fieldRules, ...nameRules, ...extensionRules];

function broken<T>(rules: readonly Rule<T>[], of: T): readonly string[] {
  const found: string[] = [];
  for (const { section, finding } of rules) {
    const text = finding(of);
    if (text) found.push(`${text} (${section})`);
  }
  return found;
}

/** `broken` with a memory for the last: certificates of one profile and CA are alike in all that these rules look at. */
function remembered<T>(
  rules: readonly Rule<T>[],
  same: (a: T, b: T) => boolean,
): (of: T) => readonly string[] {
  let last: { readonly of: T; readonly found: readonly string[] } | undefined;
  return (of) => {
    if (!last || !same(last.of, of)) last = { of, found: broken(rules, of) };
    return last.found;
  };
}

const brokenByForm = remembered(formRules, sameForm);
const brokenByUse = remembered(useRules, sameUse);

function sameForm(a: Form, b: Form): boolean {
  if (a.ca !== b.ca || a.extensions.length !== b.extensions.length) return false;
  for (let n = 0; n < a.extensions.length; n++) {
    const [one, other] = [a.extensions[n]!, b.extensions[n]!];
    if (one.oid !== other.oid || one.critical !== other.critical) return false;
  }
  return true;
}

/** What is decoded, and the issuer, are the very same objects for as long as they are alike. */
function sameUse(a: Use, b: Use): boolean {
  return (
    a.ca === b.ca &&
    a.selfIssued === b.selfIssued &&
    a.key === b.key &&
    a.basicConstraints === b.basicConstraints &&
    a.keyUsage === b.keyUsage &&
    a.purposes === b.purposes &&
    a.purposesCritical === b.purposesCritical &&
    a.issuer === b.issuer
  );
}

/**
 * What is wrong with a certificate before it is signed: RFC 5280, and what careful CAs ask for beyond it. `tbs`: the TBSCertificate
 * in DER. `issuer`: the CA that is to sign it, undefined when it signs itself. Empty when nothing is wrong; what cannot
 * be read, and a key that is not accepted, are a finding too.
 */
export const lint = (tbs: Uint8Array, issuer: Certificate | undefined): readonly string[] =>
  findings(issuer, undefined, () => parseTbsCertificate(tbs));

/**
 * The same of a TBSCertificate that has just been built from `template`, for `key`, without reading again what went into it: each
 * name, the key and the value of each extension stand in it octet for octet.
 */
export const lintBuilt = (
  tbs: Uint8Array,
  template: CertificateTemplate,
  key: PublicKey,
  issuer: Certificate | undefined,
): readonly string[] =>
  findings(issuer, key.spki === template.spki ? key : undefined, () => outlineTbsCertificate(tbs, template));

function findings(
  issuer: Certificate | undefined,
  key: PublicKey | undefined,
  tbs: () => TbsCertificate,
): readonly string[] {
  const draft = read(issuer, key, tbs);
  if (typeof draft === 'string') return [draft];
  const own = broken(ownRules, draft);
  const byForm = brokenByForm(draft.form);
  const byUse = brokenByUse(draft.use);
  return byForm.length + byUse.length === 0 ? own : [...own, ...byForm, ...byUse];
}

function read(
  issuer: Certificate | undefined,
  key: PublicKey | undefined,
  tbs: () => TbsCertificate,
): Draft | string {
  try {
    return readDraft(tbs(), issuer, key);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return error.code === 'badAlgorithm'
      ? `${error.detail} (RFC 5280 §4.1.2.7)`
      : `it cannot be read: ${error.detail} (RFC 5280 §4.1)`;
  }
}
