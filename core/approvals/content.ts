import { hash } from 'node:crypto';
import type { LoadedCa } from '../configuration/configuration.ts';
import { hex } from '../der/bytes.ts';
import { Fault } from '../fault.ts';
import type { ProfileOutcome } from '../profiles/apply.ts';
import type { ProfileRequest } from '../profiles/template.ts';
import type { CertificateContent, CertificateFields, Difference } from '../records/approval.ts';
import { attributeTypeOf } from '../x509/attribute-type.ts';
import {
  basicConstraintsOf,
  extendedKeyUsageOf,
  keyUsageOf,
  subjectAltNamesOf,
} from '../x509/certificate.ts';
import type { Extension } from '../x509/extension.ts';
import { formatGeneralName } from '../x509/general-name.ts';
import { formatDistinguishedName, type Name } from '../x509/name.ts';
import { oid } from '../x509/oids.ts';

/** Extensions that are derived from the key, which is shown separately and may not exist yet. */
const ofTheKey: ReadonlySet<string> = new Set([oid.subjectKeyIdentifier]);

/**
 * Returns the SHA-256 (upper-case hex) of the contents of the certificate, except for its serial number and its key. It includes the
 * validity period: two digests are comparable only when the profile was applied for the same time.
 */
export function outcomeDigest(
  ca: Pick<LoadedCa, 'record'>,
  { subject, extensions, notBefore, notAfter }: ProfileOutcome,
): string {
  const said = extensions.filter((one) => !ofTheKey.has(one.oid));
  const members = [
    ca.record.id,
    hex(subject.der),
    said.map((one) => [one.oid, one.critical, hex(one.value)]),
    notBefore,
    notAfter,
  ];
  return hex(hash('sha256', JSON.stringify(members), 'buffer'));
}

/** Returns the description of a request and its outcome for approvers. */
export function certificateContent(
  request: ProfileRequest,
  outcome: ProfileOutcome,
  ca: Pick<LoadedCa, 'certificate'>,
): CertificateContent {
  const { notBefore, notAfter } = outcome;
  return {
    requested: certificateFields(request, request),
    outcome: {
      ...certificateFields(outcome, request),
      issuer: formatDistinguishedName(ca.certificate.subject),
      notBefore,
      notAfter,
    },
    differences: differences(request, outcome),
    explanations: outcome.explain(),
  };
}

type Named = Pick<ProfileOutcome, 'subject' | 'extensions'>;

function certificateFields(named: Named, { publicKey }: ProfileRequest): CertificateFields {
  const { type, spki } = publicKey;
  return {
    subject: formatDistinguishedName(named.subject),
    subjectAltNames: subjectAltNamesOf(named).map(formatGeneralName),
    keyType: type,
    keyFingerprint: spki.length > 0 ? hex(hash('sha256', spki, 'buffer')) : null,
    extensions: named.extensions.map((one) => ({
      oid: one.oid,
      critical: one.critical,
      value: shown(one),
    })),
  };
}

/** Formats the extensions that matter most to approvers as text; all others, and unreadable ones, in hexadecimal. */
function shown(one: Extension): string {
  const alone = { extensions: [one] };
  try {
    switch (one.oid) {
      case oid.keyUsage:
        return (keyUsageOf(alone) ?? []).join(', ');
      case oid.extendedKeyUsage:
        return (extendedKeyUsageOf(alone) ?? []).join(', ');
      case oid.subjectAltName:
        return subjectAltNamesOf(alone).map(formatGeneralName).join(', ');
      case oid.basicConstraints: {
        const { ca, pathLength } = basicConstraintsOf(alone)!;
        return ca ? `CA${pathLength === undefined ? '' : `, path length ${pathLength}`}` : 'no CA';
      }
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
  }
  return hex(one.value).toLowerCase();
}

/** Extensions that every certificate gets from its CA. Nobody requests them, so they do not count as differences. */
const ofTheCa: ReadonlySet<string> = new Set([
  oid.authorityKeyIdentifier,
  oid.crlDistributionPoints,
  oid.authorityInfoAccess,
]);

function differences(requested: Named, outcome: Named): readonly Difference[] {
  const asked = valuesOf(requested);
  const given = valuesOf(outcome);
  const found: Difference[] = [];
  for (const field of new Set([...asked.keys(), ...given.keys()])) {
    const before = asked.get(field) ?? [];
    const after = given.get(field) ?? [];
    const same = before.length === after.length && before.every((value, n) => value === after[n]);
    if (!same) found.push({ field, requested: before, outcome: after });
  }
  return found;
}

/** Values by field, with the names that profiles use. */
function valuesOf({ subject, extensions }: Named): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  const add = (field: string, value: string): void => {
    values.set(field, [...(values.get(field) ?? []), value]);
  };
  for (const { type, value } of attributesOf(subject)) add(`subject.${type}`, value);
  for (const name of subjectAltNamesOf({ extensions })) add('subjectAltName', formatGeneralName(name));
  for (const one of extensions) {
    if (one.oid === oid.subjectAltName || ofTheKey.has(one.oid) || ofTheCa.has(one.oid)) continue;
    add(`extensions.${one.oid}`, shown(one));
  }
  return values;
}

const attributesOf = ({ rdns }: Name) =>
  rdns.flat().map(({ type, value }) => ({ type: attributeTypeOf(type)?.name ?? type, value }));
