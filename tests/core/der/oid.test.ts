import { describe, expect, test } from 'bun:test';
import * as asn1js from 'asn1js';
import fc from 'fast-check';
import { hex } from '#core/der/bytes.ts';
import { decodeOid, encodeOid } from '#core/der/oid.ts';
import { Fault } from '#core/fault.ts';
import { runs } from '#tests/property.ts';

const arc = fc.nat({ max: 2 ** 31 - 1 });
const uuid = fc.bigInt({ min: 0n, max: 2n ** 128n - 1n });
const oids = fc
  .tuple(
    fc.oneof(
      fc.tuple(fc.constantFrom(0, 1), fc.nat({ max: 39 })),
      fc.tuple(fc.constant(2), fc.nat({ max: 2 ** 20 })),
    ),
    fc.array(arc, { maxLength: 8 }),
  )
  .map(([first, rest]) => [...first, ...rest].join('.'));

describe('OBJECT IDENTIFIER', () => {
  test.each([
    ['1.2.840.113549', '2A864886F70D'],
    ['2.5.4.3', '550403'],
    ['2.999.3', '883703'],
    ['0.9.2342.19200300.100.1.25', '0992268993F22C640119'],
    ['2.16.840.1.101.3.4.3.17', '608648016503040311'],
    ['0.0', '00'],
    // A UUID according to X.667 §7, encoded by OpenSSL.
    ['2.25.329800735698586629295641978511506172918', '6983F09DA7EBCFDEE0C7A1A7B2C0948CC8F9D776'],
    ['1.2.340282366920938463463374607431768211455', '2A83FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF7F'],
  ])('%s is encoded as %s', (text, contents) => {
    expect(hex(encodeOid(text))).toBe(contents);
    expect(decodeOid(Buffer.from(contents, 'hex'))).toBe(text);
  });

  test('every OID is decoded as it was encoded', () => {
    fc.assert(
      fc.property(oids, uuid, (short, last) => {
        for (const text of [short, `${short}.${last}`]) expect(decodeOid(encodeOid(text))).toBe(text);
      }),
      runs(1000),
    );
  });

  test('asn1js decodes the same OID', () => {
    fc.assert(
      fc.property(oids, (text) => {
        const contents = encodeOid(text);
        const { result } = asn1js.fromBER(Uint8Array.of(6, contents.length, ...contents));
        expect((result as asn1js.ObjectIdentifier).valueBlock.toString()).toBe(text);
      }),
      runs(300),
    );
  });

  test.each([
    '',
    '1',
    '1.',
    '3.1',
    '1.40',
    '0.40.1',
    '1.02',
    '1.2.-1',
    '1..2',
    ' 1.2',
    '1.2 ',
    '1.2.a',
    '1.2.340282366920938463463374607431768211456',
  ])('the text "%s" is rejected', (text) => {
    expect(() => encodeOid(text)).toThrow(Fault);
  });

  test.each([
    ['nothing', ''],
    ['an arc with leading zeros', '2a8001'],
    ['an arc that is truncated', '2a86'],
    ['an arc of more than 128 bits', `2a84${'80'.repeat(17)}00`],
    ['an arc of the maximum length of an OID', `2a${'ff'.repeat(62)}7f`],
    ['more than 64 octets', '2a'.repeat(65)],
  ])('%s is rejected', (_, contents) => {
    expect(() => decodeOid(Buffer.from(contents, 'hex'))).toThrow(Fault);
  });

  test('arbitrary octets give a Fault, or an OID with that encoding', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 20 }), (octets) => {
        let text: string;
        try {
          text = decodeOid(octets);
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
          return;
        }
        expect(encodeOid(text)).toEqual(octets);
      }),
      runs(2000),
    );
  });
});
