import { readDer } from '../der/reader.ts';
import { Fault } from '../fault.ts';
import { attributeTypeNamed } from '../x509/attribute-type.ts';
import { type Certificate, fingerprint, subjectAltNamesOf } from '../x509/certificate.ts';
import { commonName, type Name } from '../x509/name.ts';
import { oid } from '../x509/oids.ts';

/** What a manufacturer's certificate (IEEE 802.1AR §8) says of the device that bears it. */
export interface Idevid {
  readonly certificate: Certificate;
  /** Of its subject, and of the hardware module (RFC 4108 §5), in this order. */
  readonly serialNumbers: readonly string[];
  readonly manufacturer: string | undefined;
  /** SHA-256 of the SubjectPublicKeyInfo, upper-case hex. */
  readonly key: string;
}

const serialNumber = attributeTypeNamed('serialNumber')!.oid;
const organisation = attributeTypeNamed('O')!.oid;
/** As long as the serial number of a device may be. */
const longest = 100;

/** Undefined for a certificate without a serial number that a device could have here, or with names that cannot be read. */
export function readIdevid(certificate: Certificate): Idevid | undefined {
  const { subject, issuer, spki } = certificate;
  const numbers = [...texts(subject, serialNumber), ...hardwareSerialNumbers(certificate)]
    .map((text) => text.trim())
    .filter((text) => text !== '' && text.length <= longest && !/\p{Cc}/u.test(text));
  if (numbers.length === 0) return undefined;
  const manufacturer =
    texts(subject, organisation)[0] ?? texts(issuer, organisation)[0] ?? commonName(issuer);
  return { certificate, serialNumbers: [...new Set(numbers)], manufacturer, key: fingerprint(spki) };
}

const texts = (name: Name, type: string): string[] =>
  name.rdns.flatMap((rdn) => rdn.filter((one) => one.type === type).map(({ value }) => value));

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The hwSerialNum of each HardwareModuleName: as text where it is one, else in hexadecimal. */
function hardwareSerialNumbers(certificate: Certificate): string[] {
  try {
    return subjectAltNamesOf(certificate).flatMap((name) => {
      if (name.kind !== 'otherName' || name.type !== oid.hardwareModuleName) return [];
      const octets = readDer(name.value, (reader) => {
        const module = reader.sequence();
        module.oid();
        const number = module.octetString();
        module.finish();
        return number;
      });
      return [printable(octets) ?? Buffer.from(octets).toString('hex').toUpperCase()];
    });
  } catch (error) {
    if (error instanceof Fault) return [];
    throw error;
  }
}

function printable(octets: Uint8Array): string | undefined {
  try {
    const text = utf8.decode(octets);
    return /^[^\p{C}]+$/u.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** The longest common name that a certificate can have (RFC 5280 §A.1). */
const longestName = 64;

/**
 * What a new device may be called, the best first: its serial number; with the manufacturer before it where that is taken, or would
 * read like the id of a device; with some of its key's digest, which nobody else has.
 */
export function deviceNames(serialNumber: string, { manufacturer = '', key }: Idevid): readonly string[] {
  const serial = clean(serialNumber);
  const maker = clean(manufacturer);
  const sure = [serial.slice(0, longestName - 17), key.slice(0, 16)].filter(Boolean).join('-');
  const names = [
    ...(/^\d*$/.test(serial) ? [] : [serial]),
    ...(maker && serial ? [`${maker}-${serial}`] : []),
  ].filter((name) => name.length <= longestName);
  return [...names, sure];
}

/** In letters, digits, `.`, `_` and `-`: what stands in names of hosts and files as it is. */
const clean = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '');
