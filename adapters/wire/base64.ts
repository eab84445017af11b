import { Fault } from '#core/fault.ts';

const columns = 64;
const strictly = { lastChunkHandling: 'strict' } as const;

/**
 * Decodes base64 (RFC 4648 §4). ASCII white space is ignored, as RFC 8951 §3.1 requires of receivers. Padding is
 * required and its bits must be zero. Faults: malformed.
 */
export function decodeBase64(text: string): Uint8Array {
  try {
    return Uint8Array.fromBase64(text, strictly);
  } catch {
    throw new Fault('malformed', 'this is not valid base64');
  }
}

/** Encodes base64 in lines of 64 characters. Every line, including the last, ends with `lineEnd`. */
export function encodeBase64Lines(bytes: Uint8Array, lineEnd = '\n'): string {
  const text = bytes.toBase64();
  let lines = '';
  for (let at = 0; at < text.length; at += columns) {
    lines = `${lines}${text.substring(at, at + columns)}${lineEnd}`;
  }
  return lines;
}

/** Returns the number of characters that `encodeBase64Lines` writes for this number of octets. */
export function base64LinesLength(octets: number, lineEnd = '\n'): number {
  const characters = 4 * Math.ceil(octets / 3);
  return characters + Math.ceil(characters / columns) * lineEnd.length;
}
