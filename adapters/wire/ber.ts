import { der } from '#core/der/builder.ts';
import { Fault } from '#core/fault.ts';

const deepest = 32;
const constructed = 0x20;
const octetString = 0x04;

/**
 * Converts a BER value (X.690 §8), which older tools write for PKCS #7 and PKCS #12, to a form that a DER reader
 * accepts: definite lengths and strings in one piece. A value that already has this form is returned unchanged. Faults:
 * malformed.
 */
export function berToDer(ber: Uint8Array): Uint8Array {
  const { value, end } = convert(ber, 0, ber.length, 0);
  if (end !== ber.length) throw bad('unexpected octets after the value');
  return value;
}

interface Converted {
  /** The converted encoding. */
  readonly value: Uint8Array;
  /** The position after the value. */
  readonly end: number;
  /** Whether the conversion changed the encoding. */
  readonly changed: boolean;
}

function convert(bytes: Uint8Array, start: number, limit: number, depth: number): Converted {
  if (depth > deepest) throw bad('nested too deeply');
  if (limit - start < 2) throw bad('too short');
  const identifier = bytes[start]!;
  if ((identifier & 0x1f) === 0x1f) throw bad('multi-octet tag');
  const { length, at } = readLength(bytes, start + 1, limit);
  if (length === undefined && !(identifier & constructed))
    throw bad('a primitive value has an indefinite length');
  if (!(identifier & constructed)) {
    const end = at + length!;
    return { value: bytes.subarray(start, end), end, changed: false };
  }
  const members: Uint8Array[] = [];
  let changed = length === undefined || identifier === (octetString | constructed);
  let next = at;
  const end = length === undefined ? limit : at + length;
  while (length === undefined ? !isEndOfContents(bytes, next, limit) : next < end) {
    const member = convert(bytes, next, end, depth + 1);
    members.push(member.value);
    changed ||= member.changed;
    next = member.end;
  }
  if (length === undefined) next += 2;
  if (!changed) return { value: bytes.subarray(start, next), end: next, changed };
  return { value: assembled(identifier, members), end: next, changed };
}

function assembled(identifier: number, members: readonly Uint8Array[]): Uint8Array {
  if (identifier !== (octetString | constructed)) {
    return der((b) =>
      b.add(identifier, (inner) => {
        for (const member of members) inner.raw(member);
      }),
    );
  }
  return der((b) => b.octetString(joined(members)));
}

/** Concatenates the contents of OCTET STRINGs (DER). Faults: malformed. */
function joined(members: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(
    members.map((member) => {
      if (member[0] !== octetString) throw bad('a piece of a string is not a string');
      return member.subarray(readLength(member, 1, member.length).at);
    }),
  );
}

function isEndOfContents(bytes: Uint8Array, at: number, limit: number): boolean {
  if (limit - at < 2) throw bad('too short');
  return bytes[at] === 0 && bytes[at + 1] === 0;
}

/** Returns the length, undefined if indefinite, and `at`, the position of the contents. */
function readLength(bytes: Uint8Array, from: number, limit: number) {
  const first = bytes[from]!;
  let at = from + 1;
  if (first === 0x80) return { length: undefined, at };
  let length = first;
  if (first > 0x80) {
    const octets = first & 0x7f;
    if (octets > 4 || at + octets > limit) throw bad('bad length');
    length = 0;
    for (let i = 0; i < octets; i++) length = length * 256 + bytes[at++]!;
  }
  if (length > limit - at) throw bad('too short');
  return { length, at };
}

const bad = (detail: string): Fault => new Fault('malformed', `BER: ${detail}`);
