import { Fault } from '#core/fault.ts';

const columns = 64;
const strictly = { lastChunkHandling: 'strict' } as const;

/**
 * Base64 (RFC 4648 §4), with or without ASCII white space in it, which RFC 8951 §3.1 asks receivers to pass over.
 * Padding is required and its bits are zero. Faults: malformed.
 */
export function decodeBase64(text: string): Uint8Array {
  try {
    return Uint8Array.fromBase64(text, strictly);
  } catch {
    throw new Fault('malformed', 'bad base64');
  }
}

/** Base64 in lines of 64 characters, the last one ended too. */
export function encodeBase64Lines(bytes: Uint8Array, lineEnd = '\n'): string {
  const text = bytes.toBase64();
  let lines = '';
  for (let at = 0; at < text.length; at += columns) {
    lines = `${lines}${text.substring(at, at + columns)}${lineEnd}`;
  }
  return lines;
}

/** Characters that `encodeBase64Lines` makes of so many octets. */
export function base64LinesLength(octets: number, lineEnd = '\n'): number {
  const characters = 4 * Math.ceil(octets / 3);
  return characters + Math.ceil(characters / columns) * lineEnd.length;
}
