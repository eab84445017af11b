import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { fromHex, hex, sameBytes } from '#core/der/bytes.ts';
import { runs } from '#tests/property.ts';

test('octets are decoded from hexadecimal digits in either case', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (octets) => {
      expect(hex(octets)).toBe(Buffer.from(octets).toString('hex').toUpperCase());
      expect(fromHex(hex(octets))).toEqual(octets);
      expect(fromHex(hex(octets).toLowerCase())).toEqual(octets);
    }),
    runs(300),
  );
});

test.each(['a', '0x00', 'gg', '00 11', '00\n'])('"%s" is rejected as hexadecimal', (text) => {
  expect(fromHex(text)).toBeUndefined();
});

test('octets are compared as by Buffer', () => {
  const short = fc.uint8Array({ maxLength: 3, max: 2 });
  fc.assert(
    fc.property(short, short, (a, b) => {
      expect(sameBytes(a, b)).toBe(Buffer.compare(a, b) === 0);
    }),
    runs(500),
  );
});
