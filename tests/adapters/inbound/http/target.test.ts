import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { findMount, isHost, orderMounts, parseTarget } from '#adapters/inbound/http/target.ts';
import { runs } from '#tests/property.ts';
import { mount, text } from './fixture.ts';

describe('a request target is forwarded as it was sent', () => {
  test.each([
    ['/', '/', ''],
    ['/?', '/', ''],
    ['/a/b?c=d?e', '/a/b', 'c=d?e'],
    ['/a/../b/./c', '/a/../b/./c', ''],
    ['/a%2fb%2E%2e', '/a%2fb%2E%2e', ''],
    ['//host/a', '//host/a', ''],
    ['/a/', '/a/', ''],
    ['/a?x=%00%0a', '/a', 'x=%00%0a'],
    ['/a?x=\\{|}', '/a', 'x=\\{|}'],
  ])('%s', (target, path, query) => {
    expect(parseTarget(target)).toEqual({ path, query });
  });
});

describe('a request target in absolute-form loses scheme and authority (RFC 9112 §3.2.2)', () => {
  test.each([
    ['http://pki/a', '/a', ''],
    ['HTTPS://pki.example:8443/a/../b?c', '/a/../b', 'c'],
    ['https://[::1]:8443/a', '/a', ''],
    ['http://pki', '/', ''],
    ['http://pki?a', '/', 'a'],
    ['http://pki//a', '//a', ''],
  ])('%s', (target, path, query) => {
    expect(parseTarget(target)).toEqual({ path, query });
  });
});

describe('a Host field', () => {
  test.each(['', 'pki', 'pki.example:8443', '[::1]:8443', '10.0.0.5', 'p_k-i'])('may be %p', (value) => {
    expect(isHost(value)).toBe(true);
  });

  test.each(['a b', 'a/b', 'user@pki', 'a?b', 'a#b', 'a\\b', 'a"b', 'ä', 'a\tb', 'http://pki'])(
    'cannot be %p',
    (value) => {
      expect(isHost(value)).toBe(false);
    },
  );
});

describe('a request target is rejected:', () => {
  test.each([
    '',
    '*',
    'a',
    '?a',
    'http://',
    'http:///a',
    'http://user@pki/a',
    'http://pki\\a',
    'http://pki/a#b',
    'http://pki#a',
    'ftp://pki/a',
    'http:/a',
    'pki:443',
    '/a#b',
    '/a?b#c',
    '/a\\b',
    '/a b',
    '/a\0b',
    '/a\tb',
    '/a?b\x7f',
    '/ä',
    '/a%00',
    '/a%0ab',
    '/a%1F',
    '/a%7f',
  ])('%p', (target) => {
    expect(parseTarget(target)).toBeUndefined();
  });

  test('or is unchanged', () => {
    fc.assert(
      fc.property(fc.string(), (rest) => {
        const parsed = parseTarget(`/${rest}`);
        if (!parsed) return;
        const mark = rest.includes('?') ? '?' : '';
        expect(parsed.path + mark + parsed.query).toBe(`/${rest}`);
        expect(parsed.path).toMatch(/^\/[!-~]*$/);
      }),
      runs(1_000),
    );
  });
});

describe('the longest prefix that ends at a segment boundary wins', () => {
  const at = (prefix: string) => mount(prefix, () => text(''));
  const mounts = orderMounts(['/', '/api', '/api/deep', '/.well-known/est'].map(at));

  test.each([
    ['/', '/'],
    ['/apis', '/'],
    ['/api', '/api'],
    ['/api/', '/api'],
    ['/api/deep', '/api/deep'],
    ['/api/deeper', '/api'],
    ['/API', '/'],
    ['/%61pi', '/'],
    ['/.well-known/est/cacerts', '/.well-known/est'],
    ['/.well-known/cmp', '/'],
  ])('%s is for %s', (path, prefix) => {
    expect(findMount(mounts, path)?.prefix).toBe(prefix);
  });

  test('and without a match there is none', () => {
    expect(findMount([at('/api')], '/other')).toBeUndefined();
  });

  test.each([[['']], [['api']], [['/api/']], [['/api', '/api']]])('%p cannot be mounted', (prefixes) => {
    expect(() => orderMounts(prefixes.map(at))).toThrow('the mount prefix');
  });
});
