import { Fault } from '#core/fault.ts';
import { base64LinesLength, decodeBase64, encodeBase64Lines } from './base64.ts';

interface PemBlock {
  /** 'CERTIFICATE', 'CERTIFICATE REQUEST', … */
  readonly label: string;
  readonly der: Uint8Array;
}

const begin = '-----BEGIN ';
const dashes = '-----';
const longestText = 16 * 1024 * 1024;
/** A subset of the labels of RFC 7468 §3: upper-case words, single hyphens or spaces between them. */
const labelForm = /^[A-Z0-9#.]+(?:[ -][A-Z0-9#.]+)*$/;
const longestLabel = 64;

/** Encodes one block in the strict form of RFC 7468 §3. Every line ends with `lineEnd`. */
export function encodePem(label: string, der: Uint8Array, lineEnd = '\n'): string {
  const lines = encodeBase64Lines(der, lineEnd);
  return `${begin}${label}${dashes}${lineEnd}${lines}-----END ${label}${dashes}${lineEnd}`;
}

/** The octets encoded at a time: a whole number of lines. */
const pieceLength = 48 * 1024;
const ascii = new TextEncoder();

/** Returns the result of `encodePem` in pieces, and its length in octets. For long values. */
export function pemPieces(
  label: string,
  der: Uint8Array,
  lineEnd = '\n',
): readonly [pieces: Iterable<Uint8Array>, length: number] {
  const head = ascii.encode(`${begin}${label}${dashes}${lineEnd}`);
  const foot = ascii.encode(`-----END ${label}${dashes}${lineEnd}`);
  function* pieces(): Generator<Uint8Array> {
    yield head;
    for (let at = 0; at < der.length; at += pieceLength) {
      yield ascii.encode(encodeBase64Lines(der.subarray(at, at + pieceLength), lineEnd));
    }
    yield foot;
  }
  return [pieces(), head.length + base64LinesLength(der.length, lineEnd) + foot.length];
}

/**
 * Decodes all blocks of a text, at least one, as leniently as RFC 7468 §3 allows: any line ends or blanks instead, and
 * other text around the blocks. Header lines (RFC 1421) are rejected. Faults: malformed.
 */
export function decodePem(text: string): PemBlock[] {
  if (text.length > longestText) throw new Fault('malformed', 'PEM: too long');
  const blocks: PemBlock[] = [];
  for (let from = text.indexOf(begin); from >= 0; ) {
    const label = readLabel(text, from + begin.length);
    const start = from + begin.length + label.length + dashes.length;
    const boundary = `-----END ${label}${dashes}`;
    const end = text.indexOf(boundary, start);
    if (end < 0) throw new Fault('malformed', `PEM: the END line of ${label} is missing`);
    blocks.push({ label, der: readContents(label, text.slice(start, end)) });
    from = text.indexOf(begin, end + boundary.length);
  }
  if (blocks.length === 0) throw new Fault('malformed', 'PEM: there is no block');
  return blocks;
}

function readLabel(text: string, start: number): string {
  const end = text.indexOf(dashes, start);
  const label = end - start > longestLabel ? '' : text.slice(start, Math.max(start, end));
  if (!labelForm.test(label)) throw new Fault('malformed', 'PEM: the label is not valid');
  return label;
}

function readContents(label: string, text: string): Uint8Array {
  if (text.includes(':')) throw new Fault('malformed', `PEM: header lines in ${label} are not supported`);
  try {
    const der = decodeBase64(text);
    if (der.length > 0) return der;
  } catch {
    throw new Fault('malformed', `PEM: invalid base64 in ${label}`);
  }
  throw new Fault('malformed', `PEM: ${label} is empty`);
}
