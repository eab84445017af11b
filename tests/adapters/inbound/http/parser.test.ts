import { describe, expect, test } from 'bun:test';
import * as fc from 'fast-check';
import { RequestParser, type Unreadable } from '#adapters/inbound/http/parser.ts';
import { runs } from '#tests/property.ts';

const octetsOf = (piece: string | Uint8Array): Uint8Array =>
  typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece;

/** Parses octets in these pieces; returns the headers with their bodies. */
function read(pieces: readonly (string | Uint8Array)[], headerOctets = 16 * 1024) {
  const requests: {
    line: string;
    fields: readonly string[];
    body: string;
    keepAlive: boolean;
    ended: boolean;
  }[] = [];
  const parser = new RequestParser(headerOctets, {
    head: ({ method, target, http10, fields, keepAlive }) =>
      requests.push({
        line: `${method} ${target} ${http10 ? 'old' : 'new'}`,
        fields,
        body: '',
        keepAlive,
        ended: false,
      }),
    body: (octets) => {
      requests.at(-1)!.body += Buffer.from(octets).toString('latin1');
    },
    end: () => {
      requests.at(-1)!.ended = true;
    },
  });
  let unreadable: Unreadable | undefined;
  for (const piece of pieces) unreadable ??= parser.read(octetsOf(piece));
  parser.close();
  return { requests, unreadable };
}

const chunked =
  'POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: 1\r\n\r\n';
const stream = `GET /a?b HTTP/1.1\r\nHost: x\r\nX: 1\r\nx: 2\r\n\r\n${chunked}PUT /c HTTP/1.0\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nfg`;
const told = [
  { line: 'GET /a?b new', fields: ['Host', 'x', 'X', '1', 'x', '2'], body: '', keepAlive: true, ended: true },
  {
    line: 'POST /b new',
    fields: ['Transfer-Encoding', 'chunked'],
    body: 'abcde',
    keepAlive: true,
    ended: true,
  },
  {
    line: 'PUT /c old',
    fields: ['Content-Length', '2', 'Connection', 'keep-alive'],
    body: 'fg',
    keepAlive: true,
    ended: true,
  },
];

test('requests are parsed the same in pieces of any size', () => {
  expect(read([stream])).toEqual({ requests: told, unreadable: undefined });
  expect(read([...stream])).toEqual({ requests: told, unreadable: undefined });
  for (let at = 1; at < stream.length; at++) {
    expect(read([stream.slice(0, at), stream.slice(at)]).requests).toEqual(told);
  }
});

test('repeated fields give one list, without those of the trailer', () => {
  const fields = Array.from({ length: 90 }, (_, n) => [`X-${n}`, `${n}`]);
  const header = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const request = `POST /many HTTP/1.1\r\n${header}Transfer-Encoding: chunked\r\n\r\n0\r\n${header}\r\n`;
  const { requests, unreadable } = read([request, request]);
  expect(unreadable).toBeUndefined();
  expect(requests).toHaveLength(2);
  for (const { line, fields: seen } of requests) {
    expect(line).toBe('POST /many new');
    expect(seen).toEqual([...fields.flat(), 'Transfer-Encoding', 'chunked']);
  }
});

describe('a connection closes after', () => {
  test.each([
    ['a request that says so', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['one of HTTP/1.0 that does not say otherwise', 'GET / HTTP/1.0\r\n\r\n'],
    ['one that asks for another protocol', 'GET / HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n'],
    ['CONNECT', 'CONNECT pki:443 HTTP/1.1\r\nHost: pki\r\n\r\n'],
  ])('%s', (_what, request) => {
    const { requests, unreadable } = read([`${request}GET /next HTTP/1.1\r\nHost: x\r\n\r\n`]);
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({ keepAlive: false, ended: true });
    expect(unreadable).toBeUndefined();
  });
});

describe('input beyond the limit:', () => {
  const line = `X: ${'a'.repeat(1000)}\r\n`;
  test.each([
    ['in a header', 'GET / HTTP/1.1\r\n', line],
    ['in a trailer', 'POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n', line],
    ['in a target', `GET /${'a'.repeat(1000)}`, 'a'.repeat(1000)],
  ])('%s is rejected, in pieces of any size', (_where, begin, more) => {
    const octets = begin + more.repeat(3);
    expect(read([octets], 2048).unreadable).toBe('header too long');
    expect(read([...octets], 2048).unreadable).toBe('header too long');
  });

  test('in a chunk extension is rejected', () => {
    const begin = 'POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;';
    expect(read([begin, ...Array(40).fill('a'.repeat(1000))]).unreadable).toBe('malformed');
  });
});

test('arbitrary input is parsed or rejected, and nothing is parsed after a rejection', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      ...stream.split(/(?<=\r\n)/),
      'Content-Length: 3\r\n',
      '\r\n',
      '\n',
      '\0',
      'ffffffffffffffff\r\n',
    ),
    fc.uint8Array({ maxLength: 20 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      const { requests, unreadable } = read(pieces);
      const whole = read([Buffer.concat(pieces.map(octetsOf))]);
      expect(whole).toEqual({ requests, unreadable });
    }),
    runs(300),
  );
});

describe('input that is not an HTTP/1.1 request:', () => {
  test.each<[string, Unreadable]>([
    ['PROPELLER /a HTTP/1.1\r\n', 'unknown method'],
    ['GETS /a HTTP/1.0\r\n', 'unknown method'],
    ['get /a HTTP/1.1\n', 'unknown method'],
    ['PROPELLER /a HTTP/2.0\r\n', 'malformed'],
    ['PROPELLER /a\r\n', 'malformed'],
    ['PROPELLER\r\n', 'malformed'],
    ['PR(OPELLER /a HTTP/1.1\r\n', 'malformed'],
    [`PROPELLER /${'a'.repeat(3_000)} HTTP/1.1\r\n`, 'malformed'],
    ['GET /a\r\n\r\n', 'malformed'],
    ['GET /a HTTP/0.9\r\n\r\n', 'malformed'],
  ])('%j is rejected as %s, after the requests before it', (octets, reason) => {
    for (const pieces of [[stream + octets], [...stream, ...octets]]) {
      expect(read(pieces)).toEqual({ requests: told, unreadable: reason });
    }
  });
});

test('a closed parser reads nothing', () => {
  let heads = 0;
  const parser = new RequestParser(1000, {
    head: () => heads++,
    body: () => undefined,
    end: () => undefined,
  });
  parser.close();
  parser.close();
  expect(parser.read(Buffer.from('GET / HTTP/1.1\r\n\r\n'))).toBeUndefined();
  expect(heads).toBe(0);
});
