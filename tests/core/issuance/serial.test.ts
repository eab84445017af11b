import { describe, expect, test } from 'bun:test';
import { hex } from '#core/der/bytes.ts';
import { newSerial } from '#core/issuance/serial.ts';

const entropy = (octet: number) => ({ bytes: (octets: number) => new Uint8Array(octets).fill(octet) });
const serialAt = (time: number, octet: number): string => hex(newSerial({ now: () => time }, entropy(octet)));

describe('a serial number', () => {
  test.each([
    ['begins with the time in milliseconds', 0x01a0_b1c2_d3ff, 0xee, '01A0B1C2D3FF'],
    ['carries no octet of the time into the next', 0x0100_ff00_ff00, 0x00, '0100FF00FF00'],
    ['has no leading zero octet with a clock at its start', 0, 0xff, '010000000000'],
    ['has no leading zero octet with a clock that is far behind', 0xff_ffff_ffff, 0xff, '01FFFFFFFFFF'],
    ['keeps a first octet that is not zero', 0x0200_0000_0000, 0x7f, '020000000000'],
  ])('%s', (_what, time, octet, beginning) => {
    const expected = `${beginning}${hex(new Uint8Array(10).fill(octet))}`;
    expect(serialAt(time, octet)).toBe(expected);
  });

  test('differs from the next one at the same time by its random octets', () => {
    expect(serialAt(1_790_000_000_000, 1)).not.toBe(serialAt(1_790_000_000_000, 2));
    expect(serialAt(1_790_000_000_000, 1).slice(0, 12)).toBe(serialAt(1_790_000_000_000, 2).slice(0, 12));
  });
});

test('has 16 octets, of which ten are random', () => {
  let asked = 0;
  newSerial(
    { now: () => 1_790_000_000_000 },
    {
      bytes(octets) {
        asked = octets;
        return new Uint8Array(octets);
      },
    },
  );
  expect(asked).toBe(16);
});
