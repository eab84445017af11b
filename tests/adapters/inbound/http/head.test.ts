import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { framing, isLast, parseHead } from '#adapters/inbound/http/head.ts';
import { runs } from '#tests/property.ts';

const head = (...lines: readonly string[]): string => lines.join('\r\n');

describe('a header is read', () => {
  test('with its line and its fields, names in lower case', () => {
    expect(parseHead(head('POST /a?b HTTP/1.1', 'Host: pki', 'X-A:\t b c \t', 'x-a: d', 'Y:'))).toEqual({
      method: 'POST',
      target: '/a?b',
      version: '1.1',
      headers: Object.assign(Object.create(null), { host: 'pki', 'x-a': 'b c, d', y: '' }),
      fields: 4,
      hosts: 1,
    });
  });

  test('without inheriting anything', () => {
    const { headers } = parseHead(head('GET / HTTP/1.1', '__proto__: a'))!;
    expect(Object.keys(headers)).toEqual(['__proto__']);
    expect(headers['constructor' as string]).toBeUndefined();
  });

  test.each([
    ['no version', 'GET /'],
    ['another version', 'GET / HTTP/2.0'],
    ['a version in lower case', 'GET / http/1.1'],
    ['two spaces', 'GET  / HTTP/1.1'],
    ['a space at the end', 'GET / HTTP/1.1 '],
    ['a method that is no token', 'G@T / HTTP/1.1'],
    ['a control character in the target', 'GET /\x7f HTTP/1.1'],
    ['a field without a colon', head('GET / HTTP/1.1', 'X')],
    ['a field without a name', head('GET / HTTP/1.1', ': a')],
    ['a name with a space behind it', head('GET / HTTP/1.1', 'X : a')],
    ['a folded field', head('GET / HTTP/1.1', 'X: a', ' b')],
    ['an empty line', head('GET / HTTP/1.1', '', 'X: a')],
    ['a bare line feed', head('GET / HTTP/1.1', 'X: a\nY: b')],
    ['a bare carriage return', head('GET / HTTP/1.1', 'X: a\rY: b')],
    ['a NUL', head('GET / HTTP/1.1', 'X: \0')],
  ])('not with %s', (_what, text) => {
    expect(parseHead(text)).toBeUndefined();
  });

  test('or refused, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const read = parseHead(text);
        expect(read === undefined || read.fields === text.split('\r\n').length - 1).toBe(true);
      }),
      runs(1000),
    );
  });
});

describe('the response to it is the last', () => {
  test.each([
    ['1.1', undefined, false],
    ['1.1', 'keep-alive', false],
    ['1.1', 'close', true],
    ['1.1', 'TE, Close', true],
    ['1.1', 'closed', false],
    ['1.0', undefined, true],
  ])('in HTTP/%s with Connection: %p: %p', (version, connection, last) => {
    const fields = connection === undefined ? [] : [`Connection: ${connection}`];
    expect(isLast(parseHead(head(`GET / HTTP/${version}`, ...fields))!)).toBe(last);
  });
});

describe('the length of its body', () => {
  test.each<[readonly string[], number | 'chunked' | undefined]>([
    [[], 0],
    [['Content-Length: 0'], 0],
    [['Content-Length: 12'], 12],
    [['Content-Length: 012'], 12],
    [['Content-Length: 99999999999999999999'], 1e20],
    [['Transfer-Encoding: Chunked'], 'chunked'],
    [['Content-Length:'], undefined],
    [['Content-Length: 0x10'], undefined],
    [['Content-Length: 1.5'], undefined],
    [['Content-Length: 1', 'Content-Length: 1'], undefined],
    [['Content-Length: 1', 'Transfer-Encoding: chunked'], undefined],
    [['Transfer-Encoding:'], undefined],
    [['Transfer-Encoding: chunked, identity'], undefined],
    [['Host: other'], undefined],
  ])('%p: %p', (fields, length) => {
    const framed = framing(parseHead(head('POST / HTTP/1.1', 'Host: pki', ...fields))!);
    expect(typeof framed === 'string' ? undefined : framed.length).toBe(length);
  });
});
