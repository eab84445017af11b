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
/** RFC 7468 §3: printable, no hyphen at either end, no two in a row; ours are upper-case words. */
const labelForm = /^[A-Z0-9#.]+(?:[ -][A-Z0-9#.]+)*$/;
const longestLabel = 64;

/** One block as RFC 7468 §3 has it written, each line ended by a line feed. */
export function encodePem(label: string, der: Uint8Array, lineEnd = '\n'): string {
  const lines = encodeBase64Lines(der, lineEnd);
  return `${begin}${label}${dashes}${lineEnd}${lines}-----END ${label}${dashes}${lineEnd}`;
}

/** Octets that are encoded at a time; whole lines. */
const pieceLength = 48 * 1024;
const ascii = new TextEncoder();

/** What `encodePem` gives, piece by piece, and its length in octets: for what is long. */
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
 * Every block of a text, at least one, as lax as RFC 7468 §3 allows: any line ends, or blanks in place of
 * them, and other text around the blocks. Header lines (RFC 1421) are refused. Faults: malformed.
 */
export function decodePem(text: string): PemBlock[] {
  if (text.length > longestText) throw new Fault('malformed', 'PEM: too long');
  const blocks: PemBlock[] = [];
  for (let from = text.indexOf(begin); from >= 0; ) {
    const label = readLabel(text, from + begin.length);
    const start = from + begin.length + label.length + dashes.length;
    const boundary = `-----END ${label}${dashes}`;
    const end = text.indexOf(boundary, start);
    if (end < 0) throw new Fault('malformed', `PEM: ${label} does not end`);
    blocks.push({ label, der: readContents(label, text.slice(start, end)) });
    from = text.indexOf(begin, end + boundary.length);
  }
  if (blocks.length === 0) throw new Fault('malformed', 'PEM: no block');
  return blocks;
}

function readLabel(text: string, start: number): string {
  const end = text.indexOf(dashes, start);
  const label = end - start > longestLabel ? '' : text.slice(start, Math.max(start, end));
  if (!labelForm.test(label)) throw new Fault('malformed', 'PEM: bad label');
  return label;
}

function readContents(label: string, text: string): Uint8Array {
  if (text.includes(':')) throw new Fault('malformed', `PEM: ${label} with header lines`);
  try {
    const der = decodeBase64(text);
    if (der.length > 0) return der;
  } catch {
    throw new Fault('malformed', `PEM: bad base64 in ${label}`);
  }
  throw new Fault('malformed', `PEM: ${label} is empty`);
}
