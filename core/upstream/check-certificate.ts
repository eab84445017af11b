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

/** What clocks may differ by. Milliseconds. */
const clockSkew = 300_000;
/** By this much a year may be longer than the one that was counted on, and a certificate be dated back. */
const slack = 25 * 3_600_000;

/** A certificate that is what was wanted, and those above it, its issuer first. */
export interface CheckedCertificate {
  readonly certificate: Certificate;
  readonly chain: readonly Certificate[];
}

/**
 * Holds what an upstream answered (DER) against what was wanted of it. `above`: its CA certificates, the issuing one first;
 * `issuers`: those of them that may have issued it. Faults: malformed, with what is wrong.
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
  if (!path.ok) throw wrong(`does not come from its CA: ${path.detail}`);
  const issuer = path.chain[1];
  if (!issuer) throw wrong('is that of the CA itself');
  return { certificate, chain: above.slice(above.indexOf(issuer)) };
}

const wrong = (what: string): Fault =>
  new Fault('malformed', `the certificate that the upstream CA answered ${what}`);

/** Names and key are to be those that were asked for; what the certificate may be used for no more than that. */
function demandWanted(wanted: CertificateTemplate, certificate: Certificate): void {
  const facts = factsOf(certificate);
  if (!isProperSerial(certificate)) throw wrong('has a serial number that is not positive, or is too long');
  if (!samePublicKey(facts.key, readPublicKey(wanted.spki))) throw wrong('is for another key');
  if (!sameName(wanted.subject, certificate.subject)) throw wrong('is for another subject');
  if (!sameGeneralNames(subjectAltNamesOf(wanted), subjectAltNamesOf(certificate)))
    throw wrong('has other alternative names');
  const isCa = facts.basicConstraints?.ca === true;
  const wantsCa = basicConstraintsOf(wanted)?.ca === true;
  if (isCa !== wantsCa) throw wrong(isCa ? 'is that of a CA' : 'is not that of a CA');
  const usages = keyUsageOf(wanted);
  // Without the extension a key may be used for everything.
  if (usages && !facts.keyUsage?.every((usage) => usages.includes(usage)))
    throw wrong('allows more uses of the key (keyUsage)');
  if (wantsCa && usages && !usages.every((usage) => facts.keyUsage?.includes(usage)))
    throw wrong('does not allow what a CA does (keyUsage)');
  const purposes = extendedKeyUsageOf(wanted);
  if (!purposes || purposes.includes(oid.anyExtendedKeyUsage)) return;
  if (!facts.purposes?.every((purpose) => purposes.includes(purpose)))
    throw wrong('is for more purposes (extendedKeyUsage)');
}

const longestSerial = 20;

/** RFC 5280 §4.1.2.2: the inventory knows certificates by it. */
const isProperSerial = ({ serial, serialNumber }: Certificate): boolean =>
  serial.length <= longestSerial && serial[0]! < 0x80 && serialNumber !== '00';

/** As long as the profile says, from whenever the upstream decided. */
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
