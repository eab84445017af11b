import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hasBrowser, type Page } from '#tests/fixtures/browser.ts';
import { type Site, settled, startSite } from './site.ts';

let site: Site;
let page: Page;

beforeAll(async () => {
  if (!hasBrowser) return;
  site = await startSite();
  page = await site.tab();
  await page.look({ width: 1440, height: 900, dark: false });
  await site.signIn(page, '/');
}, 60_000);
afterAll(() => site?.[Symbol.asyncDispose]());

/** The first time on the page of the CA, as it is written; its instant, and its title. */
interface Shown {
  readonly text: string;
  readonly at: string;
  readonly title: string;
}

async function expiryOfCa(languages: string, timeZone: string): Promise<Shown> {
  await page.locate(languages, timeZone);
  await page.open(`${site.server.baseUrl}/cas/1`);
  await page.until(`${settled} && document.querySelector('.facts time')`);
  return page.evaluate(`{ const time = document.querySelector('.facts time');
    ({ text: time.firstChild.textContent, at: time.dateTime, title: time.title }) }`);
}

/** What the reader's own format writes: an oracle beside the console's choice of locale and zone. */
const written = (at: string, locale: string, timeZone: string): string =>
  new Intl.DateTimeFormat(locale, {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
    timeZone,
  }).format(new Date(at));

describe.skipIf(!hasBrowser)('a time is formatted', () => {
  test.each([
    ['en-GB,en', 'Europe/London', 'en-GB', /^\d{1,2} \w{3,4} \d{4}, \d\d:\d\d (?:GMT|BST)$/],
    ['en-US,en', 'America/New_York', 'en-US', /^\w{3} \d{1,2}, \d{4}, \d\d:\d\d\s[AP]M E[SD]T$/],
    // No English among the languages: the console is German, and says what is known of a German reader.
    ['de-AT', 'Europe/Vienna', 'de-AT', /^\d{1,2}\. .* \d{4}, \d\d:\d\d ME(?:Z|SZ)$/],
    ['fr-FR,en-NZ', 'Pacific/Auckland', 'en-NZ', /^\d{1,2} \w{3,4} \d{4}, \d\d:\d\d\s[ap]m NZ[SD]T$/],
    // Neither language: English, a day before its month.
    ['fr-FR', 'Asia/Kolkata', 'en-GB', /^\d{1,2} \w{3,4} \d{4}, \d\d:\d\d GMT\+5:30$/],
  ])(
    'for a browser with %s in %s as in %s',
    async (languages, timeZone, locale, form) => {
      const { text, at, title } = await expiryOfCa(languages, timeZone);
      expect(text).toMatch(form);
      expect(text.replace(/\s/g, ' ')).toBe(written(at, locale, timeZone).replace(/\s/g, ' '));
      // To the second, in this zone and in UTC.
      expect(title).toEndWith(`(${at})`);
      expect(title).toMatch(/\d\d:\d\d:\d\d/);
    },
    30_000,
  );

  test('in the selected variant of the language, not the first one', async () => {
    await expiryOfCa('de-DE,en-GB', 'Europe/Berlin');
    await page.evaluate(`{ const s = document.querySelector('.preferences select'); s.value = 'en';
      s.dispatchEvent(new Event('change', { bubbles: true })); }`);
    await page.until("document.documentElement.lang === 'en'");
    const text = await page.evaluate<string>("document.querySelector('.facts time').firstChild.textContent");
    expect(text).toMatch(/^\d{1,2} \w{3,4} \d{4}, \d\d:\d\d (?:CET|CEST)$/);
    await page.evaluate('localStorage.clear()');
  }, 30_000);
});
