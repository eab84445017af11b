import { branch, type Element, leaf, readElements, writeElements } from './element.ts';
import type { Random } from './random.ts';

const longestInput = 60_000;
const tags = [
  0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0a, 0x0c, 0x12, 0x13, 0x14, 0x16, 0x17, 0x18, 0x1a, 0x1b, 0x1c, 0x1e,
  0x1f, 0x24, 0x30, 0x31, 0x80, 0x81, 0x82, 0x86, 0x87, 0x88, 0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa9, 0xff,
] as const;
const strings = [0x0c, 0x12, 0x13, 0x14, 0x16, 0x1a, 0x1c, 0x1e] as const;

/** Contents that decoders have stumbled over. */
const odd: readonly Uint8Array[] = [
  '',
  '00',
  'ff',
  '80',
  '0000',
  '0080',
  'ff7f',
  '5f402a26',
  'd83dde00',
  'd800',
  '0000d800',
  '00110000',
  'c3',
  'efbfbf',
  '0a0d00',
  '7f'.repeat(20),
  '2a0304',
  '2a8001',
  'ffffffffffffffffffff7f',
  '551d0f',
  '551d13',
  '551d1e',
  '2a864886f70d010101',
  Buffer.from('99991231235959Z').toString('hex'),
  Buffer.from('00000000000000Z').toString('hex'),
  Buffer.from('20260230000000Z').toString('hex'),
  Buffer.from('*.\u202e.example').toString('hex'),
].map((digits) => Uint8Array.from(Buffer.from(digits, 'hex')));

/**
 * An input with a few changes that keep most of its structure: elements are left out, repeated, moved, replaced by those of another
 * input, given other tags, contents and lengths. Input that is not DER is changed octet by octet.
 */
export function mutate(input: Uint8Array, others: readonly Uint8Array[], random: Random): Uint8Array {
  const elements = random.once(12) ? undefined : readElements(input);
  if (!elements || elements.length === 0) return mutateOctets(input, others, random);
  const root = branch(0x30, elements);
  for (let n = 1 + random.below(4); n > 0; n--) change(root, others, random);
  const output = writeElements(root.members ?? []);
  return output.length > longestInput ? input : output;
}

/** All elements that have members. */
function branches(element: Element, found: Element[] = []): Element[] {
  if (!element.members) return found;
  found.push(element);
  for (const member of element.members) branches(member, found);
  return found;
}

function change(root: Element, others: readonly Uint8Array[], random: Random): void {
  const { members } = random.pick(branches(root));
  if (!members || members.length === 0) return;
  const at = random.below(members.length);
  const one = members[at]!;
  switch (random.below(12)) {
    case 0:
      members.splice(at, 1);
      break;
    case 1:
      members.splice(at, 0, ...new Array(random.once(10) ? 300 : 1 + random.below(3)).fill(one));
      break;
    case 2:
      members.splice(random.below(members.length), 0, ...members.splice(at, 1));
      break;
    case 3: {
      const donors = branches(branch(0x30, readElements(random.pick(others)) ?? [])).flatMap(
        (b) => b.members ?? [],
      );
      if (donors.length > 0) members[at] = random.pick(donors);
      break;
    }
    case 4:
      members[at] = { ...one, tag: random.pick(tags) };
      break;
    case 5:
      members[at] = { ...one, length: random.pick(['long', 'indefinite', 'wrong']) };
      break;
    case 6: {
      let wrapped = one;
      for (let n = random.once(5) ? 150 : 1; n > 0; n--)
        wrapped = branch(random.pick([one.tag, 0x30, 0xa0]), [wrapped]);
      members[at] = wrapped;
      break;
    }
    case 7:
      members[at] = leaf(random.pick(strings), random.pick(odd));
      break;
    case 8:
      members[at] = leaf(
        0x02,
        random.once(4) ? new Uint8Array(20_000).fill(0x5a) : random.octets(1 + random.below(70)),
      );
      break;
    case 9:
      members[at] = leaf(one.tag, random.pick(odd));
      break;
    default:
      members[at] = one.members
        ? { ...one, members: [] }
        : leaf(one.tag, mutateOctets(one.contents, [odd[0]!], random));
  }
}

const words = [
  '"',
  '{',
  '}',
  '[',
  ']',
  ':',
  ',',
  '\\',
  '\\u0000',
  '\\ud800',
  '-----BEGIN CERTIFICATE-----',
  '-----END',
  '=',
  '+',
  '#',
  '\0',
  '\n',
  ';',
  '%00',
  '../',
  ' ',
  'null',
  '-1',
  '1e999',
  '__proto__',
  'ä',
  '\u202e',
  '{device.common_name}',
  '(?:',
  '{1,9}',
  '*',
] as const;

/** Octets flipped, left out, repeated and inserted; a piece of another input; words of texts. */
function mutateOctets(input: Uint8Array, others: readonly Uint8Array[], random: Random): Uint8Array {
  let output = Uint8Array.from(input);
  for (let n = 1 + random.below(3); n > 0; n--) {
    const at = random.below(output.length + 1);
    const end = Math.min(output.length, at + 1 + random.below(16));
    const around = (piece: Uint8Array, from: number): Uint8Array<ArrayBuffer> =>
      Uint8Array.from(Buffer.concat([output.subarray(0, at), piece, output.subarray(from)]));
    switch (random.below(7)) {
      case 0:
        if (at < output.length) output[at] = output[at]! ^ (1 << random.below(8));
        break;
      case 1:
        output = around(new Uint8Array(0), end);
        break;
      case 2:
        output = around(output.subarray(at, end), at);
        break;
      case 3:
        output = around(random.octets(1 + random.below(8)), at);
        break;
      case 4: {
        const other = random.pick(others);
        const from = random.below(other.length + 1);
        output = around(other.subarray(from, from + 40), end);
        break;
      }
      case 5:
        output = around(Buffer.from(random.pick(words).repeat(random.once(8) ? 2000 : 1)), end);
        break;
      default:
        output = around(random.pick(odd), end);
    }
  }
  return output.length > longestInput ? input : output;
}
