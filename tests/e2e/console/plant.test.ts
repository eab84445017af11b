import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { hasBrowser, type Page } from '#tests/fixtures/browser.ts';
import { shell } from '#tests/fixtures/server.ts';
import { hands } from './hands.ts';
import { buildPlant } from './plant.ts';
import { type Site, settled, startSite } from './site.ts';

let site: Site;
let page: Page;
const axe = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const desk = { width: 1440, height: 900, dark: false };
const phone = { width: 390, height: 844, dark: true };
const { press, choose } = hands(() => page);

beforeAll(async () => {
  if (!hasBrowser) return;
  site = await startSite();
  await buildPlant(site);
  page = await site.tab();
  await page.look(desk);
  await site.signIn(page, '/');
  await page.evaluate(axe);
}, 60_000);
afterAll(() => site?.[Symbol.asyncDispose]());

const violations = (): Promise<readonly string[]> =>
  page.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`);

const pageWidth = (): Promise<number> => page.evaluate('document.documentElement.scrollWidth');

describe.skipIf(!hasBrowser)('with the data of a plant', () => {
  test.each(['/devices', '/certificates', '/domains', '/profiles', '/approvals', '/audit', '/users', '/tls'])(
    'the list on %s has a line for each record on a desk, and fits a phone',
    async (path) => {
      await page.look(desk);
      await site.show(page, path);
      const heights = await page.evaluate<number[]>(
        "[...document.querySelectorAll('table.list tbody tr')].map((row) => row.getBoundingClientRect().height)",
      );
      expect(heights.length).toBeGreaterThan(0);
      expect(Math.max(...heights)).toBeLessThanOrEqual(48);
      expect(
        await page.evaluate(
          "document.querySelector('.scroll').scrollWidth <= document.querySelector('.scroll').clientWidth",
        ),
      ).toBe(true);
      await page.look(phone);
      expect(await pageWidth()).toBeLessThanOrEqual(phone.width);
      // No value is cut off by the edge of its record.
      expect(
        await page.evaluate(`[...document.querySelectorAll('table.list td')]
          .filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.innerText)`),
      ).toEqual([]);
      expect(await violations()).toEqual([]);
    },
    30_000,
  );

  test('an event that did not succeed says why on its line of the audit log', async () => {
    await page.look(desk);
    await site.show(page, '/audit?outcome=refused%2Cfailed');
    const rows = await page.evaluate<string[]>(
      "[...document.querySelectorAll('table.list tbody tr')].map((row) => row.innerText)",
    );
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.filter((row) => !/Rejected\s+\w+/.test(row))).toEqual([]);
  }, 30_000);

  test('the history of a device has a line for each event, which opens to its details', async () => {
    await page.look(desk);
    await site.show(page, '/devices/1?tab=history');
    const heights = await page.evaluate<number[]>(
      "[...document.querySelectorAll('.event')].map((event) => event.getBoundingClientRect().height)",
    );
    expect(heights.length).toBeGreaterThan(2);
    expect(Math.max(...heights)).toBeLessThanOrEqual(48);
    await page.click('.event summary');
    await page.until("document.querySelector('.event .facts').checkVisibility()");
    expect(await violations()).toEqual([]);
  }, 30_000);

  test('every figure of the overview leads to what it counts', async () => {
    await page.look(desk);
    await site.show(page, '/');
    const links = await page.until<string[]>(
      `${settled} && [...document.querySelectorAll('.tile')].map((tile) => tile.getAttribute('href') ?? '')`,
    );
    expect(links.length).toBeGreaterThan(5);
    expect(links.filter((href) => !/^[/#]/.test(href))).toEqual([]);
    expect(await violations()).toEqual([]);
  }, 30_000);
});

describe.skipIf(!hasBrowser)('in German', () => {
  const speak = async (language: string): Promise<void> => {
    await page.evaluate(`{ const s = document.querySelector('.preferences select'); s.value = '${language}';
      s.dispatchEvent(new Event('change', { bubbles: true })); }`);
    await page.until(`document.documentElement.lang === '${language}'`);
  };
  beforeAll(() => speak('de'));
  afterAll(() => speak('en'));

  test.each([
    '/',
    '/devices',
    '/devices/1',
    '/certificates',
    '/certificates/12',
    '/cas',
    '/cas/new',
    '/approvals/1',
    '/approvals/policies',
    '/profiles/1',
    '/audit',
    '/backups',
  ])(
    '%s fits a desk and a phone, light and dark, without violations',
    async (path) => {
      for (const { width, height } of [desk, phone]) {
        for (const dark of [false, true]) {
          await page.look({ width, height, dark });
          await site.show(page, path);
          expect(await violations()).toEqual([]);
          expect(await pageWidth()).toBeLessThanOrEqual(width);
        }
      }
    },
    60_000,
  );
});

describe.skipIf(!hasBrowser)('on a phone', () => {
  test('the header is one line, and a button opens the pages and the account', async () => {
    await page.look(phone);
    await site.show(page, '/');
    expect(
      await page.evaluate<number>("document.querySelector('.top').getBoundingClientRect().height"),
    ).toBeLessThanOrEqual(56);
    const offered =
      "document.querySelector('.navigation a[href=\"/devices\"]').checkVisibility() && document.querySelector('.who').checkVisibility()";
    expect(await page.evaluate(offered)).toBe(false);
    await page.click('.menu');
    await page.until(offered);
    expect(await violations()).toEqual([]);
    await page.click('.navigation a[href="/devices"]');
    await page.until(`location.pathname === '/devices' && ${settled} && !(${offered})`);
  }, 30_000);

  test('filters are folded until they are asked for, and say how many are in use', async () => {
    await page.look(phone);
    await site.show(page, '/certificates');
    const state = "document.querySelector('[name=state]').checkVisibility()";
    expect(await page.evaluate(state)).toBe(false);
    await page.click('.fold');
    await page.until(state);
    await choose('state', 'Revoked');
    await page.until(`${settled} && document.querySelector('.fold').innerText === 'Filters (1)'`);
    expect(await page.evaluate("document.querySelectorAll('table.list tbody tr').length")).toBe(2);
  }, 30_000);

  test('the verdict of the profile preview is in sight wherever the page is scrolled to', async () => {
    await page.look(phone);
    await site.show(page, '/profiles/1/edit');
    const csr = shell(
      site.server.directory,
      'openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout p.key -subj /CN=pump-01',
    ).stdout;
    await page.type('[name=csr]', csr);
    for (const end of ['0', 'document.documentElement.scrollHeight']) {
      await page.evaluate(`scrollTo(0, ${end})`);
      await page.until(
        `{ const box = document.querySelector('.verdict')?.getBoundingClientRect(); box && box.top > 0 && box.bottom <= ${phone.height} }`,
      );
    }
    expect(await page.evaluate("document.querySelector('.verdict').innerText")).toContain(
      'certificate would be issued',
    );
    expect(await violations()).toEqual([]);
  }, 30_000);
});

describe.skipIf(!hasBrowser)('a dangerous action names its object:', () => {
  test.each([
    ['/cas/3', 'Deactivate', 'press-shop', false],
    ['/cas/3', 'Delete', 'press-shop', true],
    ['/domains/2', 'Delete', 'press-shop', true],
    ['/devices/1', 'Block', 'press-01', false],
    ['/devices/1', 'Revoke all certificates', 'press-01', true],
    ['/devices/1', 'Delete', 'press-01', true],
    ['/certificates/12', 'Revoke', undefined, true],
    ['/approvals/1', 'Reject', 'CN=valve-03', false],
    ['/logs', 'Delete', 'postern.log', true],
    ['/users', 'Delete', 'admin', true],
    ['/backups', 'Delete', 'sftp://backup@vault.plant.example/srv/postern', false],
  ])(
    '%s, %s',
    async (path, action, object, isFinal) => {
      await page.look(desk);
      await site.show(page, path);
      const name = object ?? (await page.evaluate<string>("document.querySelector('main h1').innerText"));
      await press(action);
      await page.until("document.querySelector('dialog.dangerous')");
      expect(await page.evaluate("document.querySelector('dialog .object').innerText")).toBe(name);
      const typed = "document.querySelector('dialog [name=confirmation]')";
      expect(await page.evaluate(`${typed} !== null`)).toBe(isFinal);
      if (isFinal) {
        expect(await page.evaluate("document.querySelector('dialog').innerText")).toContain(
          'This cannot be undone.',
        );
        await page.type('dialog [name=confirmation]', `${name}?`);
        await page.press('Enter');
        await page.until(
          "document.querySelector('dialog .complaint')?.innerText === 'This is not the name.'",
        );
      }
      expect(await violations()).toEqual([]);
      await page.look(phone);
      expect(await violations()).toEqual([]);
      await press('Cancel');
      await page.until("document.querySelector('dialog') === null");
    },
    30_000,
  );

  test('what can be undone is done without its name', async () => {
    await page.look(desk);
    await site.show(page, '/certificates?search=press-03');
    await page.click('table.list tbody a');
    await page.until(`${settled} && location.pathname.startsWith('/certificates/')`);
    await press('Revoke');
    await choose('reason', 'certificateHold: suspended; can be undone');
    await page.until("document.querySelector('dialog [name=confirmation]') === null");
    await press('Revoke');
    await page.until("document.querySelector('main .badge')?.innerText === 'On hold'");
  }, 30_000);
});
