import { sameBytes } from '../../der/bytes.ts';
import { oid } from '../oids.ts';
import type { Common, Rule } from './draft.ts';

type Name = keyof typeof oid;

const present = ({ extensions }: Common, name: Name) => extensions.find((one) => one.oid === oid[name]);

const critical = (name: Name, section: string): Rule<Common> => ({
  section,
  finding: (form) => present(form, name)?.critical === false && `${name} is not critical`,
});

const notCritical = (name: Name, section: string): Rule<Common> => ({
  section,
  finding: (form) => present(form, name)?.critical && `${name} is critical`,
});

const ofCasOnly = (name: Name, section: string): Rule<Common> => ({
  section,
  finding: (form) => !form.ca && present(form, name) && `${name} in the certificate of an end entity`,
});

/** URIs from which every client can fetch a CRL (RFC 5280 §4.2.1.13). */
const fetchable = /^(?:http|ldap):\/\/[^/]/i;

/** Rules about the presence and criticality of extensions. */
export const formRules: readonly Rule<Common>[] = [
  critical('keyUsage', 'RFC 5280 §4.2.1.3'),
  critical('policyMappings', 'RFC 5280 §4.2.1.5'),
  {
    section: 'RFC 5280 §4.2.1.9',
    finding: (form) =>
      form.ca &&
      !present(form, 'basicConstraints')?.critical &&
      'basicConstraints of a CA is missing or not critical',
  },
  critical('nameConstraints', 'RFC 5280 §4.2.1.10'),
  critical('policyConstraints', 'RFC 5280 §4.2.1.11'),
  critical('inhibitAnyPolicy', 'RFC 5280 §4.2.1.14'),
  notCritical('authorityKeyIdentifier', 'RFC 5280 §4.2.1.1'),
  notCritical('subjectKeyIdentifier', 'RFC 5280 §4.2.1.2'),
  notCritical('crlDistributionPoints', 'RFC 5280 §4.2.1.13'),
  notCritical('freshestCrl', 'RFC 5280 §4.2.1.15'),
  notCritical('authorityInfoAccess', 'RFC 5280 §4.2.2.1'),
  notCritical('subjectInfoAccess', 'RFC 5280 §4.2.2.2'),
  ofCasOnly('policyMappings', 'RFC 5280 §4.2.1.5'),
  ofCasOnly('nameConstraints', 'RFC 5280 §4.2.1.10'),
  ofCasOnly('policyConstraints', 'RFC 5280 §4.2.1.11'),
  ofCasOnly('inhibitAnyPolicy', 'RFC 5280 §4.2.1.14'),
];

/** Rules about the issuer's key identifier and about locations. */
export const extensionRules: readonly Rule<Common>[] = [
  {
    section: 'RFC 5280 §4.2.1.1',
    finding: ({ authorityKeyIdentifier, issuer }) =>
      issuer &&
      !authorityKeyIdentifier?.keyIdentifier &&
      'authorityKeyIdentifier with a key identifier is missing',
  },
  {
    section: 'RFC 5280 §4.2.1.1',
    finding: ({ authorityKeyIdentifier, signer }) => {
      const named = authorityKeyIdentifier?.keyIdentifier;
      const own = signer.subjectKeyIdentifier;
      return (
        named && own && !sameBytes(named, own) && "authorityKeyIdentifier is not the issuer's key identifier"
      );
    },
  },
  {
    section: 'RFC 5280 §4.2.1.13',
    finding: ({ crlDistributionPoints: uris }) =>
      uris &&
      (uris.length === 0 || !uris.every((uri) => fetchable.test(uri))) &&
      'crlDistributionPoints has a location that is not an http or ldap URI',
  },
  {
    section: 'RFC 5280 §4.2.2.1',
    finding: ({ authorityInfoAccess: access }) =>
      access &&
      !access.caIssuers.every((uri) => fetchable.test(uri)) &&
      'authorityInfoAccess has a caIssuers location that is not an http or ldap URI',
  },
  {
    section: 'RFC 6960 §A.1',
    finding: ({ authorityInfoAccess: access }) =>
      access &&
      !access.ocsp.every((uri) => /^http:\/\/[^/]/i.test(uri)) &&
      'authorityInfoAccess has an OCSP location that is not an http URI',
  },
];

/** Rules about the certificate's own key identifier. */
export const identifierRules: readonly Rule[] = [
  {
    section: 'RFC 5280 §4.2.1.2',
    finding: ({ ca, subjectKeyIdentifier }) =>
      ca && subjectKeyIdentifier === undefined && 'a CA has no subjectKeyIdentifier',
  },
  {
    section: 'RFC 5280 §4.2.1.2',
    finding: ({ subjectKeyIdentifier }) => subjectKeyIdentifier === 0 && 'subjectKeyIdentifier is empty',
  },
];
