import { hasExpired } from '../der/time.ts';
import { Fault } from '../fault.ts';
import {
  basicConstraintsOf,
  type Certificate,
  type CertificateTemplate,
  extendedKeyUsageOf,
  keyUsageOf,
  parseCertificate,
  subjectAltNamesOf,
} from '../x509/certificate.ts';
import { factsOf } from '../x509/facts.ts';
import { sameGeneralNames } from '../x509/general-name.ts';
import { sameName } from '../x509/name.ts';
import { oid } from '../x509/oids.ts';
import { validatePath } from '../x509/path.ts';
import { readPublicKey, samePublicKey } from '../x509/public-key.ts';

/** The tolerated difference between clocks. Milliseconds. */
const clockSkew = 300_000;
/** The tolerated excess of a validity period, for leap days and backdated certificates. Milliseconds. */
const slack = 25 * 3_600_000;

/** A certificate that passed the checks, and the CA certificates above it, its issuer first. */
export interface CheckedCertificate {
  readonly certificate: Certificate;
  readonly chain: readonly Certificate[];
}

/**
 * Checks the certificate of an upstream CA (DER) against the request. `above`: the CA certificates, the issuing one first; `issuers`:
 * the ones among them that may issue it. Faults: malformed.
 */
export function checkCertificate(
  wanted: CertificateTemplate,
  der: Uint8Array,
  above: readonly Certificate[],
  issuers: readonly Certificate[],
  now: number,
): CheckedCertificate {
  const certificate = parseCertificate(der);
  demandWanted(wanted, certificate);
  demandValidity(wanted, certificate, now);
  const path = validatePath(certificate, {
    time: Math.max(now, certificate.notBefore),
    intermediates: [],
    anchors: issuers,
  });
  if (!path.ok) throw wrong(`was not issued by that CA: ${path.detail}`);
  const issuer = path.chain[1];
  if (!issuer) throw wrong('is the certificate of the upstream CA itself');
  return { certificate, chain: above.slice(above.indexOf(issuer)) };
}

const wrong = (what: string): Fault => new Fault('malformed', `the certificate from the upstream CA ${what}`);

/** Names and key must be the requested ones; the usages must not exceed the requested ones. */
function demandWanted(wanted: CertificateTemplate, certificate: Certificate): void {
  const facts = factsOf(certificate);
  if (!isProperSerial(certificate)) throw wrong('has a serial number that is not positive, or is too long');
  if (!samePublicKey(facts.key, readPublicKey(wanted.spki)))
    throw wrong('has another public key than requested');
  if (!sameName(wanted.subject, certificate.subject)) throw wrong('has another subject than requested');
  if (!sameGeneralNames(subjectAltNamesOf(wanted), subjectAltNamesOf(certificate)))
    throw wrong('has other subject alternative names than requested');
  const isCa = facts.basicConstraints?.ca === true;
  const wantsCa = basicConstraintsOf(wanted)?.ca === true;
  if (isCa !== wantsCa) throw wrong(isCa ? 'is a CA certificate' : 'is not a CA certificate');
  const usages = keyUsageOf(wanted);
  // A certificate without the extension allows every use of the key.
  if (usages && !facts.keyUsage?.every((usage) => usages.includes(usage)))
    throw wrong('allows more key usages than requested (keyUsage)');
  if (wantsCa && usages && !usages.every((usage) => facts.keyUsage?.includes(usage)))
    throw wrong('lacks the key usages of a CA (keyUsage)');
  const purposes = extendedKeyUsageOf(wanted);
  if (!purposes || purposes.includes(oid.anyExtendedKeyUsage)) return;
  if (!facts.purposes?.every((purpose) => purposes.includes(purpose)))
    throw wrong('allows more purposes than requested (extendedKeyUsage)');
}

const longestSerial = 20;

/** RFC 5280 §4.1.2.2. The inventory identifies certificates by their serial numbers. */
const isProperSerial = ({ serial, serialNumber }: Certificate): boolean =>
  serial.length <= longestSerial && serial[0]! < 0x80 && serialNumber !== '00';

/** The validity period may start whenever the upstream CA decided, but must not be longer than the profile allows. */
function demandValidity(
  wanted: CertificateTemplate,
  { notBefore, notAfter }: Certificate,
  now: number,
): void {
  if (hasExpired(notAfter, now)) throw wrong('has expired');
  if (notBefore > now + clockSkew) throw wrong('is not valid yet');
  if (notAfter - notBefore > wanted.notAfter - wanted.notBefore + slack)
    throw wrong('is valid for longer than its profile allows');
}
