import { tag } from '#core/der/tag.ts';
import { Fault } from '#core/fault.ts';
import { decodeBase64 } from './base64.ts';
import { decodePem } from './pem.ts';

/** RFC 7468 §7 and the label that older tools write. */
const labels = ['CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST'];

/**
 * A PKCS#10 request as devices send it, recognised by its content: DER, PEM or base64 with or without line
 * breaks; in a string PEM or base64. Its DER, not looked into. Faults: badCsr.
 */
export function decodeCertificationRequest(input: Uint8Array | string): Uint8Array {
  // No base64 of a SEQUENCE, and no PEM, begins with the octet that is the tag of a SEQUENCE, '0'.
  if (typeof input !== 'string' && input[0] === tag.sequence) return input;
  const text = typeof input === 'string' ? input : latin1(input);
  // A client that sends no file is told so, rather than what is wrong with no octets.
  if (text.trim() === '') throw new Fault('badCsr', 'csr: the request contains no CSR');
  try {
    return text.includes('-----BEGIN ') ? fromPem(text) : decodeBase64(text);
  } catch (error) {
    throw error instanceof Fault ? new Fault('badCsr', `csr: ${error.detail}`, { cause: error }) : error;
  }
}

function fromPem(text: string): Uint8Array {
  const [block, second] = decodePem(text);
  if (block && !second && labels.includes(block.label)) return block.der;
  throw new Fault('malformed', 'not one CERTIFICATE REQUEST');
}

const latin1 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
