import type { KeyType } from '../algorithm.ts';
import type { KeyUsage } from '../extensions/usage.ts';
import { oid } from '../oids.ts';
import type { Common, Rule } from './draft.ts';

/** Returns the usages that keys of this type do not support. */
function unusable(key: KeyType): { readonly section: string; readonly usages: readonly KeyUsage[] } {
  if (key.startsWith('rsa-')) return rsa;
  return key.startsWith('p-') ? elliptic : signaturesOnly;
}

const rsa = { section: 'RFC 3279 §2.3.1', usages: ['keyAgreement', 'encipherOnly', 'decipherOnly'] } as const;
const elliptic = { section: 'RFC 8813 §3', usages: ['keyEncipherment', 'dataEncipherment'] } as const;
const signaturesOnly = {
  section: 'RFC 8410 §5, RFC 9881 §5',
  usages: ['keyEncipherment', 'dataEncipherment', 'keyAgreement', 'encipherOnly', 'decipherOnly'],
} as const;

/** The usages of which each purpose requires at least one (RFC 5280 §4.2.1.12). */
const usagesOfPurpose: Readonly<Record<string, readonly KeyUsage[]>> = {
  [oid.serverAuth]: ['digitalSignature', 'keyEncipherment', 'keyAgreement'],
  [oid.clientAuth]: ['digitalSignature', 'keyAgreement'],
  [oid.codeSigning]: ['digitalSignature'],
  [oid.emailProtection]: ['digitalSignature', 'nonRepudiation', 'keyEncipherment', 'keyAgreement'],
  [oid.timeStamping]: ['digitalSignature', 'nonRepudiation'],
  [oid.ocspSigning]: ['digitalSignature', 'nonRepudiation'],
};

/** Rules about basicConstraints, key usage and purposes, and about what the issuer may issue. */
export const useRules: readonly Rule<Common>[] = [
  {
    section: 'RFC 5280 §4.2.1.3',
    finding: ({ keyUsage }) => keyUsage?.length === 0 && 'keyUsage is empty',
  },
  {
    section: 'RFC 5280 §4.2.1.3',
    finding: ({ ca, keyUsage }) =>
      ca && !keyUsage?.includes('keyCertSign') && 'a CA lacks the usage keyCertSign',
  },
  {
    section: 'RFC 5280 §4.2.1.9',
    finding: ({ ca, keyUsage }) =>
      !ca && keyUsage?.includes('keyCertSign') && 'only a CA may have the usage keyCertSign',
  },
  {
    section: 'RFC 5280 §4.2.1.3',
    finding: ({ keyUsage }) =>
      (keyUsage?.includes('encipherOnly') || keyUsage?.includes('decipherOnly')) &&
      !keyUsage.includes('keyAgreement') &&
      'encipherOnly and decipherOnly require keyAgreement',
  },
  {
    section: 'RFC 5280 §4.2.1.3',
    finding: ({ keyUsage, key }) => {
      const { section, usages } = unusable(key);
      const unfit = keyUsage?.find((usage) => (usages as readonly KeyUsage[]).includes(usage));
      return unfit && `${key} keys do not support ${unfit}: ${section}`;
    },
  },
  {
    section: 'RFC 5280 §4.2.1.9',
    finding: ({ ca, basicConstraints }) =>
      !ca && basicConstraints?.pathLength !== undefined && 'only a CA may have a path length',
  },
  {
    section: 'RFC 5280 §4.2.1.12',
    finding: ({ keyUsage, purposes }) => {
      if (!keyUsage) return undefined;
      const unfit = purposes.find((one) => usagesOfPurpose[one]?.every((usage) => !keyUsage.includes(usage)));
      return unfit && `the purpose ${unfit} requires a key usage that is missing`;
    },
  },
  {
    section: 'RFC 5280 §4.2.1.12',
    finding: ({ purposes, purposesCritical }) =>
      purposesCritical &&
      purposes.includes(oid.anyExtendedKeyUsage) &&
      'a critical extKeyUsage contains anyExtendedKeyUsage',
  },
  {
    section: 'RFC 5280 §6.1.4 (k)',
    finding: ({ issuer }) => issuer && !issuer.facts.basicConstraints?.ca && 'the issuer is not a CA',
  },
  {
    section: 'RFC 5280 §6.1.4 (n)',
    finding: ({ issuer }) =>
      issuer?.facts.keyUsage &&
      !issuer.facts.keyUsage.includes('keyCertSign') &&
      "the issuer's key usage does not allow it to sign certificates",
  },
  {
    section: 'RFC 5280 §6.1.4 (l)',
    finding: ({ ca, selfIssued, issuer }) =>
      ca &&
      !selfIssued &&
      issuer?.hasRoomForCa === false &&
      'the path length of the issuer, or of a CA above it, does not allow another CA below it',
  },
  {
    // Path validation, here and in other software, applies the purposes of a CA to the certificates below it.
    section: 'RFC 5280 §4.2.1.12',
    finding: ({ purposes, issuer }) => {
      if (!issuer) return undefined;
      const beyond = purposes.find((one) => !issuer.purposes.every((allowed) => allowed.includes(one)));
      return beyond && `the issuer's extKeyUsage does not allow the purpose ${beyond}`;
    },
  },
];
