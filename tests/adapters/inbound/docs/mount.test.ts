import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { createDocs } from '#adapters/inbound/docs/mount.ts';
import type { HttpResponse } from '#adapters/inbound/http/exchange.ts';
import { crawl } from '#tests/fixtures/crawl.ts';
import { httpRequest } from '#tests/fixtures/enrolment.ts';

const root = join(import.meta.dir, '../../../..');
const mount = createDocs();
const get = (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
  mount.handle(httpRequest({ method, path, headers }));
const text = ({ body }: HttpResponse): string => Buffer.from(body as Uint8Array).toString('utf8');

/** `docs/how-to/install.md` → `/docs/how-to/install.html`. */
const pages = [...new Bun.Glob('docs/**/*.md').scanSync(root)].map((path) => ({
  path,
  address: `/${path.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html')}`,
}));

describe('the documentation', () => {
  test('has each page of docs/ at its address, with its title', async () => {
    expect(pages.length).toBeGreaterThan(40);
    for (const { path, address } of pages) {
      const response = await get(address);
      expect([path, response.status, response.headers['content-type']]).toEqual([
        path,
        200,
        'text/html; charset=utf-8',
      ]);
      const [, title] = /^# (.*)$/m.exec(await Bun.file(join(root, path)).text())!;
      const [, shown] = /<h1[^>]*>(.*?)<\/h1>/.exec(text(response))!;
      expect(shown!.replace(/<\/?code>/g, '`')).toBe(Bun.escapeHTML(title!));
    }
  });

  test('links lead to pages and headings that exist, and no page is an orphan', async () => {
    const { reached, broken, elsewhere } = await crawl('/docs/', async (path) => {
      const response = await get(path);
      return response.status === 200 ? text(response) : undefined;
    });
    expect(broken).toEqual([]);
    expect(pages.filter(({ address }) => !reached.has(address))).toEqual([]);
    expect([...reached].filter((path) => !path.startsWith('/docs/'))).toEqual([]);
    expect([...elsewhere].filter((url) => !url.startsWith('https://'))).toEqual([]);
  });

  test('README.md is the start page: it lists all pages, and its links to files of the source are names', async () => {
    const page = text(await get('/docs/'));
    expect(page).toContain('<a href="how-to/install.html">Install</a>');
    expect(page).toContain('(tests/fuzz/README.md)');
    expect(text(await get('/docs/index.html'))).toBe(page);
    expect(page).toContain('<a href="changelog.html">Changes</a>');
    const navigation = page.slice(page.indexOf('<nav'));
    expect(pages.filter(({ address }) => !navigation.includes(`href="${address.slice(6)}"`))).toEqual([]);
  });

  test.each([
    ['/docs', '/docs/'],
    ['/docs/decisions', '/docs/decisions/'],
  ])('a folder without the slash is redirected: %s', async (path, location) => {
    const { status, headers } = await get(path);
    expect([status, headers.location]).toEqual([308, location]);
  });

  test.each([
    '/docs/../package.json',
    '/docs/%2e%2e/package.json',
    '/docs/..%2fpackage.json',
    '/docs/how-to/../index.html',
    '/docs//index.html',
    '/docs//etc/passwd',
    '/docs/./index.html',
    '/docs/how-to/install.md',
    '/docs/how-to/install.html/',
    '/docs/how-to/',
    '/docs/how-to',
    '/docs/INDEX.html',
    '/docs/index.html%00',
    '/docs/__proto__',
    '/docs/app/search.ts',
    '/docs/nowhere/at/all',
  ])('%s is 404 with a page whose links work at any depth', async (path) => {
    const response = await get(path, { 'if-none-match': '*' });
    expect([response.status, response.headers['cache-control']]).toEqual([404, 'no-store']);
    expect(text(response)).toContain('<h1>Page not found</h1>');
    expect(text(response)).toContain('<a href="/docs/how-to/install.html">');
    expect(text(response)).toContain('href="/docs/docs.css"');
  });

  test('forbids external resources and inline scripts on every page', async () => {
    const { headers } = await get('/docs/');
    const policy = headers['content-security-policy']!.split('; ');
    expect(policy).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
      ]),
    );
    for (const address of ['/docs/search.html', '/docs/nowhere', ...pages.map((page) => page.address)]) {
      const response = await get(address);
      expect(response.headers['content-security-policy']).toBe(headers['content-security-policy']!);
      const tags = text(response)
        .match(/<[a-z][^>]*>/g)!
        .join('\n');
      expect(tags).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=|"javascript:/i);
      expect(tags).not.toMatch(/<(?:script|link|img)[^>]*(?:src|href)="(?:https?:)?\/\//);
    }
  });

  test('is revalidated by ETag and compressed', async () => {
    const { headers } = await get('/docs/', { 'accept-encoding': 'br' });
    expect([headers['cache-control'], headers['content-encoding']]).toEqual(['no-cache', 'br']);
    expect((await get('/docs/', { 'if-none-match': headers.etag! })).status).toBe(304);
    expect((await get('/docs/reference/est.html', { 'if-none-match': headers.etag! })).status).toBe(200);
  });

  test('accepts GET and HEAD only, over HTTPS only', async () => {
    const { status, headers } = await get('/docs/', {}, 'POST');
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD']);
    expect([mount.plainHttp, mount.bodyLimit]).toEqual([false, 0]);
    expect([mount.refuse(413, 'too long').status, mount.refuse(408, 'too slow').status]).toEqual([404, 408]);
  });
});
