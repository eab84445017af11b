import { tag } from '#core/der/tag.ts';
import { Fault } from '#core/fault.ts';
import { decodeBase64 } from './base64.ts';
import { decodePem } from './pem.ts';

/** The label of RFC 7468 §7 and the one that older tools write. */
const labels = ['CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST'];

/**
 * Returns the DER of a PKCS#10 request, without decoding it. The content determines the format: octets contain DER, PEM
 * or base64 with or without line breaks; a string contains PEM or base64. Faults: badCsr.
 */
export function decodeCertificationRequest(input: Uint8Array | string): Uint8Array {
  // The tag of a SEQUENCE is also the character '0'. Neither PEM nor base64 of a SEQUENCE begins with it.
  if (typeof input !== 'string' && input[0] === tag.sequence) return input;
  const text = typeof input === 'string' ? input : latin1(input);
  // A missing file is a more frequent mistake than an empty one, so the message is about that.
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
  throw new Fault('malformed', 'expected exactly one CERTIFICATE REQUEST');
}

const latin1 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
