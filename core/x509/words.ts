import { hex } from '../der/bytes.ts';
import { readDer } from '../der/reader.ts';
import { Fault } from '../fault.ts';
import { readString, stringTags } from './directory-string.ts';
import type { Extension } from './extension.ts';
import {
  decodeAuthorityKeyIdentifier,
  decodeSubjectAltName,
  decodeSubjectKeyIdentifier,
} from './extensions/identity.ts';
import { decodeAuthorityInfoAccess, decodeCrlDistributionPoints } from './extensions/locations.ts';
import { decodeNameConstraints } from './extensions/name-constraints.ts';
import { decodeCertificatePolicies } from './extensions/policies.ts';
import { decodeBasicConstraints, decodeExtendedKeyUsage, decodeKeyUsage } from './extensions/usage.ts';
import { formatGeneralName, type GeneralName } from './general-name.ts';
import { oid } from './oids.ts';

const names: ReadonlyMap<string, string> = new Map(Object.entries(oid).map(([name, value]) => [value, name]));

/** Returns the standard name of an OID, or the OID itself. */
const named = (which: string): string => names.get(which) ?? which;

const listed = (all: readonly GeneralName[]): string => all.map(formatGeneralName).join(', ');
const octets = (bytes: Uint8Array): string => hex(bytes).replace(/..(?=.)/g, '$&:');

/** Functions that describe the value of an extension in words. Each throws Fault malformed for an invalid value. */
const readers: Readonly<Record<string, (value: Uint8Array) => string>> = {
  [oid.basicConstraints](value) {
    const { ca, pathLength } = decodeBasicConstraints(value);
    if (!ca) return 'not a CA';
    return pathLength === undefined ? 'a CA' : `a CA with at most ${pathLength} CAs below it`;
  },
  [oid.keyUsage]: (value) => decodeKeyUsage(value).join(', '),
  [oid.extendedKeyUsage]: (value) => decodeExtendedKeyUsage(value).map(named).join(', '),
  [oid.subjectAltName]: (value) => listed(decodeSubjectAltName(value)),
  [oid.subjectKeyIdentifier]: (value) => octets(decodeSubjectKeyIdentifier(value)),
  [oid.authorityKeyIdentifier]: (value) =>
    octets(decodeAuthorityKeyIdentifier(value).keyIdentifier ?? new Uint8Array(0)),
  [oid.certificatePolicies]: (value) =>
    decodeCertificatePolicies(value)
      .map((policy) => [named(policy.oid), ...(policy.cps ?? [])].join(' '))
      .join(', '),
  [oid.crlDistributionPoints]: (value) => decodeCrlDistributionPoints(value).join(', '),
  [oid.authorityInfoAccess](value) {
    const { ocsp, caIssuers } = decodeAuthorityInfoAccess(value);
    return [...ocsp.map((uri) => `OCSP ${uri}`), ...caIssuers.map((uri) => `CA issuers ${uri}`)].join(', ');
  },
  [oid.nameConstraints](value) {
    const { permitted, excluded } = decodeNameConstraints(value);
    const part = (what: string, all: readonly GeneralName[]) =>
      all.length > 0 ? [`${what} ${listed(all)}`] : [];
    return [...part('permitted', permitted), ...part('excluded', excluded)].join('; ');
  },
};

/** Returns the name of an extension and its value: in words, as text, or as `#` and hexadecimal. */
export function extensionInWords({ oid: which, value }: Extension): {
  readonly name: string;
  readonly value: string;
} {
  try {
    return { name: named(which), value: (readers[which] ?? textOf)(value) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { name: named(which), value: `#${hex(value).toLowerCase()}` };
  }
}

function textOf(value: Uint8Array): string {
  const identifier = value[0] ?? 0;
  if (!stringTags.has(identifier)) throw new Fault('malformed', 'this is not text');
  return readDer(value, (reader) => readString(reader, identifier));
}
