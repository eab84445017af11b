import { Fault } from '../fault.ts';

const bad = (text: string): Fault => new Fault('malformed', `not an IP address: ${text.slice(0, 80)}`);

/** Dotted decimal (4 octets) or RFC 4291 §2.2 text (16 octets). Faults: malformed. */
export function parseIpAddress(text: string): Uint8Array {
  if (!text.includes(':')) return Uint8Array.from(parseV4(text, text));
  const halves = text.split('::');
  if (halves.length > 2 || text.length > 45) throw bad(text);
  const [head, tail] = halves.map((half) => parseGroups(half, text)) as [number[], number[] | undefined];
  if (!tail) {
    if (head.length !== 16) throw bad(text);
    return Uint8Array.from(head);
  }
  const missing = 16 - head.length - tail.length;
  if (missing < 2) throw bad(text);
  return Uint8Array.from([...head, ...new Array<number>(missing).fill(0), ...tail]);
}

function parseGroups(half: string, whole: string): number[] {
  if (half === '') return [];
  const octets: number[] = [];
  const groups = half.split(':');
  groups.forEach((group, i) => {
    if (i === groups.length - 1 && group.includes('.') && whole.endsWith(group)) {
      octets.push(...parseV4(group, whole));
      return;
    }
    if (!/^[0-9a-f]{1,4}$/i.test(group)) throw bad(whole);
    const value = Number.parseInt(group, 16);
    octets.push(value >> 8, value & 0xff);
  });
  return octets;
}

function parseV4(text: string, whole: string): number[] {
  const parts = text.split('.');
  // No leading zeros: some take them for octal.
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)) {
    throw bad(whole);
  }
  return parts.map(Number);
}

/** Of 4 or 16 octets; IPv6 as RFC 5952 §4 writes it. */
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

/** The first of the longest runs. */
function longestZeros(groups: readonly number[]): { at: number; length: number } {
  let best = { at: 0, length: 0 };
  for (let at = 0; at < groups.length; at++) {
    let length = 0;
    while (groups[at + length] === 0) length++;
    if (length > best.length) best = { at, length };
  }
  return best;
}
