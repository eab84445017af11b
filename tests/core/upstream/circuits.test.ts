import { expect, test } from 'bun:test';
import { Fault } from '#core/fault.ts';
import { Circuits } from '#core/upstream/circuits.ts';
import { testClock } from '#tests/fixtures/installation.ts';

test.each([10_000, -7_200_000])(
  'an upstream CA is called again after the clock moved by %d ms',
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

test('the state of a circuit shows when it opened, when it allows a call, and the latest result', async () => {
  const clock = testClock();
  const circuits = new Circuits(clock);
  const started = clock.now();
  const fail = (fault: unknown) => circuits.watch('plant', () => Promise.reject(fault)).catch(() => {});
  const unavailable = new Fault('unavailable', 'no answer');
  const untouched = {
    state: 'closed',
    failures: 0,
    since: null,
    nextTryAt: null,
    lastSuccessAt: null,
    lastError: null,
  } as const;
  expect(circuits.state('plant')).toEqual(untouched);

  await fail(unavailable);
  clock.advance(1000);
  await fail(unavailable);
  const lastError = { at: started + 1000, detail: 'no answer' };
  expect(circuits.state('plant')).toEqual({ ...untouched, failures: 2, lastError });

  await fail(unavailable);
  const open = { state: 'open', failures: 3, since: started + 1000, nextTryAt: started + 11_000 } as const;
  expect(circuits.state('plant')).toEqual({ ...untouched, ...open, lastError });

  clock.advance(10_000);
  const halfOpen = { ...untouched, ...open, state: 'halfOpen', nextTryAt: null, lastError } as const;
  expect(circuits.state('plant')).toEqual(halfOpen);
  await fail(unavailable);
  expect(circuits.state('plant')).toEqual({
    ...halfOpen,
    state: 'open',
    failures: 4,
    nextTryAt: started + 31_000,
    lastError: { at: started + 11_000, detail: 'no answer' },
  });

  // A refusal is a response: the circuit closes. An error that is not a Fault may contain anything, and is not shown.
  await fail(new Fault('forbidden', 'not you'));
  expect(circuits.state('plant')).toMatchObject({ state: 'closed', failures: 0, since: null });
  expect(circuits.state('plant').lastError?.detail).toBe('not you');
  await fail(new Error('the password is x'));
  expect(circuits.state('plant').lastError?.detail).toBe('internal error');

  await circuits.watch('plant', () => Promise.resolve());
  expect(circuits.state('plant')).toMatchObject({ state: 'closed', lastSuccessAt: started + 11_000 });
});
