import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { permissions, shippedRoles } from '#core/access/permissions.ts';
import { hasBrowser, type Page } from '#tests/fixtures/browser.ts';
import { pages, placeOf, populate } from './places.ts';
import { type Site, settled, startSite } from './site.ts';

let site: Site;
let page: Page;
const axe = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const password = 'a long password';

beforeAll(async () => {
  if (!hasBrowser) return;
  site = await startSite();
  await populate(site);
  const roles = (await site.api('GET', '/api/roles/')) as { id: number; unique_name: string }[];
  for (const { id, unique_name } of roles) await site.user(`a-${unique_name}`, password, id);
  page = await site.tab();
  await page.look({ width: 1280, height: 900, dark: false });
  await site.signIn(page, '/');
}, 60_000);
afterAll(() => site?.[Symbol.asyncDispose]());

/** What axe-core finds wrong with what is shown, by WCAG 2.2 AA and its own best practices. */
const audit = (of: Page): Promise<readonly string[]> =>
  of.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`);

const expected = (complaint: string): boolean => /server responded with a status of 4\d\d/.test(complaint);

test('a page requires an existing permission', () => {
  expect(pages.length).toBeGreaterThan(5);
  const known: readonly string[] = permissions;
  expect(pages.filter(({ needs }) => needs !== undefined && !known.includes(needs))).toEqual([]);
});

describe.skipIf(!hasBrowser)('every page', () => {
  beforeAll(async () => {
    await page.click('.who button');
    await page.until("document.querySelector('.sign-in')");
    await site.signIn(page, '/');
    await page.evaluate(axe);
  });

  test.each(pages)(
    '$path is shown without errors, light and dark, wide and narrow, in English and in German',
    async (described) => {
      await site.show(page, placeOf(described));
      expect(await page.evaluate("document.querySelector('.notice.bad')?.textContent ?? ''")).toBe('');
      const english = await page.evaluate<string>("document.querySelector('main').innerText");
      expect(await audit(page)).toEqual([]);
      await page.look({ width: 360, height: 740, dark: true });
      expect(await audit(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
      await page.look({ width: 1280, height: 900, dark: false });
      await choose('de');
      expect(await page.evaluate("document.querySelector('main').innerText")).not.toBe(english);
      await choose('en');
      expectQuiet();
    },
    30_000,
  );

  /** Nothing came from elsewhere, nothing broke the policy and nothing failed. */
  function expectQuiet(): void {
    const elsewhere = page.requests.filter((url) => !url.startsWith(site.server.baseUrl));
    expect(elsewhere.filter((url) => !url.startsWith('data:'))).toEqual([]);
    expect(page.complaints.filter((complaint) => !expected(complaint))).toEqual([]);
  }

  test('an unknown address shows an error page with the navigation, also before sign-in', async () => {
    const notFound = "document.querySelector('main h1')?.innerText === 'Page not found'";
    await goTo('/devices/1/nothing');
    await page.until(notFound);
    expect(await audit(page)).toEqual([]);
    await page.open(`${site.server.baseUrl}/nowhere`);
    await page.until(`${notFound} && document.querySelector('.navigation a[href="/devices"]')`);
    expect(await page.evaluate("document.querySelector('main p').innerText")).toContain(
      'no page at /nowhere',
    );
    expect(await page.evaluate("performance.getEntriesByType('navigation')[0].responseStatus")).toBe(404);
    await page.click('.who button');
    await page.until(`${notFound} && !document.querySelector('.navigation')`);
    await site.signIn(page, '/');
    await page.evaluate(axe);
  });
});

const goTo = (path: string): Promise<void> =>
  page.evaluate(`history.pushState(null, '', '${path}'); dispatchEvent(new PopStateEvent('popstate'))`);

async function choose(language: string): Promise<void> {
  await page.evaluate(`{ const s = document.querySelector('.preferences select'); s.value = '${language}';
    s.dispatchEvent(new Event('change', { bubbles: true })); }`);
  await page.until(`document.documentElement.lang === '${language}' && ${settled}`);
}

describe.skipIf(!hasBrowser)('a role sees exactly the pages that its permissions allow:', () => {
  test.each(Object.keys(shippedRoles))(
    '%s',
    async (role) => {
      const { permissions: granted } = shippedRoles[role]!;
      await page.click('.who button');
      await page.until("document.querySelector('.sign-in')");
      await site.signIn(page, '/', `a-${role}`, password);
      const wrong: unknown[] = [];
      for (const described of pages) {
        await goTo(placeOf(described));
        const refusal = "document.querySelector('main h1')?.innerText.includes('role does not show')";
        const shown = await page.until<string>(`${refusal} ? 'refused' : (${settled}) ? 'shown' : null`);
        const may = described.needs === undefined || (granted as readonly string[]).includes(described.needs);
        if ((shown === 'shown') !== may) wrong.push([described.path, shown]);
        const fault = await page.evaluate("document.querySelector('.notice.bad')?.innerText ?? ''");
        if (fault !== '') wrong.push([described.path, fault]);
      }
      expect(wrong).toEqual([]);
      expect(page.complaints.filter((complaint) => !expected(complaint))).toEqual([]);
    },
    60_000,
  );
});
