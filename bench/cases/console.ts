import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { pages } from '#tests/e2e/console/places.ts';
import { hasBrowser, openBrowser, type Page } from '#tests/fixtures/browser.ts';
import { run } from '../measure.ts';
import type { Result } from '../report.ts';
import { restEnrolments } from '../requests.ts';
import { startServer } from '../server.ts';
import { administer, createSite } from '../site.ts';
import { fillInventory } from '../store.ts';
import { type Case, loopback } from './case.ts';

/** The target time in milliseconds until a page shows all of its contents. */
const maxTime = 1000;
const visits = 3;
/** Milliseconds until maintenance has counted the certificates of past days. */
const longestWait = 120_000;

/** Measures how long a browser takes to load each page of the console over a filled store. */
export const consoleCase: Case = {
  name: 'console',
  async run(load, { filled: certificates, inventory: devices }) {
    if (!hasBrowser) return [];
    using site = await createSite(1, loopback);
    {
      // One certificate, from which the others are copied.
      await using server = await startServer(site);
      await run(load, {
        port: server.port,
        connections: 1,
        count: 1,
        requests: restEnrolments(site.devices),
      });
    }
    const password = crypto.randomUUID();
    await administer(site, async (gateway, operator) => {
      const [admin] = (await gateway.users.list(operator, { limit: 1 })).records;
      await gateway.users.update(operator, admin!.id, { password });
    });
    fillInventory(site.directory, devices, certificates);
    await using server = await startServer(site);
    await countedDays(site.directory);
    await using browser = await openBrowser();
    await using page = await browser.page();
    const baseUrl = `https://localhost:${server.port}`;
    await page.open(baseUrl);
    await page.type('.sign-in [name=username]', 'admin');
    await page.type('.sign-in [name=password]', password);
    await page.press('Enter');
    await page.until("document.querySelector('.navigation')");
    const results: Result[] = [];
    for (const path of places(devices, certificates)) {
      const times: number[] = [];
      for (let n = 0; n < visits; n++) times.push(await visit(page, `${baseUrl}${path}`));
      results.push(resultOf(path, times, devices, certificates));
    }
    return results;
  },
};

/** Returns the paths of every list page, of one record of each kind, and of lists that are searched, filtered and ordered. */
const places = (devices: number, certificates: number): readonly string[] => [
  ...pages.map(({ path }) => path).filter((path) => !path.includes(':')),
  `/devices/${devices / 2}`,
  `/devices/${devices / 2}?tab=certificates`,
  `/devices/${devices / 2}?tab=history`,
  `/certificates/${certificates / 2}`,
  '/cas/2',
  '/domains/1',
  '/profiles/1',
  '/profiles/1/edit',
  `/devices?search=machine-${devices - 1}`,
  '/devices?state=active',
  '/devices?ordering=common_name',
  `/certificates?search=machine-${devices - 1}`,
  '/certificates?ordering=not_valid_after',
];

/** Returns the milliseconds from the start of the navigation until the page has loaded everything. */
async function visit(page: Page, url: string): Promise<number> {
  await page.open(url);
  const time = await page.until<number>(`new Promise((done) => {
    const look = () => document.querySelector('main h1') && !document.querySelector('.waiting, [aria-busy=true]')
      ? done(performance.now()) : setTimeout(look, 5);
    look();
  })`);
  const fault = await page.evaluate("document.querySelector('.notice.bad')?.innerText ?? ''");
  if (fault !== '') throw new Error(`${url}: ${fault}`);
  return time;
}

async function countedDays(dataDirectory: string): Promise<void> {
  const end = performance.now() + longestWait;
  using database = new Database(join(dataDirectory, 'postern.db'), { readonly: true });
  const counted = database.query("select 1 from settings where name = 'issued-certificates'");
  while (counted.get() === null) {
    if (performance.now() > end)
      throw new Error('maintenance has not counted the certificates of past days in time');
    await Bun.sleep(250);
  }
}

function resultOf(path: string, times: readonly number[], devices: number, certificates: number): Result {
  const longest = Math.max(...times);
  return {
    title: `Console ${path}`,
    target: `≤ ${maxTime / 1000} s`,
    measured: `${longest.toFixed(0)} ms`,
    met: longest <= maxTime,
    remark: `until fully loaded, longest of ${visits}; ${devices.toLocaleString('en')} devices, ${certificates.toLocaleString('en')} certificates`,
    figures: { times },
  };
}
