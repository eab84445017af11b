import { tag } from '#core/der/tag.ts';
import { Fault } from '#core/fault.ts';
import { decodeBase64 } from './base64.ts';
import { berToDer } from './ber.ts';
import { decodePem } from './pem.ts';
import { readCertificates } from './pkcs7.ts';
import { readPkcs12 } from './pkcs12.ts';

const certificateLabels = ['CERTIFICATE', 'X509 CERTIFICATE'];
const pkcs7Labels = ['PKCS7', 'CMS'];

/**
 * Returns the certificates (DER) in a file, in its order, without decoding them. The content determines the format: PEM
 * (certificates and PKCS #7), DER of a certificate, PKCS #7 or PKCS #12, or base64 of one of those. Faults: malformed,
 * with field `password` for a wrong password; unsupported.
 */
export async function readCertificateFile(file: Uint8Array, password: string): Promise<Uint8Array[]> {
  if (file.length === 0) throw new Fault('malformed', 'the file is empty');
  if (file[0] === tag.sequence) return fromDer(file, password);
  const text = Buffer.from(file).toString('latin1');
  if (text.includes('-----BEGIN ')) return fromPem(text);
  const decoded = base64(text);
  if (decoded?.[0] === tag.sequence) return fromDer(decoded, password);
  throw new Fault('malformed', 'the file is not PEM, DER, PKCS #7 or PKCS #12');
}

function fromPem(text: string): Uint8Array[] {
  return decodePem(text).flatMap(({ label, der }) => {
    if (certificateLabels.includes(label)) return [der];
    if (pkcs7Labels.includes(label)) return readCertificates(berToDer(der));
    throw new Fault('malformed', `expected CERTIFICATE, found ${label}`);
  });
}

async function fromDer(file: Uint8Array, password: string): Promise<Uint8Array[]> {
  switch (firstMember(file)) {
    case tag.sequence:
      return [file];
    case tag.oid:
      return readCertificates(berToDer(file));
    case tag.integer:
      return [...(await readPkcs12(file, password)).certificates];
    default:
      throw new Fault('malformed', 'the file is not a certificate, PKCS #7 or PKCS #12');
  }
}

/** Returns the tag of the first member of a SEQUENCE (BER), which distinguishes the formats. */
function firstMember(file: Uint8Array): number | undefined {
  const length = file[1] ?? 0;
  return file[length <= 0x80 ? 2 : 2 + (length & 0x7f)];
}

function base64(text: string): Uint8Array | undefined {
  try {
    return decodeBase64(text);
  } catch {
    return undefined;
  }
}
