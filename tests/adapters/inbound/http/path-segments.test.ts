import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { pathSegments } from '#adapters/inbound/http/path-segments.ts';
import { runs } from '#tests/property.ts';

describe('path segments', () => {
  test.each([
    ['', []],
    ['/', []],
    ['/a', ['a']],
    ['/a/', ['a']],
    ['/a/b/c/', ['a', 'b', 'c']],
    ['/%61%2Db', ['a-b']],
    ['/%7etls', ['~tls']],
    ['/werk%20m%C3%BCnchen', ['werk münchen']],
    ['/a+b', ['a+b']],
    ['/..', ['..']],
  ])('%j are %j', (path, segments) => {
    expect(pathSegments(path)).toEqual(segments);
  });

  test.each([
    ['an empty segment', '//'],
    ['an empty segment inside', '/a//b'],
    ['two slashes at the end', '/a//'],
    ['no slash at the beginning', 'a'],
    ['a stray percent sign', '/100%'],
    ['half an octet', '/%4'],
    ['no hexadecimal', '/%zz'],
    ['an octet that is not UTF-8', '/%ff'],
    ['an overlong form', '/%c0%af'],
    ['a surrogate', '/%ed%a0%80'],
    ['an encoded slash', '/a%2fb'],
    ['an encoded backslash', '/a%5Cb'],
    ['a backslash', '/a\\b'],
    ['NUL', '/a%00'],
    ['a line end', '/a%0d%0a'],
    ['DEL', '/a%7f'],
    ['a C1 control', '/a%C2%85'],
    ['a plain space', '/a b'],
    ['plain non-ASCII', '/mü'],
    ['a name of 257 characters', `/${'a'.repeat(257)}`],
  ])('are rejected for %s', (_, path) => {
    expect(pathSegments(path)).toBeUndefined();
  });

  test('are read as they were encoded', () => {
    const name = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
      .filter((text) => text.length <= 256 && !/[\u0000-\u001f\u007f-\u009f/\\]/.test(text));
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), (names) => {
        const path = names.map((segment) => `/${encodeURIComponent(segment)}`).join('');
        expect(pathSegments(path)).toEqual(names);
      }),
      runs(300),
    );
  });
});
