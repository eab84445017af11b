import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ChunkedBody, SizedBody } from '#adapters/inbound/http/body.ts';
import { framing } from '#adapters/inbound/http/head.ts';
import { RequestReader } from '#adapters/inbound/http/request-reader.ts';
import { runs } from '#tests/property.ts';

/** What a reader makes of octets that come in these pieces: targets and bodies, and how it ended. */
function read(pieces: readonly Buffer[], limit = 100): string[] {
  const seen: string[] = [];
  const done = (body: Uint8Array | undefined): void => {
    seen.push(body ? `body ${Buffer.from(body).toString('latin1')}` : 'too long');
  };
  const reader = new RequestReader(200, {
    head(head) {
      seen.push(head.target);
      const framed = framing(head);
      if (typeof framed === 'string' || framed.length === 0) return undefined;
      return framed.length === 'chunked' ? new ChunkedBody(limit, done) : new SizedBody(framed.length, done);
    },
    unreadable: (tooLong) => seen.push(tooLong ? 'head too long' : 'unreadable'),
  });
  for (const piece of pieces) reader.push(piece);
  return seen;
}

const whole = (text: string): Buffer[] => [Buffer.from(text, 'latin1')];
const get = (target: string): string => `GET ${target} HTTP/1.1\r\nHost: pki\r\n\r\n`;
const sized = (body: string): string =>
  `POST /sized HTTP/1.1\r\nHost: pki\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const chunked = (...lines: readonly string[]): string =>
  `POST /chunked HTTP/1.1\r\nHost: pki\r\nTransfer-Encoding: chunked\r\n\r\n${lines.join('\r\n')}`;

describe('octets are cut into requests', () => {
  const stream = get('/a') + sized('b\r\n\r\nc') + chunked('3;x="y"', 'def', '1', 'g', '0', 'T: 1', '', '');
  const seen = ['/a', '/sized', 'body b\r\n\r\nc', '/chunked', 'body defg', '/z'];

  test('one after the other, with empty lines between them', () => {
    expect(read(whole(`\r\n${stream}\r\n\r\n${get('/z')}`))).toEqual(seen);
  });

  test('alike, however they are cut on the way', () => {
    const octets = Buffer.from(stream + get('/z'), 'latin1');
    const cuts = fc.uniqueArray(fc.nat(octets.length), { maxLength: octets.length });
    fc.assert(
      fc.property(cuts, (at) => {
        const ends = [...at.toSorted((a, b) => a - b), octets.length];
        expect(read(ends.map((end, n) => octets.subarray(ends[n - 1] ?? 0, end)))).toEqual(seen);
      }),
      runs(200),
    );
  });

  test('whatever they are, without an exception', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array()), (pieces) => {
        expect(Array.isArray(read(pieces.map((piece) => Buffer.from(piece))))).toBe(true);
      }),
      runs(1000),
    );
  });

  test('octet by octet', () => {
    const octets = Buffer.from(stream, 'latin1');
    expect(read(Array.from(octets, (octet) => Buffer.of(octet)))).toEqual(seen.slice(0, -1));
  });
});

describe('nothing is read after what cannot be', () => {
  test.each([
    ['no request', 'rubbish\r\n\r\n', ['unreadable']],
    ['bare line feeds', 'GET / HTTP/1.1\n\n', ['unreadable']],
    ['a header beyond the limit', `GET /${'a'.repeat(200)}`, ['head too long']],
    ['and its end is there', get(`/${'a'.repeat(200)}`), ['head too long']],
    ['no size of a chunk', chunked('x', ''), ['/chunked', 'unreadable']],
    ['a negative size', chunked('-1', ''), ['/chunked', 'unreadable']],
    ['a size that is too large to be one', chunked('000000001', ''), ['/chunked', 'unreadable']],
    ['a chunk beyond its size', chunked('1', 'ab', ''), ['/chunked', 'unreadable']],
    ['a bare line feed between chunks', chunked('1\na'), ['/chunked', 'unreadable']],
    ['a carriage return in a size', chunked('1\r;', ''), ['/chunked', 'unreadable']],
    ['an endless extension', chunked(`1;${'x'.repeat(2000)}`), ['/chunked', 'unreadable']],
    [
      'an endless trailer',
      chunked('0', ...Array<string>(10).fill(`T: ${'x'.repeat(1000)}`), ''),
      ['/chunked', 'unreadable'],
    ],
  ])('%s', (_what, text, seen) => {
    expect(read(whole(text + get('/after')))).toEqual(seen);
  });
});

test('a chunked body beyond the limit is given up as soon as a size says so', () => {
  expect(read(whole(chunked('64', 'a'.repeat(100), '1', '')))).toEqual(['/chunked', 'too long']);
  expect(read(whole(chunked('64', 'a'.repeat(100), '0', '', '')))).toEqual([
    '/chunked',
    `body ${'a'.repeat(100)}`,
  ]);
});
