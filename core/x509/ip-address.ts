import { Fault } from '../fault.ts';

const bad = (text: string): Fault => new Fault('malformed', `not an IP address: ${text.slice(0, 80)}`);

/** Parses dotted decimal (4 octets) or the text form of RFC 4291 §2.2 (16 octets). Faults: malformed. */
export function parseIpAddress(text: string): Uint8Array {
  if (text.length > 45) throw bad(text);
  const last = text.lastIndexOf(':') + 1;
  if (last === 0) return Uint8Array.from(parseV4(text));
  const tail = text.slice(last).includes('.') ? parseV4(text.slice(last)) : undefined;
  const groups = tail ? `${text.slice(0, last)}${group(tail, 0)}:${group(tail, 2)}` : text;
  const [before, after, ...more] = groups.split('::').map(parseGroups) as [number[], number[]?];
  if (more.length > 0) throw bad(text);
  const missing = 16 - before.length - (after?.length ?? 0);
  if (after ? missing < 2 : missing !== 0) throw bad(text);
  return Uint8Array.from([...before, ...new Array<number>(missing).fill(0), ...(after ?? [])]);
}

const group = (octets: readonly number[], at: number): string =>
  ((octets[at]! << 8) | octets[at + 1]!).toString(16);

/** Parses groups separated by single colons and returns their octets. */
function parseGroups(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((digits) => {
    if (!/^[0-9a-f]{1,4}$/i.test(digits)) throw bad(text);
    const value = Number.parseInt(digits, 16);
    return [value >> 8, value & 0xff];
  });
}

function parseV4(text: string): number[] {
  const parts = text.split('.');
  // No leading zeros: some software reads them as octal.
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)) {
    throw bad(text);
  }
  return parts.map(Number);
}

/** Formats 4 or 16 octets; IPv6 as in RFC 5952 §4. */
export function formatIpAddress(octets: Uint8Array): string {
  if (octets.length === 4) return octets.join('.');
  const groups = Array.from({ length: 8 }, (_, i) => (octets[2 * i]! << 8) | octets[2 * i + 1]!);
  const { at, length } = longestZeros(groups);
  const text = (from: number, to: number): string =>
    groups
      .slice(from, to)
      .map((group) => group.toString(16))
      .join(':');
  return length < 2 ? text(0, 8) : `${text(0, at)}::${text(at + length, 8)}`;
}

/** Returns the first of the longest runs of zero groups. */
function longestZeros(groups: readonly number[]): { at: number; length: number } {
  let best = { at: 0, length: 0 };
  for (let at = 0; at < groups.length; at++) {
    let length = 0;
    while (groups[at + length] === 0) length++;
    if (length > best.length) best = { at, length };
  }
  return best;
}
