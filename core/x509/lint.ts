import { Fault } from '../fault.ts';
import {
  type Certificate,
  type CertificateTemplate,
  outlineTbsCertificate,
  parseTbsCertificate,
  type TbsCertificate,
} from './certificate.ts';
import { type Draft, readDraft } from './lint/draft.ts';
import { extensionRules } from './lint/extensions.ts';
import { fieldRules } from './lint/fields.ts';
import { nameRules } from './lint/names.ts';
import { usageRules } from './lint/usage.ts';
import type { PublicKey } from './public-key.ts';

const rules = [...fieldRules, ...nameRules, ...extensionRules, ...usageRules];

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
  const found: string[] = [];
  for (const { section, finding } of rules) {
    const text = finding(draft);
    if (text) found.push(`${text} (${section})`);
  }
  return found;
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
