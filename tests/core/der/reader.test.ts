import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { der } from '#core/der/builder.ts';
import { DerReader, readDer } from '#core/der/reader.ts';
import { context, contextConstructed, tag } from '#core/der/tag.ts';
import { Fault } from '#core/fault.ts';
import { runs } from '#tests/property.ts';

const bytes = (digits: string): Uint8Array => new Uint8Array(Buffer.from(digits.replaceAll(' ', ''), 'hex'));
const reading =
  (digits: string, read: (reader: DerReader) => unknown): (() => unknown) =>
  () =>
    readDer(bytes(digits), read);

describe('BER that is not DER (X.690)', () => {
  test.each<[string, string, (reader: DerReader) => unknown]>([
    ['indefinite length', '30 80 05 00 00 00', (r) => r.sequence()],
    ['a length in more octets than needed', '04 81 01 00', (r) => r.octetString()],
    ['a length with a leading zero', '04 82 00 80 00', (r) => r.octetString()],
    ['a length of five octets', '04 85 01 00 00 00 00', (r) => r.octetString()],
    ['a length beyond the end', '04 02 00', (r) => r.octetString()],
    ['a length beyond the enclosing element', '30 02 04 01 00', (r) => r.sequence().octetString()],
    [
      'a length beyond the element around the enclosing one',
      '30 05 30 02 04 01 00',
      (r) => r.sequence().sequence().octetString(),
    ],
    ['a missing length', '04', (r) => r.octetString()],
    ['half a length', '04 82 01', (r) => r.octetString()],
    ['a length with a leading zero', `04 82 00 80 ${'00 '.repeat(128)}`, (r) => r.octetString()],
    ['a length of 128 octets in three', `04 83 00 00 80 ${'00 '.repeat(128)}`, (r) => r.octetString()],
    ['a tag number above 30', '1f 81 00 00', (r) => r.element()],
    ['another tag', '05 00', (r) => r.boolean()],
    ['nothing', '', (r) => r.element()],
    ['trailing bytes', '05 00 00', (r) => r.null()],
    ['an octet string in pieces', '24 03 04 01 00', (r) => r.octetString()],
    ['TRUE other than FF', '01 01 01', (r) => r.boolean()],
    ['a boolean of two octets', '01 02 ff ff', (r) => r.boolean()],
    ['an empty integer', '02 00', (r) => r.integer()],
    ['a padded positive integer', '02 02 00 7f', (r) => r.integer()],
    ['a padded negative integer', '02 02 ff 80', (r) => r.integer()],
    ['an integer of 65 octets', `02 41 01 ${'00 '.repeat(64)}`, (r) => r.integer()],
    ['a NULL with contents', '05 01 00', (r) => r.null()],
    ['a bit string without its count', '03 00', (r) => r.bitString()],
    ['a bit string with 8 unused bits', '03 02 08 00', (r) => r.bitString()],
    ['a bit string with unused bits but no octets', '03 01 01', (r) => r.bitString()],
    ['a bit string whose unused bits are set', '03 02 01 01', (r) => r.bitString()],
    [
      'a bit string with part of an octet where octets are expected',
      '03 02 01 02',
      (r) => r.bitStringBytes(),
    ],
    ['text that is not UTF-8', '0c 02 c3 28', (r) => r.utf8String()],
    ['overlong UTF-8', '0c 02 c0 80', (r) => r.utf8String()],
    ['a surrogate in UTF-8', '0c 03 ed a0 80', (r) => r.utf8String()],
    ['IA5 text above 7F', '16 01 80', (r) => r.asciiString()],
    ['another type in place of a time', '04 00', (r) => r.time()],
  ])('%s is rejected', (_, digits, read) => {
    expect(reading(digits, read)).toThrow(Fault);
  });
});

describe('DerReader', () => {
  test.each<[string, (reader: DerReader) => unknown, unknown]>([
    ['01 01 ff', (r) => r.boolean(), true],
    ['01 01 00', (r) => r.boolean(), false],
    ['02 01 00', (r) => r.integer(), 0n],
    ['02 01 80', (r) => r.integer(), -128n],
    ['02 02 00 80', (r) => r.integer(), 128n],
    ['02 02 00 80', (r) => r.smallInteger(128), 128],
    ['02 09 01 00 00 00 00 00 00 00 00', (r) => r.integer(), 2n ** 64n],
    [`02 40 7f ${'00 '.repeat(63)}`, (r) => r.integer(), 0x7fn << 504n],
    [`02 40 80 ${'00 '.repeat(63)}`, (r) => r.integer(), -(1n << 511n)],
    ['06 03 55 04 03', (r) => r.oid(), '2.5.4.3'],
    ['03 02 07 80', (r) => r.bitString(), { unused: 7, bytes: Uint8Array.of(0x80) }],
    ['03 01 00', (r) => r.bitString(), { unused: 0, bytes: new Uint8Array() }],
    ['0c 02 c3 bc', (r) => r.utf8String(), 'ü'],
    ['0c 03 ef bb bf', (r) => r.utf8String(), '\ufeff'],
    ['16 01 41', (r) => r.asciiString(), 'A'],
    ['17 0d 37 30 30 31 30 31 30 30 30 30 30 30 5a', (r) => r.time(), 0],
    ['80 01 05', (r) => r.smallInteger(5, context(0)), 5],
    ['a0 02 05 00', (r) => r.read(contextConstructed(0)).null(), undefined],
    ['05 00', (r) => [r.optional(tag.integer), r.null()], [undefined, undefined]],
  ])('%s is read', (digits, read, value) => {
    expect(readDer(bytes(digits), read)).toEqual(value);
  });

  test.each([
    ['02 01 80', 2 ** 48],
    ['02 01 06', 5],
    ['02 08 01 00 00 00 00 00 00 00', 2 ** 48],
  ])('the small integer %s is rejected above %d', (digits, max) => {
    expect(reading(digits, (r) => r.smallInteger(max))).toThrow(Fault);
  });

  test('element returns the whole element, contents its value, rest the remaining input', () => {
    const reader = new DerReader(bytes('04 02 01 02 05 00'));
    expect(reader.element()).toEqual(bytes('04 02 01 02'));
    expect(reader.rest()).toEqual(bytes('05 00'));
    expect(reader.contents(tag.null)).toEqual(new Uint8Array());
    expect([reader.empty, reader.peek()]).toEqual([true, -1]);
  });

  test('values are views into the input, also into a part of a larger buffer', () => {
    const larger = bytes('ff 04 01 07 ff');
    const value = readDer(larger.subarray(1, 4), (r) => r.octetString());
    larger[3] = 8;
    expect(value).toEqual(Uint8Array.of(8));
  });

  test('skip passes over one element and returns its length', () => {
    const reader = new DerReader(bytes('04 02 01 02 05 00'));
    expect(reader.skip(tag.octetString)).toBe(4);
    expect(() => reader.skip(tag.octetString)).toThrow(Fault);
    expect(reader.skip()).toBe(2);
    reader.finish();
  });

  test('an optional element that is invalid is rejected, not skipped', () => {
    expect(reading('02 05 00', (r) => r.optional(tag.integer))).toThrow(Fault);
  });

  test('arbitrary octets give a value or a Fault with every method', () => {
    const reads: ((reader: DerReader) => unknown)[] = [
      (r) => r.boolean(),
      (r) => r.integer(),
      (r) => r.smallInteger(1000),
      (r) => r.oid(),
      (r) => r.bitString(),
      (r) => r.null(),
      (r) => r.utf8String(),
      (r) => r.asciiString(),
      (r) => r.time(),
      (r) => r.generalizedTime(),
      (r) => r.sequence().element(),
      (r) => r.element(),
    ];
    const octets = fc.tuple(
      fc.constantFrom(1, 2, 3, 5, 6, 12, 22, 23, 24, 48),
      fc.uint8Array({ maxLength: 40 }),
    );
    fc.assert(
      fc.property(octets, fc.constantFrom(...reads), ([first, rest], read) => {
        try {
          readDer(Uint8Array.of(first, ...rest), read);
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
          expect((error as Fault).code).toBe('malformed');
        }
      }),
      runs(3000),
    );
  });

  test('a tree is built with the octets it was read from', () => {
    const copy = (reader: DerReader): Uint8Array =>
      der((b) => {
        while (!reader.empty) {
          const identifier = reader.peek();
          if ((identifier & 0x20) !== 0) b.add(identifier, copy(reader.read(identifier)));
          else b.add(identifier, reader.contents(identifier));
        }
      });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (octets) => {
        let copied: Uint8Array;
        try {
          copied = copy(new DerReader(octets));
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
          return;
        }
        expect(copied).toEqual(octets);
      }),
      runs(3000),
    );
  });
});
