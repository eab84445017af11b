import { Fault } from '../fault.ts';
import type { Certificate } from './certificate.ts';
import { type Draft, readDraft } from './lint/draft.ts';
import { extensionRules } from './lint/extensions.ts';
import { fieldRules } from './lint/fields.ts';
import { nameRules } from './lint/names.ts';
import { usageRules } from './lint/usage.ts';

const rules = [...fieldRules, ...nameRules, ...extensionRules, ...usageRules];

/**
 * What is wrong with a certificate before it is signed: RFC 5280, and what careful CAs ask for beyond it. `tbs`: the TBSCertificate
 * in DER. `issuer`: the CA that is to sign it, undefined when it signs itself. Empty when nothing is wrong; what cannot
 * be read, and a key that is not accepted, are a finding too.
 */
export function lint(tbs: Uint8Array, issuer: Certificate | undefined): readonly string[] {
  const draft = read(tbs, issuer);
  if (typeof draft === 'string') return [draft];
  const findings: string[] = [];
  for (const { section, finding } of rules) {
    const text = finding(draft);
    if (text) findings.push(`${text} (${section})`);
  }
  return findings;
}

function read(tbs: Uint8Array, issuer: Certificate | undefined): Draft | string {
  try {
    return readDraft(tbs, issuer);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return error.code === 'badAlgorithm'
      ? `${error.detail} (RFC 5280 §4.1.2.7)`
      : `it cannot be read: ${error.detail} (RFC 5280 §4.1)`;
  }
}
