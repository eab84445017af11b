import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { HttpResponse } from '#adapters/inbound/http/exchange.ts';
import type { Listener } from '#adapters/inbound/http/listener.ts';
import {
  bodyOf,
  connectPlain,
  connectSecure,
  mount,
  open,
  request,
  statusOf,
  talk,
  text,
  until,
} from './fixture.ts';

const errors: unknown[] = [];
let listener: Listener;
let proxied: Listener;

const failures: Readonly<Record<string, () => HttpResponse>> = {
  '/fail/throw': () => {
    throw new Error('thrown');
  },
  '/fail/value': () => ({
    status: 200,
    headers: { 'x-a': 'b\r\nx-injected: c', 'x-leftover': '1' },
    body: 'secret',
  }),
  '/fail/status': () => ({ status: 99, headers: {}, body: '' }),
  '/fail/stream': () => ({ status: 200, headers: {}, body: failing() }),
};

async function* failing(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('begun');
  await Bun.sleep(5);
  throw new Error('midway');
}

beforeAll(async () => {
  const limits = { lingerMs: 100 };
  const mounts = [
    mount('/', (r) => {
      const { certificates, ...peer } = r.peer;
      const seen = {
        ...r,
        body: Buffer.from(r.body).toString('latin1'),
        peer,
        certificates: certificates.length,
      };
      return text(JSON.stringify(seen));
    }),
    mount('/tls-only', () => text('here'), { plainHttp: false }),
    mount('/fail', (r) => (failures[r.path] ?? (() => text('')))()),
    {
      ...mount('/fail/refuse', () => text('')),
      refuse: () => {
        throw new Error('refused to refuse');
      },
    },
    {
      ...mount('/fail/badly', () => text('')),
      refuse: () => ({ status: 413, headers: { 'x-a': 'b\r\n' }, body: '' }),
    },
    mount('/sized', (r) => text(`${r.body.length}`), {
      bodyLimit: (path) => (path === '/sized/small' ? 3 : 300_000),
    }),
    mount('/slow', async (r) => {
      await Bun.sleep(Number(r.query));
      return text(`slow ${r.query}\n`);
    }),
  ];
  listener = await open(mounts, { errors, limits });
  proxied = await open(mounts, { errors, limits, trustedProxies: ['127.0.0.0/8'] });
});
afterAll(async () => {
  await listener.close(0);
  await proxied.close(0);
});

const ask = (octets: string | Uint8Array): Promise<string> => talk(connectSecure(listener.httpsPort), octets);
const askPlain = (octets: string | Uint8Array): Promise<string> =>
  talk(connectPlain(listener.httpPort!), octets);
const seenIn = (response: string): Record<string, unknown> => JSON.parse(bodyOf(response));

describe('a request', () => {
  test('reaches its mount as it was sent', async () => {
    const response = await ask(
      request('POST /a/%2e./b?c=d', ['X-Twice: 1', 'x-twice: 2', 'Content-Length: 4'], 'body'),
    );
    expect(statusOf(response)).toBe(200);
    expect(seenIn(response)).toEqual({
      method: 'POST',
      path: '/a/%2e./b',
      query: 'c=d',
      headers: { host: 'pki', connection: 'close', 'x-twice': '1, 2', 'content-length': '4' },
      body: 'body',
      peer: { address: '127.0.0.1', secure: true },
      certificates: 0,
    });
  });

  test('on the plain listener is not secure', async () => {
    expect(seenIn(await askPlain(request('GET /'))).peer).toEqual({ address: '127.0.0.1', secure: false });
  });

  test('on the plain listener does not reach a mount that requires TLS, nor a shorter prefix', async () => {
    expect(bodyOf(await ask(request('GET /tls-only')))).toBe('here');
    const response = await askPlain(request('GET /tls-only'));
    expect(statusOf(response)).toBe(404);
    expect(response).toMatch(/^content-type: text\/plain/im);
  });

  test('with HEAD is answered like GET, without the body', async () => {
    const head = await ask(request('HEAD /a'));
    const get = await ask(request('GET /a'));
    expect(bodyOf(head)).toBe('');
    expect(head.slice(0, 15)).toBe(get.slice(0, 15));
    expect(/^content-length: .*$/im.exec(head)?.[0]).toBe(/^content-length: .*$/im.exec(get)![0]);
  });

  test('for an absolute target reaches the mount of its path, whatever Host says', async () => {
    const response = await ask(request('GET https://elsewhere.example:8443/tls-only?a'));
    expect(bodyOf(response)).toBe('here');
  });

  test('of HTTP/1.0 needs no Host', async () => {
    expect(statusOf(await ask('GET / HTTP/1.0\r\n\r\n'))).toBe(200);
  });

  test('of HTTP/1.0 keeps its connection only on request', async () => {
    const old = 'GET / HTTP/1.0\r\n';
    expect(await ask(`${old}\r\n`)).toMatch(/^connection: close\r$/im);
    const both = await ask(`${old}Connection: keep-alive\r\n\r\n${old}\r\n`);
    expect(both.match(/^connection: .*$/gim)).toEqual(['Connection: keep-alive', 'Connection: close']);
  });

  test('for an upgrade is answered without one, and its connection closed', async () => {
    const upgrade = 'GET / HTTP/1.1\r\nHost: pki\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n';
    const response = await ask(upgrade + request('GET /'));
    expect(response.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 200']);
    expect(response).toMatch(/^connection: close\r$/im);
  });

  test('with another expectation is rejected with 417', async () => {
    const response = await ask(request('POST /sized', ['Expect: more', 'Content-Length: 3'], 'abc'));
    expect(statusOf(response)).toBe(417);
    expect(response).toMatch(/^x-form: \/sized/im);
  });

  test('of HTTP/1.0 gets no 100 Continue', async () => {
    const response = await ask(
      'POST /sized HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc',
    );
    expect(statusOf(response)).toBe(200);
    expect(bodyOf(response)).toBe('3');
  });

  test('with a body in many small pieces is reassembled', async () => {
    const socket = connectPlain(listener.httpPort!);
    const answer = talk(socket);
    for (const piece of [request('POST /', ['Content-Length: 6']), 'a', 'bc', 'def']) {
      socket.write(piece);
      await Bun.sleep(5);
    }
    expect(seenIn(await answer).body).toBe('abcdef');
  });

  test('with a chunked body is reassembled', async () => {
    const body = '3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\nTrailer: 1\r\n\r\n';
    const response = await ask(request('POST /', ['Transfer-Encoding: chunked'], body));
    expect(seenIn(response).body).toBe('abcdefg');
  });

  test('with Expect: 100-continue gets 100 before the response', async () => {
    const socket = connectSecure(listener.httpsPort);
    socket.write(request('POST /', ['Expect: 100-continue', 'Content-Length: 3']));
    expect(await until(socket, '\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    expect(seenIn(await talk(socket, 'abc')).body).toBe('abc');
  });

  test('from curl above 1 MiB, which waits for 100, is answered', async () => {
    const url = `https://127.0.0.1:${listener.httpsPort}/sized`;
    const curl = Bun.spawn(['curl', '-sk', '-H', 'Expect: 100-continue', '--data-binary', '@-', url], {
      stdin: Buffer.alloc(200_000, 'a'),
    });
    expect(await new Response(curl.stdout).text()).toBe('200000');
  });
});

describe('a request that is ambiguous in framing or routing is rejected with 400', () => {
  test.each([
    [
      'Content-Length and Transfer-Encoding',
      request('POST /', ['Content-Length: 3', 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
    ],
    ['two Content-Lengths', request('POST /', ['Content-Length: 3', 'Content-Length: 4'], 'abc')],
    ['a list of Content-Lengths', request('POST /', ['Content-Length: 3, 3'], 'abc')],
    ['a signed Content-Length', request('POST /', ['Content-Length: +3'], 'abc')],
    ['a coding before chunked', request('POST /', ['Transfer-Encoding: gzip, chunked'], '0\r\n\r\n')],
    [
      'chunked twice',
      request('POST /', ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
    ],
    ['an unknown coding', request('POST /', ['Transfer-Encoding: xchunked'], '0\r\n\r\n')],
    ['chunked in HTTP/1.0', 'POST / HTTP/1.0\r\nHost: pki\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a chunk size that is none', request('POST /', ['Transfer-Encoding: chunked'], 'x\r\n\r\n')],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n'],
    ['two Hosts', request('GET /', ['host: other'])],
    ['two Authorizations', request('GET /', ['Authorization: Basic YTpi', 'authorization: Basic Yzpk'])],
    ['a Host that is none', 'GET / HTTP/1.1\r\nHost: a/b@c\r\n\r\n'],
    ['an absolute target with a user', request('GET https://user@pki/')],
    ['an asterisk', request('GET *')],
    ['a fragment', request('GET /a#b')],
    ['a backslash', request('GET /a\\b')],
    ['an encoded NUL', request('GET /a%00')],
    ['a NUL in the target', request('GET /a\0b')],
    ['a NUL in a field', request('GET /', ['X: a\0b'])],
    ['a space before the colon', request('GET /', ['X : a'])],
    ['a folded field', request('GET /', ['X: a', ' b'])],
    ['bare line feeds', 'GET / HTTP/1.1\nHost: pki\n\n'],
    ['another version', 'GET / HTTP/3.0\r\nHost: pki\r\n\r\n'],
    ['HTTP/0.9', 'GET /\r\n\r\n'],
    ['HTTP/0.9 that says so', 'GET / HTTP/0.9\r\nHost: pki\r\n\r\n'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['no HTTP at all', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello hello\r\n\r\n'],
  ])('%s', async (_what, octets) => {
    const response = await askPlain(Buffer.from(octets, 'latin1'));
    expect(statusOf(response)).toBe(400);
    expect(response).toMatch(/^Connection: close/im);
    expect(response.match(/^HTTP\/1\.1 /gm)).toHaveLength(1);
  });

  test.each([
    request('GET /sized', ['Client-Cert: rubbish']),
    request('GET /sized/%00'),
    request('GET /sized/a#b'),
  ])('in the form of the mount, if it is known: %p', async (octets) => {
    const response = await talk(connectSecure(proxied.httpsPort), octets);
    expect(statusOf(response)).toBe(400);
    expect(response).toMatch(/^x-form: \/sized/im);
  });

  test('and CONNECT with 405 and Allow', async () => {
    const response = await ask('CONNECT pki:443 HTTP/1.1\r\nHost: pki:443\r\n\r\n');
    expect(statusOf(response)).toBe(405);
    expect(response).toContain('\r\nAllow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n');
  });
});

describe('a method', () => {
  test.each(['QUERY', 'PROPFIND', 'M-SEARCH', 'BREW', 'get', 'GETS', 'DESCRIBE', 'X'.repeat(100)])(
    'that is unknown is rejected with 501: %s',
    async (method) => {
      expect(statusOf(await ask(request(`${method} /`)))).toBe(501);
    },
  );

  test('that is unknown is rejected with 501, in pieces of any size', async () => {
    const socket = connectPlain(listener.httpPort!);
    const answer = talk(socket);
    for (const piece of ['P', 'ROP', 'ELLER / HTTP/1.1\r\n', 'Host: pki\r\n\r\n']) {
      socket.write(piece);
      await Bun.sleep(5);
    }
    expect(statusOf(await answer)).toBe(501);
  });

  test('that is unknown is rejected in the form of the mount, if the request can be read', async () => {
    const response = await ask(request('QUERY /sized', ['Content-Length: 3'], 'abc'));
    expect(statusOf(response)).toBe(501);
    expect(response).toMatch(/^x-form: \/sized/im);
  });

  test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'])(
    'reaches its mount: %s',
    async (method) => {
      expect(seenIn(await ask(request(`${method} /`)))).toMatchObject({ method });
    },
  );

  test('OPTIONS for the whole server is answered, and the connection stays open', async () => {
    const options = 'OPTIONS * HTTP/1.1\r\nHost: pki\r\n\r\n';
    const response = await ask(options + request('GET /'));
    expect(response.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 204', 'HTTP/1.1 200']);
    expect(response).toContain('\r\nAllow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n');
  });
});

describe('Content-Encoding', () => {
  test.each(['gzip', 'br', 'GZIP', 'identity, gzip', 'x-unknown'])(
    '%s is rejected with 415',
    async (coding) => {
      const response = await ask(
        request('POST /sized', [`Content-Encoding: ${coding}`, 'Content-Length: 3'], 'abc'),
      );
      expect(statusOf(response)).toBe(415);
      expect(response).toMatch(/^x-form: \/sized/im);
      expect(response).toContain('\r\nAccept-Encoding: identity\r\n');
    },
  );

  test.each(['identity', 'Identity', ''])('%p changes nothing', async (coding) => {
    const response = await ask(
      request('POST /sized', [`Content-Encoding: ${coding}`, 'Content-Length: 3'], 'abc'),
    );
    expect(statusOf(response)).toBe(200);
  });
});

describe('behind a proxy', () => {
  const fields = [
    'Client-Cert: :AQ==:',
    'Client-Cert-Chain: :AQ==:, :AQ==:',
    'X-Forwarded-For: 198.51.100.1, 203.0.113.7',
  ];

  test('that is trusted, the client is the one that the proxy names', async () => {
    const seen = seenIn(await talk(connectSecure(proxied.httpsPort), request('GET /', fields)));
    expect(seen).toMatchObject({ peer: { address: '203.0.113.7', secure: true }, certificates: 3 });
    expect(Object.keys(seen.headers as object)).toEqual(['host', 'connection']);
  });

  test('that is not trusted, the client is the proxy', async () => {
    const seen = seenIn(await ask(request('GET /', fields)));
    expect(seen).toMatchObject({ peer: { address: '127.0.0.1', secure: true }, certificates: 0 });
    expect(Object.keys(seen.headers as object)).toEqual(['host', 'connection']);
  });
});

describe('a body beyond the limit is rejected with 413 in the form of its mount', () => {
  test.each([
    ['announced', '/sized/small', ['Content-Length: 4'], 'abcd'],
    ['announced and never sent', '/sized/small', ['Content-Length: 4'], ''],
    ['chunked', '/sized/small', ['Transfer-Encoding: chunked'], '2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n'],
    ['far beyond, and sent nevertheless', '/sized/small', ['Content-Length: 1000000'], 'a'.repeat(1_000_000)],
    ['under the limit of another path', '/sized/large', ['Content-Length: 300001'], ''],
    ['beyond what can be counted', '/sized/large', ['Content-Length: 18446744073709551615'], ''],
  ])('%s', async (_what, path, fields, body) => {
    const response = await ask(request(`POST ${path}`, fields, body));
    expect(statusOf(response)).toBe(413);
    expect(response).toMatch(/^x-form: \/sized/im);
    expect(response).toMatch(/^Connection: close/im);
  });

  test('without 100 Continue, when the client waits for it', async () => {
    const response = await ask(request('POST /sized/small', ['Expect: 100-continue', 'Content-Length: 4']));
    expect(statusOf(response)).toBe(413);
  });

  test('and accepted up to the limit', async () => {
    expect(bodyOf(await ask(request('POST /sized/small', ['Content-Length: 3'], 'abc')))).toBe('3');
    const chunked = request('POST /sized/small', ['Transfer-Encoding: chunked'], '3\r\nabc\r\n0\r\n\r\n');
    expect(bodyOf(await ask(chunked))).toBe('3');
  });
});

describe('a header beyond the limit is rejected with 431', () => {
  test('in octets', async () => {
    expect(statusOf(await ask(request('GET /', [`X: ${'a'.repeat(17_000)}`])))).toBe(431);
    expect(statusOf(await ask(request(`GET /${'a'.repeat(17_000)}`)))).toBe(431);
  });

  test('in fields', async () => {
    const fields = (count: number): string[] => Array.from({ length: count }, (_, i) => `X-${i}: 1`);
    expect(statusOf(await ask(request('GET /', fields(98))))).toBe(200);
    expect(statusOf(await ask(request('GET /', fields(99))))).toBe(431);
    expect(statusOf(await ask(request('GET /', fields(1_000))))).toBe(431);
  });
});

describe('an exception of a mount is answered with 500 in its form and reported', () => {
  test.each([
    ['it throws', '/fail/throw', 'thrown'],
    ['a field of its response would be two', '/fail/value', 'x-a'],
    ['its status is none', '/fail/status', '99'],
  ])('%s', async (_what, path, cause) => {
    errors.length = 0;
    const response = await ask(request(`GET ${path}`));
    expect(statusOf(response)).toBe(500);
    expect(response).toMatch(/^x-form: \/fail/im);
    expect(bodyOf(response)).toBe('refused 500 internal error');
    expect(response).not.toMatch(/secret|injected|leftover/i);
    expect(errors).toHaveLength(1);
    expect(String(errors[0])).toContain(cause);
  });

  test('its error response fails too: then in the form of the listener', async () => {
    errors.length = 0;
    const response = await ask(request('POST /fail/refuse', ['Content-Length: 1001']));
    expect(statusOf(response)).toBe(413);
    expect(response).toMatch(/^content-type: text\/plain/im);
    expect(String(errors[0])).toContain('refused to refuse');
  });

  test('its error response cannot be sent: then the connection is cut', async () => {
    errors.length = 0;
    expect(await ask(request('POST /fail/badly', ['Content-Length: 1001']))).toBe('');
    expect(String(errors[0])).toContain('x-a');
  });

  test('its stream fails: then the response is cut, so that no client takes it for complete', async () => {
    errors.length = 0;
    const response = await ask(request('GET /fail/stream'));
    expect(bodyOf(response)).toContain('begun');
    expect(bodyOf(response)).not.toContain('\r\n0\r\n');
    expect(String(errors[0])).toContain('midway');
  });
});

describe('pipelined requests', () => {
  const first = (line: string): string => `${line} HTTP/1.1\r\nHost: pki\r\n\r\n`;

  test('are answered in order, however long each takes', async () => {
    const response = await ask(first('GET /slow?30') + first('GET /slow?1') + request('GET /slow?0'));
    expect(response.match(/^slow \d+$/gm)).toEqual(['slow 30', 'slow 1', 'slow 0']);
  });

  test('reach their mounts one at a time', async () => {
    const started = performance.now();
    await ask(first('GET /slow?40') + first('GET /slow?40') + request('GET /slow?40'));
    expect(performance.now() - started).toBeGreaterThan(115);
  });

  test('are answered up to the first that cannot be read', async () => {
    const response = await ask(`${first('GET /slow?20')}rubbish\r\n\r\n`);
    expect(response.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 200']);
    expect(response).toMatch(/^slow 20$/m);
  });

  test('with bodies keep them apart', async () => {
    const body = (b: string): string =>
      `POST /sized HTTP/1.1\r\nHost: pki\r\nContent-Length: ${b.length}\r\n\r\n${b}`;
    const response = await ask(
      body('a') + body('GET / HTTP/1.1\r\n\r\n') + request('POST /sized', ['Content-Length: 2'], 'ab'),
    );
    expect([...response.matchAll(/\r\n\r\n(\d+)/g)].map((match) => match[1])).toEqual(['1', '18', '2']);
  });

  test.each([
    ['with a body that does not come', request('POST /sized/small', ['Content-Length: 9'], 'abc'), 413],
    ['without one', request('GET /a%00'), 400],
  ])('are not affected by a later one that is rejected: %s', async (_what, refused, status) => {
    const started = performance.now();
    const response = await ask(first('GET /slow?400') + refused);
    expect(response.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 200', `HTTP/1.1 ${status}`]);
    expect(response).toMatch(/^slow 400$/m);
    expect(performance.now() - started).toBeLessThan(9_000);
  });

  test('are answered up to the limit, and the last response closes the connection', async () => {
    const some = Array.from({ length: 40 }, (_, n) => first(`GET /slow?${n}`));
    const response = await ask(some.join(''));
    const answered = Array.from({ length: 17 }, (_, n) => `slow ${n}`);
    expect([...response.matchAll(/^slow \d+$/gm)].map(([line]) => line)).toEqual(answered);
    expect(response.match(/^connection: .*$/gim)).toEqual(['Connection: close']);
    expect(response.lastIndexOf('Connection: close')).toBeGreaterThan(response.lastIndexOf('slow 15'));
  });

  test('are all answered when each follows the response to an earlier one', async () => {
    const socket = connectSecure(listener.httpsPort);
    for (let n = 0; n < 40; n += 1) {
      socket.write(first(`GET /slow?0`));
      await until(socket, 'slow 0');
    }
    expect(bodyOf(await talk(socket, request('GET /slow?7')))).toBe('slow 7\n');
  });
});
