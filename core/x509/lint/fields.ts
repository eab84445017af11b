import { sameBytes } from '../../der/bytes.ts';
import { tag } from '../../der/tag.ts';
import { signatureAlgorithmFits } from '../algorithm.ts';
import { extension } from '../certificate.ts';
import { oid } from '../oids.ts';
import type { Common, Rule } from './draft.ts';

const longestSerial = 20;
/** Octets: 64 bits. */
const shortestSerial = 8;

/** Returns the number of octets without the sign octet. */
const magnitude = (serial: Uint8Array): number => (serial[0] === 0 ? serial.length - 1 : serial.length);

const firstUtcTime = Date.UTC(1950, 0);
const endOfUtcTime = Date.UTC(2050, 0);
const timeTag = (time: number): number =>
  time >= firstUtcTime && time < endOfUtcTime ? tag.utcTime : tag.generalizedTime;

/** Rules about version, serial number, validity period and subject. */
export const fieldRules: readonly Rule[] = [
  {
    section: 'RFC 5280 §4.1.2.1',
    finding: ({ tbs }) => tbs.version !== 3 && 'the version is not 3',
  },
  {
    section: 'RFC 5280 §4.1.2.2',
    finding: ({ tbs }) =>
      (tbs.serial[0]! >= 0x80 || magnitude(tbs.serial) === 0) && 'the serial number is not positive',
  },
  {
    section: 'RFC 5280 §4.1.2.2',
    finding: ({ tbs }) =>
      tbs.serial.length > longestSerial && `the serial number has more than ${longestSerial} octets`,
  },
  {
    // An unpredictable serial number prevents attacks with hash collisions.
    section: 'CA/Browser Forum BR §7.1',
    finding: ({ tbs }) =>
      magnitude(tbs.serial) < shortestSerial && 'the serial number has fewer than 64 bits',
  },
  {
    section: 'RFC 5280 §4.1.2.5',
    finding: ({ tbs }) => tbs.notBefore >= tbs.notAfter && 'notAfter is not after notBefore',
  },
  {
    section: 'RFC 5280 §4.1.2.5',
    finding: ({ tbs }) =>
      (tbs.timeTags[0] !== timeTag(tbs.notBefore) || tbs.timeTags[1] !== timeTag(tbs.notAfter)) &&
      'a time must be a UTCTime through 2049 and a GeneralizedTime from 2050',
  },
  {
    section: 'RFC 5280 §6.1.3 (a)(2)',
    finding: ({ tbs, issuer }) =>
      issuer &&
      (tbs.notBefore < issuer.certificate.notBefore || tbs.notAfter > issuer.certificate.notAfter) &&
      "the validity period exceeds that of the issuer's certificate",
  },
  {
    section: 'RFC 5280 §4.1.2.6',
    finding: ({ tbs, ca }) => ca && tbs.subject.rdns.length === 0 && 'a CA has an empty subject',
  },
  {
    section: 'RFC 5280 §4.1.2.6',
    finding: ({ tbs }) =>
      tbs.subject.rdns.length === 0 &&
      !extension(tbs, oid.subjectAltName)?.critical &&
      'the subject is empty and there is no critical subjectAltName',
  },
  {
    section: 'RFC 5280 §4.1.2.8',
    finding: ({ tbs }) =>
      tbs.hasUniqueIdentifiers && 'the certificate has a unique identifier of the issuer or subject',
  },
];

/** Rules about the signer and the signature algorithm. */
export const signerRules: readonly Rule<Common>[] = [
  {
    section: 'RFC 5280 §4.1.2.3',
    finding: ({ signatureAlgorithm }) => !signatureAlgorithm && 'the signature algorithm is weak or unknown',
  },
  {
    section: 'RFC 5280 §4.1.2.3',
    finding: ({ signatureAlgorithm, signer }) =>
      signatureAlgorithm &&
      !signatureAlgorithmFits(signatureAlgorithm, signer.key) &&
      `the issuer's ${signer.key} key cannot sign with the signature algorithm ${signatureAlgorithm}`,
  },
  {
    section: 'RFC 5280 §4.1.2.4',
    finding: ({ issuerName }) => issuerName.rdns.length === 0 && 'the issuer name is empty',
  },
  {
    // Compared octet for octet: §7.1 is less strict, but not all software implements its rules.
    section: 'RFC 5280 §6.1.3 (a)(4)',
    finding: ({ issuerName, signer }) =>
      !sameBytes(issuerName.der, signer.subject.der) &&
      "the issuer name differs from the subject of the issuer's certificate",
  },
];
