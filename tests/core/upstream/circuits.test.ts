import { expect, test } from 'bun:test';
import { Fault } from '#core/fault.ts';
import { Circuits } from '#core/upstream/circuits.ts';
import { testClock } from '#tests/fixtures/installation.ts';

test.each([10_000, -7_200_000])(
  'an upstream is asked again once the clock has moved by %d ms',
  async (by) => {
    const clock = testClock();
    const circuits = new Circuits(clock);
    const call = () => Promise.reject(new Fault('unavailable', 'no answer'));
    for (let n = 0; n < 3; n++) await circuits.watch('plant', call).catch(() => {});
    expect(circuits.isOpen('plant')).toBe(true);
    clock.advance(by);
    expect(circuits.isOpen('plant')).toBe(false);
    expect(() => circuits.demand('plant')).not.toThrow();
  },
);
