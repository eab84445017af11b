import { sameBytes } from '../../der/bytes.ts';
import { tag } from '../../der/tag.ts';
import { signatureAlgorithmFits } from '../algorithm.ts';
import { extension } from '../certificate.ts';
import { oid } from '../oids.ts';
import type { Common, Rule } from './draft.ts';

const longestSerial = 20;
/** 64 bits. */
const shortestSerial = 8;

/** Octets without the one for the sign. */
const magnitude = (serial: Uint8Array): number => (serial[0] === 0 ? serial.length - 1 : serial.length);

const firstUtcTime = Date.UTC(1950, 0);
const endOfUtcTime = Date.UTC(2050, 0);
const timeTag = (time: number): number =>
  time >= firstUtcTime && time < endOfUtcTime ? tag.utcTime : tag.generalizedTime;

/** Version, serial number, validity, whether there is a subject. */
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
    // Against collisions of hashes: a serial number cannot be foreseen.
    section: 'CA/Browser Forum BR §7.1',
    finding: ({ tbs }) => magnitude(tbs.serial) < shortestSerial && 'the serial number has less than 64 bits',
  },
  {
    section: 'RFC 5280 §4.1.2.5',
    finding: ({ tbs }) => tbs.notBefore >= tbs.notAfter && 'the validity ends before it begins',
  },
  {
    section: 'RFC 5280 §4.1.2.5',
    finding: ({ tbs }) =>
      (tbs.timeTags[0] !== timeTag(tbs.notBefore) || tbs.timeTags[1] !== timeTag(tbs.notAfter)) &&
      'a time through 2049 is no UTCTime, or one beyond is',
  },
  {
    section: 'RFC 5280 §6.1.3 (a)(2)',
    finding: ({ tbs, issuer }) =>
      issuer &&
      (tbs.notBefore < issuer.certificate.notBefore || tbs.notAfter > issuer.certificate.notAfter) &&
      "the validity goes beyond that of the issuer's certificate",
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
      'the subject is empty and no critical alternative name stands in its place',
  },
  {
    section: 'RFC 5280 §4.1.2.8',
    finding: ({ tbs }) => tbs.hasUniqueIdentifiers && 'a unique identifier of issuer or subject is there',
  },
];

/** Who signs, and by which algorithm. */
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
      `the signature algorithm ${signatureAlgorithm} does not fit the issuer's key, ${signer.key}`,
  },
  {
    section: 'RFC 5280 §4.1.2.4',
    finding: ({ issuerName }) => issuerName.rdns.length === 0 && 'the name of the issuer is empty',
  },
  {
    // Octet for octet, though §7.1 compares less strictly: not everybody does.
    section: 'RFC 5280 §6.1.3 (a)(4)',
    finding: ({ issuerName, signer }) =>
      !sameBytes(issuerName.der, signer.subject.der) &&
      "the name of the issuer is not that in the issuer's certificate",
  },
];
