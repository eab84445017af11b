import { beforeAll, describe, expect, test } from 'bun:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { createConsole } from '#adapters/inbound/console/mount.ts';
import type { HttpResponse } from '#adapters/inbound/http/exchange.ts';
import { httpRequest } from '#tests/fixtures/enrolment.ts';

const mount = createConsole();
const get = (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
  mount.handle(httpRequest({ method, path, headers }));
const octets = ({ body }: HttpResponse): Uint8Array =>
  typeof body === 'string' ? Buffer.from(body) : (body as Uint8Array);
const text = (response: HttpResponse): string => Buffer.from(octets(response)).toString('utf8');

let page: string;
/** The files that the page loads. */
let files: string[];

beforeAll(async () => {
  page = text(await get('/'));
  files = [...page.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, url]) => url!);
});

describe('the console', () => {
  test('is one document for all pages', async () => {
    for (const path of ['/', '/devices', '/devices/7', '/devices/', '/cas/new', '/sign-in']) {
      const response = await get(path);
      expect([path, response.status, response.headers['content-type']]).toEqual([
        path,
        200,
        'text/html; charset=utf-8',
      ]);
      expect(text(response)).toBe(page);
    }
  });

  test.each([
    '/api/nothing',
    '/api',
    '/rest/enroll',
    '/.well-known/est/cacerts',
    '/.well-known/',
    '/crl/1.crl',
    '/console/main.js',
    '/console/../devices',
    '/console/',
    '/favicon.ico',
  ])('answers an unknown path requested by a program with 404 and JSON: %s', async (path) => {
    const response = await get(path);
    expect([response.status, response.headers['content-type']]).toEqual([404, 'application/json']);
    expect(JSON.parse(text(response))).toEqual({ detail: 'not found' });
  });

  test.each(['/nowhere', '/est', '/deviceses', '//devices', '/devices/7/anything', '/roles/1/2/3', '/%zz'])(
    'answers any other unknown path with 404 and the document, which shows an error: %s',
    async (path) => {
      const response = await get(path, { 'if-none-match': '*' });
      expect([response.status, response.headers['content-type'], response.headers['cache-control']]).toEqual([
        404,
        'text/html; charset=utf-8',
        'no-store',
      ]);
      expect(text(response)).toBe(page);
    },
  );

  test('accepts GET and HEAD only', async () => {
    const { status, headers } = await get('/devices', {}, 'POST');
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD']);
    expect((await get('/nothing', {}, 'POST')).status).toBe(404);
    expect(mount.refuse(413, 'too long').status).toBe(404);
    expect(mount.refuse(408, 'too slow').status).toBe(408);
  });

  test('forbids external resources and inline scripts', async () => {
    const policy = Object.fromEntries(
      (await get('/')).headers['content-security-policy']!.split('; ').map((directive) => {
        const [name, ...sources] = directive.split(' ');
        return [name, sources.join(' ')];
      }),
    );
    expect(policy).toMatchObject({
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': "'self'",
      'connect-src': "'self'",
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'",
    });
    expect(page).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=|javascript:/i);
    expect(page).not.toMatch(/https?:\/\/(?!www\.w3\.org)/);
    for (const path of ['/', ...files, '/nothing']) {
      const { headers } = await get(path);
      expect([path, headers['x-content-type-options'], headers['referrer-policy']]).toEqual([
        path,
        'nosniff',
        'no-referrer',
      ]);
      expect(headers['cross-origin-opener-policy']).toBe('same-origin');
      expect(headers['cross-origin-resource-policy']).toBe('same-origin');
    }
  });

  test('files have immutable names with a hash, and the document is revalidated', async () => {
    expect(files.length).toBe(3);
    for (const file of files) {
      expect(file).toMatch(/^\/console\/[a-z]+-[a-z0-9]{8}\.(js|css)$/);
      const { headers } = await get(file);
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    }
    const { headers } = await get('/');
    expect(headers['cache-control']).toBe('no-cache');
    const again = await get('/devices', { 'if-none-match': `"other", W/${headers.etag}` });
    expect([again.status, text(again)]).toEqual([304, '']);
    expect((await get('/', { 'if-none-match': '"other"' })).status).toBe(200);
  });

  test.each([
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, zstd', 'zstd'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['identity', undefined],
    ['', undefined],
  ])('a browser that accepts %p gets %p', async (accepted, coding) => {
    for (const file of files) {
      const plain = await get(file);
      const response = await get(file, { 'accept-encoding': accepted });
      expect(response.headers['content-encoding']).toBe(coding as string);
      expect(response.headers.vary).toBe('accept-encoding');
      const decode: Record<string, (octets: Uint8Array) => Uint8Array> = {
        br: brotliDecompressSync,
        gzip: gunzipSync,
        zstd: Bun.zstdDecompressSync,
      };
      const body = octets(response);
      expect(Buffer.from(coding ? decode[coding]!(body) : body).equals(octets(plain))).toBe(true);
    }
  });

  test('weighs less than 100 kB on first load', async () => {
    let total = 0;
    for (const path of ['/', ...files]) total += octets(await get(path, { 'accept-encoding': 'br' })).length;
    expect(total).toBeGreaterThan(10_000);
    expect(total).toBeLessThan(100_000);
  });
});
