import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportSite } from '#adapters/inbound/docs/export.ts';
import { type Browser, hasBrowser, openBrowser, type Page } from '#tests/fixtures/browser.ts';
import { crawl } from '#tests/fixtures/crawl.ts';
import { type Server, shell, startServer } from '#tests/fixtures/server.ts';

const axe = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const exported = mkdtempSync(join(tmpdir(), 'postern-docs-'));
let server: Server;
let browser: Browser | undefined;
let page: Page;

beforeAll(async () => {
  await exportSite(exported);
  server = await startServer();
  if (!hasBrowser) return;
  browser = await openBrowser();
  page = await browser.page();
}, 60_000);
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
  rmSync(exported, { recursive: true });
});

const isLoaded = "document.readyState === 'complete'";
const show = async (url: string): Promise<void> => {
  await page.open(url);
  await page.until(isLoaded);
};
/** Types a key of the configuration into the search of the page that is shown, and follows the best result to its heading. */
async function search(key: string): Promise<void> {
  await page.type('header input', key);
  await page.press('Enter');
  await page.until("document.querySelector('#results a')");
  expect(await page.evaluate("document.querySelector('#count').innerText")).toMatch(/\d sections?$/);
  await page.click('#results a');
  await page.until(
    `document.querySelector(':target') && document.querySelector('main').innerText.includes('${key}')`,
  );
}

test('the gateway serves the documentation over HTTPS, without signing in, and not over plain HTTP', () => {
  const status = (url: string): string =>
    shell(server.directory, `curl -sk --path-as-is -o /dev/null -w '%{http_code}' '${url}'`).stdout;
  expect(status(`${server.baseUrl}/docs/how-to/install.html`)).toBe('200');
  expect(status(`${server.baseUrl}/docs/../api/devices/`)).toBe('404');
  expect(status(`${server.baseUrl}/docs/..%2f..%2fpackage.json`)).toBe('404');
  expect(status(`http://localhost:${server.httpPort}/docs/`)).toBe('404');
});

test('the exported site is whole', async () => {
  const { reached, broken } = await crawl('/any/where/index.html', async (path) => {
    const file = Bun.file(join(exported, path.slice('/any/where/'.length)));
    return path.startsWith('/any/where/') && (await file.exists()) ? file.text() : undefined;
  });
  expect(broken).toEqual([]);
  const files = [...new Bun.Glob('**/*.html').scanSync(exported)].filter((file) => file !== '404.html');
  expect(files.filter((file) => !reached.has(`/any/where/${file}`))).toEqual([]);
});

describe.skipIf(!hasBrowser)('in a browser', () => {
  test.each([
    '/docs/',
    '/docs/how-to/install.html',
    '/docs/reference/configuration.html',
    '/docs/search.html?q=idevid',
    '/docs/nowhere/at/all',
  ])(
    '%s is accessible, light and dark, wide and narrow',
    async (path) => {
      const before = page.complaints.length;
      await page.look({ width: 1280, height: 900, dark: false });
      await show(`${server.baseUrl}${path}`);
      await page.evaluate(axe);
      const audit = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
        violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`;
      expect(await page.evaluate(audit)).toEqual([]);
      await page.look({ width: 360, height: 740, dark: true });
      expect(await page.evaluate(audit)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
      const complaints = page.complaints.slice(before);
      expect(complaints.filter((one) => !/status of 404/.test(one))).toEqual([]);
    },
    30_000,
  );

  test('the search finds an identifier, and nothing is loaded from elsewhere', async () => {
    await page.look({ width: 1280, height: 900, dark: false });
    await show(`${server.baseUrl}/docs/how-to/ocsp.html`);
    await search('message_time_required');
    expect(page.requests.filter((url) => !/^(?:data:|https:\/\/localhost:)/.test(url))).toEqual([]);
    await show(`${server.baseUrl}/docs/search.html?q=%3Cimg%20src%3Dx%3E%20zzz`);
    expect(await page.evaluate("document.querySelector('#count').innerText")).toBe(
      'No section contains “<img src=x> zzz”.',
    );
    expect(await page.evaluate("document.querySelectorAll('main img').length")).toBe(0);
  }, 30_000);

  test('the console leads to it', async () => {
    await show(`${server.baseUrl}/`);
    await page.click('.top .help');
    await page.until("document.querySelector('main h1')?.innerText === 'Postern'");
    expect(await page.evaluate('location.pathname')).toBe('/docs/');
  }, 30_000);

  test('the exported site works under a path of a static file server, and opened as files', async () => {
    const files = Bun.serve({
      hostname: 'localhost',
      port: 0,
      fetch: ({ url }) =>
        new Response(Bun.file(join(exported, new URL(url).pathname.slice('/any/where/'.length)))),
    });
    try {
      for (const start of [`http://localhost:${files.port}/any/where`, `file://${exported}`]) {
        await show(`${start}/tutorials/first-certificate.html`);
        await search('message_time_required');
        expect(await page.evaluate('location.href')).toStartWith(`${start}/reference/`);
        expect(await page.evaluate("getComputedStyle(document.querySelector('nav summary')).cursor")).toBe(
          'pointer',
        );
      }
    } finally {
      await files.stop(true);
    }
  }, 30_000);
});
