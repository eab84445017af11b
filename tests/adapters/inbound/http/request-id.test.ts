import { describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newRequestId, traceparentIn } from '#adapters/inbound/http/request-id.ts';
import { openLogFile } from '#adapters/outbound/system/log-file.ts';
import { createRequestContext } from '#adapters/outbound/system/platform.ts';
import { connectPlain, connectSecure, mount, open, request, statusOf, talk, text } from './fixture.ts';

const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const parent = '00f067aa0ba902b7';

/** The only id of a response. */
function idOf(response: string): string {
  const ids = [...response.matchAll(/^X-Request-Id: (.*)$/gim)].map(([, id]) => id!.trimEnd());
  expect({ response, ids }).toEqual({ response, ids: [expect.stringMatching(/^[0-9a-f]{32}$/)] });
  return ids[0]!;
}

describe('every response has a request id of its own', () => {
  const streamed = async function* () {
    yield Buffer.from('a');
  };
  const mounts = [
    mount('/', async ({ path }) => {
      if (path === '/fails') throw new Error('planted');
      if (path === '/stream') return { status: 200, headers: {}, body: streamed() };
      if (path === '/own') return { status: 200, headers: { 'X-Request-Id': 'made up' }, body: 'é' };
      return text('ok', path === '/bare' ? 204 : 200);
    }),
    mount('/open', async () => text('ok'), { plainHttp: true }),
  ];
  const requests: readonly (readonly [number, string])[] = [
    [200, request('GET /')],
    [200, request('HEAD /')],
    [204, request('GET /bare')],
    [200, request('GET /stream')],
    [200, request('GET /own')],
    [500, request('GET /fails')],
    [400, request('GET nothing')],
    [400, request('GET /', ['Host: other'])],
    [413, request('POST /', ['Content-Length: 2000'])],
    [417, request('GET /', ['Expect: more'])],
    [501, request('SEARCH /')],
    [204, request('OPTIONS *')],
    [405, request('CONNECT pki:443')],
    [400, 'not HTTP\r\n\r\n'],
    [400, 'GET / HTTP/1.1\r\nHost pki\r\n\r\n'],
    [431, request('GET /', [`X: ${'x'.repeat(20_000)}`])],
    [501, 'NOSUCHMETHOD / HTTP/1.1\r\n\r\n'],
  ];

  test('on the HTTPS listener', async () => {
    const errors: unknown[] = [];
    const listener = await open(mounts, { errors, limits: { lingerMs: 20 } });
    const ids = new Set<string>();
    for (const [status, octets] of requests) {
      const response = await talk(connectSecure(listener.httpsPort), octets);
      expect([octets.slice(0, 30), statusOf(response)]).toEqual([octets.slice(0, 30), status]);
      ids.add(idOf(response));
    }
    expect(ids.size).toBe(requests.length);
    await listener.close(0);
  });

  test('on the HTTP listener', async () => {
    const listener = await open(mounts, { limits: { lingerMs: 20 } });
    for (const octets of [request('GET /open'), request('GET /'), 'nonsense\r\n\r\n'])
      idOf(await talk(connectPlain(listener.httpPort!), octets));
    await listener.close(0);
  });

  test('and never one that the client sent', async () => {
    const listener = await open(mounts);
    const own = newRequestId();
    const response = await talk(
      connectSecure(listener.httpsPort),
      request('GET /', [`X-Request-Id: ${own}`, `X-Correlation-Id: ${own}`]),
    );
    expect(idOf(response)).not.toBe(own);
    expect(response).not.toContain(own);
    await listener.close(0);
  });
});

test('request ids do not repeat', () => {
  const ids = Array.from({ length: 10_000 }, newRequestId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.every((id) => /^[0-9a-f]{32}$/.test(id))).toBe(true);
});

describe('log lines', () => {
  test('have the id and the traceparent of their request, also when requests overlap', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'postern-request-id-'));
    const requests = createRequestContext();
    const log = await openLogFile({ directory, level: 'info', stderr: false, requests });
    const all = Promise.withResolvers<void>();
    let waiting = 0;
    const overlapping = mount('/', async ({ path }) => {
      if (++waiting === 3) all.resolve();
      await all.promise;
      await new Promise(setImmediate);
      log.warn('seen', { path });
      if (path === '/fails') throw new Error('planted');
      return text('ok');
    });
    const listener = await open([overlapping], { requests, onError: (error) => log.error('failed', error) });
    const fields = [`traceparent: 00-${trace}-${parent}-01`];
    const responses = await Promise.all([
      talk(connectSecure(listener.httpsPort), request('GET /a', fields)),
      talk(connectSecure(listener.httpsPort), request('GET /b', [`traceparent: 00-${trace}-${parent}`])),
      talk(connectSecure(listener.httpsPort), request('GET /fails')),
    ]);
    log.info('periodic');
    await listener.close(0);
    await log.close();
    const lines = readFileSync(join(directory, 'postern.log'), 'utf8').trim().split('\n');
    const seen = lines.map((line) => JSON.parse(line));
    const [a, b, fails] = responses.map(idOf);
    const of = (event: string, path?: string) =>
      seen.find((line) => line.event === event && line.path === path);
    expect(of('seen', '/a')).toMatchObject({ requestId: a, traceparent: `00-${trace}-${parent}-01` });
    expect(of('seen', '/b')).toMatchObject({ requestId: b });
    expect(of('seen', '/b')).not.toHaveProperty('traceparent');
    expect(of('seen', '/fails')).toMatchObject({ requestId: fails });
    expect(of('failed')).toMatchObject({ requestId: fails });
    expect(of('periodic')).not.toHaveProperty('requestId');
    rmSync(directory, { recursive: true });
  });
});

describe('a traceparent', () => {
  const valid = `00-${trace}-${parent}-01`;
  test.each([
    [valid, valid],
    [`00-${trace}-${parent}-ff`, `00-${trace}-${parent}-ff`],
    [`cc-${trace}-${parent}-01`, `cc-${trace}-${parent}-01`],
    [`cc-${trace}-${parent}-01-what-follows`, `cc-${trace}-${parent}-01`],
  ])('%s is valid', (field, expected) => {
    expect(traceparentIn(field)).toBe(expected);
  });

  test.each([
    ['nothing', undefined],
    ['an empty field', ''],
    ['version ff', `ff-${trace}-${parent}-01`],
    ['version 00 with more members', `${valid}-00`],
    ['version 00 with a hyphen at its end', `${valid}-`],
    ['a later version with more octets', `cc-${trace}-${parent}-01x`],
    ['upper case', `00-${trace.toUpperCase()}-${parent}-01`],
    ['no trace', `00-${'0'.repeat(32)}-${parent}-01`],
    ['no parent', `00-${trace}-${'0'.repeat(16)}-01`],
    ['short flags', `00-${trace}-${parent}-1`],
    ['a line feed at its end', `${valid}\n`],
    ['two fields', `${valid}, ${valid}`],
    ['a long field', `cc-${trace}-${parent}-01-${'x'.repeat(300)}`],
  ])('with %s is ignored', (_, field) => {
    expect(traceparentIn(field)).toBeUndefined();
  });
});
