import { expect, test } from 'bun:test';
import { headerOf } from '#adapters/inbound/http/header.ts';

test('names are in lower case, and repeated fields are one list', () => {
  const header = headerOf(['X-A', '1', 'Cookie', 'a=b', 'x-a', '2', 'cookie', 'c=d', 'Accept', '']);
  expect({ ...(header as object) }).toEqual({ 'x-a': '1, 2', cookie: 'a=b; c=d', accept: '' });
});

test.each(['Host', 'Authorization', 'Content-Type', 'Expect'])('%s cannot come twice', (name) => {
  expect(headerOf([name, 'a', name.toLowerCase(), 'a'])).toBe(
    `the field ${name.toLowerCase()} must not be repeated`,
  );
});

test('a name that is also a property of objects is a name', () => {
  const header = headerOf(['__proto__', 'a', 'constructor', 'b']);
  expect(Object.entries(header)).toEqual([
    ['__proto__', 'a'],
    ['constructor', 'b'],
  ]);
  expect(Object.entries(headerOf([]))).toEqual([]);
  expect((headerOf([]) as Record<string, unknown>).tostring).toBeUndefined();
});
