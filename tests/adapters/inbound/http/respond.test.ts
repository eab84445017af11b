import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { once } from 'node:events';
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
} from './fixture.ts';

const large = Buffer.alloc(48 * 1024 * 1024, 'b');
const chunk = Buffer.alloc(64 * 1024, 'a');
const long = (letter: string): string => Array.from({ length: 7_000 }, (_, n) => n + letter).join('');
let produced = 0;
let stopped = 0;

async function* blocks(count: number): AsyncGenerator<Uint8Array> {
  try {
    for (let i = 0; i < count; i += 1) {
      produced += 1;
      yield chunk;
    }
  } finally {
    stopped += 1;
  }
}

const frozen = Object.freeze({ 'x-kind': 'frozen' });
const thawed: Record<string, string> = { 'x-kind': 'first' };

const responses: Readonly<Record<string, () => HttpResponse>> = {
  '/text': () => text('grüße'),
  '/named': () => ({ status: 200, headers: { 'x-name': 'M\u00fcnchen' }, body: 'grüße' }),
  '/1': () => text(long('u')),
  '/2': () => text(long('ü')),
  '/3': () => text(long('→')),
  '/octets': () => ({
    status: 201,
    headers: { 'Content-Type': 'application/pkix-crl' },
    body: Uint8Array.of(0, 255, 13, 10),
  }),
  '/challenge': () => ({
    status: 401,
    headers: { 'content-type': 'text/plain', 'www-authenticate': 'Basic', 'retry-after': '1', etag: '"1"' },
    body: '',
  }),
  '/large': () => ({ status: 200, headers: {}, body: large }),
  '/cacheable': () => ({ status: 200, headers: { 'Cache-Control': 'max-age=60' }, body: '' }),
  '/frozen': () => ({ status: 200, headers: frozen, body: 'a' }),
  '/frozen/created': () => ({ status: 201, headers: frozen, body: 'grüße' }),
  '/thawed': () => ({ status: 200, headers: thawed, body: '' }),
  '/none': () => ({ status: 204, headers: {}, body: '' }),
  '/unmodified': () => ({ status: 304, headers: { etag: '"1"' }, body: '' }),
  '/stream': () => ({ status: 200, headers: {}, body: blocks(3) }),
  '/measured': () => ({
    status: 200,
    headers: { 'content-length': String(3 * chunk.length) },
    body: blocks(3),
  }),
  '/short': () => ({ status: 200, headers: { 'content-length': '300000' }, body: blocks(3) }),
  '/endless': () => ({ status: 200, headers: {}, body: blocks(10_000) }),
};

const errors: unknown[] = [];
const idleMs = 1000;
let listener: Listener;
let impatient: Listener;
beforeAll(async () => {
  const mounts = [mount('/', ({ path }) => responses[path]!())];
  listener = await open(mounts, { errors });
  impatient = await open(mounts, { errors, limits: { idleMs } });
});
afterAll(async () => {
  await listener.close(0);
  await impatient.close(0);
  expect(errors.map(String)).toEqual(['Error: the length of a response differs from its Content-Length']);
});

const get = (path: string, method = 'GET'): Promise<string> =>
  talk(connectSecure(listener.httpsPort), request(`${method} ${path}`));
const headOf = (response: string): Record<string, string> =>
  Object.fromEntries(
    response
      .slice(0, response.indexOf('\r\n\r\n'))
      .split('\r\n')
      .slice(1)
      .map((line) => line.toLowerCase().split(': ') as [string, string]),
  );

test('a response has the security header fields and does not name the server', async () => {
  const fields = headOf(await get('/text'));
  expect(fields).toMatchObject({
    'strict-transport-security': 'max-age=31536000',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  });
  expect(Math.abs(Date.parse(fields.date!) - Date.now())).toBeLessThan(3_000);
  expect(fields).not.toContainKeys(['server', 'x-powered-by']);
});

test('field names have their usual case, whatever the mount writes', async () => {
  const namesOf = (response: string): string[] =>
    [...response.slice(0, response.indexOf('\r\n\r\n')).matchAll(/^([^\s:]+): /gm)].map(([, name]) => name!);
  const always = [
    'X-Content-Type-Options',
    'Cache-Control',
    'Strict-Transport-Security',
    'Date',
    'X-Request-Id',
  ];
  expect(namesOf(await get('/challenge')).toSorted()).toEqual(
    [
      ...always,
      'Connection',
      'Content-Length',
      'Content-Type',
      'ETag',
      'Retry-After',
      'WWW-Authenticate',
    ].toSorted(),
  );
  expect(namesOf(await get('/octets'))).toContain('Content-Type');
  expect(namesOf(await get('/stream'))).toContain('Transfer-Encoding');
});

test('Strict-Transport-Security is sent over HTTPS only (RFC 6797 §7.2)', async () => {
  const fields = headOf(await talk(connectPlain(listener.httpPort!), request('GET /text')));
  expect(fields).not.toContainKey('strict-transport-security');
  expect(fields['x-content-type-options']).toBe('nosniff');
});

test('a mount can set Cache-Control', async () => {
  const response = await get('/cacheable');
  expect(response.match(/^cache-control: .*$/gim)).toEqual([expect.stringMatching(/: max-age=60$/)]);
});

test('a frozen header of a mount is sent unchanged each time, with the fields of the response', async () => {
  for (let times = 0; times < 2; times += 1) {
    const secure = headOf(await get('/frozen'));
    expect(secure).toMatchObject({ 'x-kind': 'frozen', 'content-length': '1', 'cache-control': 'no-store' });
    expect(secure).toContainKey('strict-transport-security');
    const plain = await talk(connectPlain(listener.httpPort!), request('GET /frozen'));
    expect(headOf(plain)).toMatchObject({ 'x-kind': 'frozen', 'content-length': '1' });
    expect(headOf(plain)).not.toContainKey('strict-transport-security');
    const created = await get('/frozen/created');
    expect(statusOf(created)).toBe(201);
    expect(headOf(created)['content-length']).toBe('7');
  }
});

test('a header that is not frozen can change', async () => {
  expect(headOf(await get('/thawed'))['x-kind']).toBe('first');
  thawed['x-kind'] = 'second';
  expect(headOf(await get('/thawed'))['x-kind']).toBe('second');
});

describe('a body is sent', () => {
  test('as text in UTF-8', async () => {
    const response = await get('/text');
    expect(Buffer.from(bodyOf(response), 'latin1').toString()).toBe('grüße');
    expect(headOf(response)['content-length']).toBe('7');
  });

  test('as text in UTF-8 after a field whose octets are not', async () => {
    const response = await get('/named');
    expect(response).toContain('\r\nX-Name: M\xfcnchen\r\n');
    expect(Buffer.from(bodyOf(response), 'latin1').toString()).toBe('grüße');
    expect(headOf(response)['content-length']).toBe('7');
  });

  test.each([
    ['HTTP', '/1', 'u'],
    ['HTTP', '/2', 'ü'],
    ['HTTP', '/3', '→'],
    ['HTTPS', '/1', 'u'],
    ['HTTPS', '/2', 'ü'],
    ['HTTPS', '/3', '→'],
  ])(
    'as text, complete and in order, to a client that pipelines and reads late: %s, %s',
    async (scheme, path, letter) => {
      const asked = 160;
      const socket = scheme === 'HTTP' ? connectPlain(listener.httpPort!) : connectSecure(listener.httpsPort);
      // Bun loses a pause before the connection exists.
      await once(socket, scheme === 'HTTP' ? 'connect' : 'secureConnect');
      socket.pause();
      for (let n = 0; n < asked; n += 8) {
        socket.write(`GET ${path} HTTP/1.1\r\nHost: pki\r\n\r\n`.repeat(n + 8 < asked ? 8 : 7));
        await Bun.sleep(5);
      }
      const answers = talk(socket, request(`GET ${path}`));
      socket.resume();
      const [, ...bodies] = (await answers).split(/HTTP(?:.+\r\n)+\r\n/);
      expect(bodies).toHaveLength(asked);
      const expected = Buffer.from(long(letter)).toString('latin1');
      expect(bodies.every((body) => body === expected)).toBe(true);
    },
  );

  test('as octets', async () => {
    const response = await get('/octets');
    expect(statusOf(response)).toBe(201);
    expect(bodyOf(response)).toBe('\0\xff\r\n');
  });

  test.each([
    ['HTTP', connectPlain, () => impatient.httpPort!],
    ['HTTPS', connectSecure, () => impatient.httpsPort],
  ] as const)(
    'completely over %s to a client that reads slowly, for longer than the idle limit',
    async (_, connect, port) => {
      const socket = connect(port());
      socket.write(request('GET /large'));
      const started = performance.now();
      let octets = 0;
      for await (const part of socket) {
        octets += part.length;
        if (octets >= large.length) break;
        // About 25 MiB per second.
        const ahead = octets / (25 * 1024 * 1024) - (performance.now() - started) / 1000;
        if (ahead > 0.02) await Bun.sleep(1000 * ahead);
      }
      expect(octets).toBeGreaterThan(large.length);
      expect(performance.now() - started).toBeGreaterThan(idleMs);
    },
  );

  test('as a stream of unknown length, chunked', async () => {
    const response = await get('/stream');
    expect(headOf(response)['transfer-encoding']).toBe('chunked');
    expect(bodyOf(response).match(/a+/g)?.join('')).toHaveLength(3 * chunk.length);
    expect(bodyOf(response)).toEndWith('\r\n0\r\n\r\n');
  });

  test('as a stream of known length', async () => {
    const response = await get('/measured');
    expect(headOf(response)).not.toContainKey('transfer-encoding');
    expect(bodyOf(response)).toHaveLength(3 * chunk.length);
  });

  test('incompletely when its stream is shorter than its length, and the connection is cut', async () => {
    const socket = connectSecure(listener.httpsPort);
    const response = await talk(socket, 'GET /short HTTP/1.1\r\nHost: pki\r\n\r\n');
    expect(bodyOf(response)).toHaveLength(3 * chunk.length);
  });

  test('to an HTTP/1.0 client until the connection closes', async () => {
    const response = await talk(
      connectSecure(listener.httpsPort),
      'GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n',
    );
    expect(headOf(response)).toMatchObject({ connection: 'close' });
    expect(headOf(response)).not.toContainKeys(['content-length', 'transfer-encoding']);
    expect(bodyOf(response)).toHaveLength(3 * chunk.length);
  });

  test.each(['/none', '/unmodified'])('not at all, nor its length: %s', async (path) => {
    const response = await get(path);
    expect(bodyOf(response)).toBe('');
    expect(headOf(response)).not.toContainKeys(['content-length', 'transfer-encoding']);
  });
});

describe('a stream is not produced', () => {
  const quiet = async (): Promise<void> => {
    for (let before = -1; before !== produced; await Bun.sleep(50)) before = produced;
  };

  test('for HEAD', async () => {
    [produced, stopped] = [0, 0];
    expect(bodyOf(await get('/endless', 'HEAD'))).toBe('');
    expect(produced).toBeLessThan(2);
    expect(stopped).toBe(produced);
  });

  test('faster than it is read, and stops when the client disconnects', async () => {
    [produced, stopped] = [0, 0];
    const socket = connectPlain(listener.httpPort!);
    socket.pause();
    socket.write(request('GET /endless'));
    await quiet();
    expect(produced).toBeGreaterThan(0);
    expect(produced).toBeLessThan(1_000);
    socket.destroy();
    while (stopped === 0) await Bun.sleep(10);
    expect(stopped).toBe(1);
  });

  test('for a client that does not read for longer than the idle limit', async () => {
    [produced, stopped] = [0, 0];
    const socket = connectSecure(impatient.httpsPort);
    socket.pause();
    socket.write(request('GET /endless'));
    while (stopped === 0) await Bun.sleep(10);
    expect(stopped).toBe(1);
    expect(produced).toBeLessThan(1_000);
    socket.destroy();
  });
});
