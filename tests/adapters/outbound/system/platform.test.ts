import { expect, test } from 'bun:test';
import { systemClock, systemEntropy } from '#adapters/outbound/system/platform.ts';

test('the clock returns milliseconds since 1970', () => {
  const before = Date.now();
  const now = systemClock.now();
  expect(now).toBeGreaterThanOrEqual(before);
  expect(now).toBeLessThanOrEqual(Date.now());
});

test('entropy returns a new array of any length each time', () => {
  const seen = new Set<string>();
  for (let i = 0; i < 1000; i++) seen.add(Buffer.from(systemEntropy.bytes(16)).toString('hex'));
  expect(seen.size).toBe(1000);
  for (const length of [0, 1, 20, 100_000]) expect(systemEntropy.bytes(length)).toHaveLength(length);
  expect(systemEntropy.bytes(16).buffer.byteLength).toBe(16);
});

test('entropy has each bit set about half of the time', () => {
  const counts = new Array<number>(8).fill(0);
  for (const octet of systemEntropy.bytes(80_000))
    for (let bit = 0; bit < 8; bit++) counts[bit]! += (octet >> bit) & 1;
  // Ten standard deviations.
  for (const count of counts) expect(Math.abs(count - 40_000)).toBeLessThan(1500);
});
