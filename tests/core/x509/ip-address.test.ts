import { describe, expect, test } from 'bun:test';
import { isIP } from 'node:net';
import fc from 'fast-check';
import { hex } from '#core/der/bytes.ts';
import { Fault } from '#core/fault.ts';
import { formatIpAddress, parseIpAddress } from '#core/x509/ip-address.ts';
import { runs } from '#tests/property.ts';

describe('IP addresses', () => {
  test.each([
    ['10.0.0.1', '0A000001', '10.0.0.1'],
    ['255.255.255.255', 'FFFFFFFF', '255.255.255.255'],
    ['::', '00000000000000000000000000000000', '::'],
    ['::1', '00000000000000000000000000000001', '::1'],
    ['2001:DB8::1', '20010DB8000000000000000000000001', '2001:db8::1'],
    ['1:0:0:2:0:0:0:3', '00010000000000020000000000000003', '1:0:0:2::3'],
    ['1:2:3:4:5:6:7:0', '00010002000300040005000600070000', '1:2:3:4:5:6:7:0'],
    ['1:2:3:4:5:6::', '00010002000300040005000600000000', '1:2:3:4:5:6::'],
    ['::ffff:10.0.0.1', '00000000000000000000FFFF0A000001', '::ffff:a00:1'],
  ])('%s', (text, octets, canonical) => {
    expect(hex(parseIpAddress(text))).toBe(octets);
    expect(formatIpAddress(parseIpAddress(text))).toBe(canonical);
  });

  test.each([
    '',
    '1.2.3',
    '1.2.3.4.5',
    '01.2.3.4',
    '1.2.3.256',
    ':::',
    '1::2::3',
    '1.2.3.4::1.2.3.4',
    '1:2:3:4:5:6:7:8::',
    'fe80::1%eth0',
  ])('%s is not an address', (text) => {
    expect(() => parseIpAddress(text)).toThrow(Fault);
  });

  test('are read from their text, as by the system', () => {
    const zeros = fc.constantFrom(0, 0, 1, 255);
    const v6 = fc.array(zeros, { minLength: 16, maxLength: 16 });
    const v4 = fc.array(fc.nat({ max: 255 }), { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(fc.oneof(v4, v6), (octets) => {
        const text = formatIpAddress(Uint8Array.from(octets));
        expect(isIP(text)).toBe(octets.length === 4 ? 4 : 6);
        expect([...parseIpAddress(text)]).toEqual(octets);
      }),
      runs(500),
    );
  });

  test('any other text is rejected, as by the system', () => {
    const piece = fc.constantFrom(':', '::', '.', '0', '1', 'ff', '256', '01', '12345', '1.2.3.4', 'g');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        if (isIP(text) !== 0) expect(() => parseIpAddress(text)).not.toThrow();
        else expect(() => parseIpAddress(text)).toThrow(Fault);
      }),
      runs(3000),
    );
  });
});
