import { describe, expect, test } from 'bun:test';
import {
  type Attempt,
  counted,
  failureText,
  readFailure,
  subjectsOf,
} from '#core/accounts/throttle-subjects.ts';

const attempt = (changed: Partial<Attempt>): Attempt => ({
  realm: 'device',
  name: 'pump-1',
  address: '192.0.2.7',
  ...changed,
});

describe('an attempt', () => {
  test.each([
    ['192.0.2.7', '192.0.2.7'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:0:0:1:2:3:4', '2001:db8:0:0::/64'],
    ['2001::1:2:3:4:5', '2001:0:0:1::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:3::', '2001:db8:1:2::/64'],
    ['1::3:4:5:6:7:8', '1:0:3:4::/64'],
    ['::3:4:5:6:7:8', '0:0:3:4::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['fe80::', 'fe80:0:0:0::/64'],
  ])('from %s counts for %s', (address, network) => {
    expect(counted(attempt({ address })).address).toBe(network);
  });

  test('counts by the first hundred characters of the name that a database can store', () => {
    const name = `a\0b\ud800${'x'.repeat(200)}`;
    expect(counted(attempt({ name })).name).toBe(`a\ufffdb\ufffd${'x'.repeat(96)}`);
  });

  test('has counters of its own for its kind of account, name and address', () => {
    const subjects = [
      attempt({}),
      attempt({ realm: 'user' }),
      attempt({ name: 'pump-2' }),
      attempt({ address: '192.0.2.8' }),
    ].map(subjectsOf);
    const distinct = (key: 'pair' | 'name' | 'address') => new Set(subjects.map((one) => one[key])).size;
    expect([distinct('pair'), distinct('name'), distinct('address')]).toEqual([4, 3, 3]);
  });

  test.each([true, false])('that failed is read as it was stored (known: %p)', (isKnown) => {
    const failed = attempt({ name: 'two words\nand a line', realm: 'serviceAccount' });
    expect(readFailure(failureText(failed, isKnown))).toEqual({ attempt: failed, isKnown });
  });

  test.each(['', 'other known 192.0.2.7 x', 'user maybe 192.0.2.7 x', 'user known'])(
    'is not read from the stored text %p',
    (text) => {
      expect(readFailure(text)).toBeUndefined();
    },
  );
});
