import type { KeyType } from '../algorithm.ts';
import type { KeyUsage } from '../extensions/usage.ts';
import { oid } from '../oids.ts';
import type { Common, Rule } from './draft.ts';

/** What no key of the kind can do. */
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

/** RFC 5280 §4.2.1.12: of which usages a purpose needs one. */
const usagesOfPurpose: Readonly<Record<string, readonly KeyUsage[]>> = {
  [oid.serverAuth]: ['digitalSignature', 'keyEncipherment', 'keyAgreement'],
  [oid.clientAuth]: ['digitalSignature', 'keyAgreement'],
  [oid.codeSigning]: ['digitalSignature'],
  [oid.emailProtection]: ['digitalSignature', 'nonRepudiation', 'keyEncipherment', 'keyAgreement'],
  [oid.timeStamping]: ['digitalSignature', 'nonRepudiation'],
  [oid.ocspSigning]: ['digitalSignature', 'nonRepudiation'],
};

/** What the certificate is for: CA or not, path length, key usage, purposes; and whether its issuer may issue it. */
export const useRules: readonly Rule<Common>[] = [
  {
    section: 'RFC 5280 §4.2.1.3',
    finding: ({ keyUsage }) => keyUsage?.length === 0 && 'keyUsage names no usage',
  },
  {
    section: 'RFC 5280 §4.2.1.3',
    finding: ({ ca, keyUsage }) =>
      ca && !keyUsage?.includes('keyCertSign') && 'a CA lacks the usage keyCertSign',
  },
  {
    section: 'RFC 5280 §4.2.1.9',
    finding: ({ ca, keyUsage }) =>
      !ca && keyUsage?.includes('keyCertSign') && 'the usage keyCertSign belongs to CAs',
  },
  {
    section: 'RFC 5280 §4.2.1.3',
    finding: ({ keyUsage }) =>
      (keyUsage?.includes('encipherOnly') || keyUsage?.includes('decipherOnly')) &&
      !keyUsage.includes('keyAgreement') &&
      'encipherOnly and decipherOnly mean nothing without keyAgreement',
  },
  {
    section: 'RFC 5280 §4.2.1.3',
    finding: ({ keyUsage, key }) => {
      const { section, usages } = unusable(key);
      const unfit = keyUsage?.find((usage) => (usages as readonly KeyUsage[]).includes(usage));
      return unfit && `${key} keys do not serve for ${unfit}: ${section}`;
    },
  },
  {
    section: 'RFC 5280 §4.2.1.9',
    finding: ({ ca, basicConstraints }) =>
      !ca && basicConstraints?.pathLength !== undefined && 'a path length belongs to CAs',
  },
  {
    section: 'RFC 5280 §4.2.1.12',
    finding: ({ keyUsage, purposes }) => {
      if (!keyUsage) return undefined;
      const unfit = purposes.find((one) => usagesOfPurpose[one]?.every((usage) => !keyUsage.includes(usage)));
      return unfit && `no key usage goes with the purpose ${unfit}`;
    },
  },
  {
    section: 'RFC 5280 §4.2.1.12',
    finding: ({ purposes, purposesCritical }) =>
      purposesCritical &&
      purposes.includes(oid.anyExtendedKeyUsage) &&
      'anyExtendedKeyUsage in a critical extension',
  },
  {
    section: 'RFC 5280 §6.1.4 (k)',
    finding: ({ issuer }) => issuer && !issuer.facts.basicConstraints?.ca && 'the issuer is no CA',
  },
  {
    section: 'RFC 5280 §6.1.4 (n)',
    finding: ({ issuer }) =>
      issuer?.facts.keyUsage &&
      !issuer.facts.keyUsage.includes('keyCertSign') &&
      'the key of the issuer may not sign certificates',
  },
  {
    section: 'RFC 5280 §6.1.4 (l)',
    finding: ({ ca, selfIssued, issuer }) =>
      ca &&
      !selfIssued &&
      issuer?.hasRoomForCa === false &&
      'the path length of the issuer, or of a CA above it, allows no CA below it',
  },
  {
    // As path validation here and elsewhere has it.
    section: 'RFC 5280 §4.2.1.12',
    finding: ({ purposes, issuer }) => {
      if (!issuer) return undefined;
      const beyond = purposes.find((one) => !issuer.purposes.every((allowed) => allowed.includes(one)));
      return beyond && `the issuer may not issue for the purpose ${beyond}`;
    },
  },
];
