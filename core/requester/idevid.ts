import { readDer } from '../der/reader.ts';
import { Fault } from '../fault.ts';
import { attributeTypeNamed } from '../x509/attribute-type.ts';
import { type Certificate, fingerprint, subjectAltNamesOf } from '../x509/certificate.ts';
import { commonName, type Name } from '../x509/name.ts';
import { oid } from '../x509/oids.ts';

/** The device's identity in a manufacturer's certificate (IEEE 802.1AR §8). */
export interface Idevid {
  readonly certificate: Certificate;
  /** The serial numbers in the subject and in the hardware module name (RFC 4108 §5), in this order. */
  readonly serialNumbers: readonly string[];
  readonly manufacturer: string | undefined;
  /** SHA-256 of the SubjectPublicKeyInfo, upper-case hex. */
  readonly key: string;
}

const serialNumber = attributeTypeNamed('serialNumber')!.oid;
const organisation = attributeTypeNamed('O')!.oid;
/** The longest serial number of a device. */
const longest = 100;

/** Reads an IDevID. Returns undefined for a certificate without a usable serial number, or with names that cannot be read. */
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

/** Returns the hwSerialNum of each HardwareModuleName: as text if it is text, otherwise in hexadecimal. */
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
 * Returns names for a new device, the best first: its serial number; manufacturer and serial number, if the first is taken or looks
 * like the id of a device; the serial number with a part of the key's digest, which is unique.
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

/** Reduces a text to letters, digits, `.`, `_` and `-`, which are valid in names of hosts and files. */
const clean = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '');
