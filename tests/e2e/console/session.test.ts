import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hasBrowser, type Page } from '#tests/fixtures/browser.ts';
import { adminPassword, type Site, settled, startSite } from './site.ts';

let site: Site;

beforeAll(async () => {
  if (hasBrowser) site = await startSite();
}, 60_000);
afterAll(() => site?.[Symbol.asyncDispose]());

const heading = (page: Page): Promise<string> => page.until("document.querySelector('main h1')?.innerText");
const said = (page: Page, selector: string): Promise<string> =>
  page.until(`document.querySelector('${selector}')?.innerText`);

/** As the database would have it once the access token has run out. */
const spoilAccessToken = (page: Page): Promise<void> =>
  page.evaluate(`new Promise((resolve, reject) => {
    const request = indexedDB.open('postern', 1);
    request.onsuccess = () => {
      const transaction = request.result.transaction('session', 'readwrite');
      const store = transaction.objectStore('session');
      store.get('tokens').onsuccess = ({ target }) =>
        store.put({ ...target.result, access: target.result.access.slice(0, -4) + 'AAAA' }, 'tokens');
      transaction.oncomplete = () => { request.result.close(); resolve(); };
      transaction.onabort = reject;
    };
  })`);

describe.skipIf(!hasBrowser)('a session', () => {
  test('does not start with a wrong password, and starts with the requested page', async () => {
    await using page = await site.tab();
    await page.open(`${site.server.baseUrl}/sign-in`);
    await page.until("document.querySelector('.who button')?.click() ?? document.querySelector('.sign-in')");
    await page.open(`${site.server.baseUrl}/domains?ordering=unique_name`);
    await page.type('[name=username]', 'admin');
    await page.press('Enter');
    expect(await said(page, '.complaint')).toBe('This field is required.');
    await page.type('[name=password]', 'wrong');
    await page.press('Enter');
    expect(await page.until("document.querySelector('.complaint')?.innerText.includes('wrong')")).toBe(true);
    await page.until("document.activeElement.name === 'username'");
    await page.evaluate("document.querySelector('[name=password]').select()");
    await page.type('[name=password]', adminPassword);
    await page.press('Enter');
    await page.until(`${settled} && document.querySelector('table.list')`);
    expect(await page.evaluate('location.pathname + location.search')).toBe('/domains?ordering=unique_name');
    expect(await heading(page)).toBe('Domains');
  }, 60_000);

  test('is refused to a service account, with the reason', async () => {
    await using page = await site.tab();
    await page.open(`${site.server.baseUrl}/sign-in`);
    await page.until("document.querySelector('.who button')?.click() ?? document.querySelector('.sign-in')");
    await page.type('[name=username]', 'sa_1');
    await page.type('[name=password]', 'whatever it is');
    await page.press('Enter');
    expect(await said(page, '.complaint')).toContain('Service accounts sign in to the API');
  }, 60_000);

  test('is shared by tabs; when the access token has expired, one tab refreshes it and all continue', async () => {
    await using first = await site.tab();
    await site.signIn(first, '/domains');
    await spoilAccessToken(first);
    const tabs = await Promise.all([site.tab(), site.tab(), site.tab()]);
    // They come up with the token that is not good any more, all at once.
    await Promise.all(tabs.map((tab) => tab.open(`${site.server.baseUrl}/domains`)));
    for (const tab of tabs) {
      await tab.until(`${settled} && document.querySelector('table.list')`);
      expect(await heading(tab)).toBe('Domains');
    }
    const refreshes = tabs.flatMap(({ requests }) =>
      requests.filter((url) => url.endsWith('/api/token/refresh/')),
    );
    expect(refreshes.length).toBe(1);
    for (const tab of tabs) await tab[Symbol.asyncDispose]();
  }, 60_000);

  test('that is ended elsewhere ends here, and its page is shown after the next sign-in', async () => {
    await using page = await site.tab();
    await page.open(`${site.server.baseUrl}/devices`);
    await page.until(`document.querySelector('.navigation') || document.querySelector('.sign-in')`);
    if (await page.evaluate("document.querySelector('.sign-in') !== null"))
      await site.signIn(page, '/devices');
    // A new password ends every session.
    const users = (await site.api('GET', '/api/users/?username=admin')) as { id: number }[];
    await site.api('PATCH', `/api/users/${users[0]!.id}/`, { password: adminPassword });
    await page.click('.navigation a[href="/domains"]');
    await page.until("document.querySelector('.sign-in')");
    expect(await page.evaluate('location.pathname')).toBe('/domains');
    await site.signIn(page, '/domains');
    expect(await heading(page)).toBe('Domains');
  }, 60_000);

  test('with a password set by an administrator requires a new password first', async () => {
    const given = 'what the administrator chose';
    const chosen = 'what jim chose himself';
    const [role] = (await site.api('GET', '/api/roles/?unique_name=Operator')) as { id: number }[];
    await site.api('POST', '/api/users/', { username: 'jim', password: given, role: role!.id });
    await using page = await site.tab();
    await page.open(`${site.server.baseUrl}/devices`);
    await page.until("document.querySelector('.who button')?.click() ?? document.querySelector('.sign-in')");
    await page.type('.sign-in [name=username]', 'jim');
    await page.type('.sign-in [name=password]', given);
    await page.press('Enter');
    await page.until("document.querySelector('[name=current_password]')");
    expect(await heading(page)).toBe('Change password');
    expect(await page.evaluate("document.querySelector('.navigation')")).toBeNull();
    await page.type('[name=current_password]', given);
    await page.type('[name=new_password]', 'password');
    await page.type('[name=again]', 'passw0rd');
    await page.press('Enter');
    expect(await said(page, '.complaint')).toBe('The two new passwords differ.');
    await page.evaluate("document.querySelector('[name=again]').select()");
    await page.type('[name=again]', 'password');
    await page.press('Enter');
    await page.until("document.querySelector('.complaint')?.innerText.includes('most common passwords')");
    for (const name of ['new_password', 'again']) {
      await page.evaluate(`document.querySelector('[name=${name}]').select()`);
      await page.type(`[name=${name}]`, chosen);
    }
    await page.press('Enter');
    await page.until(`${settled} && document.querySelector('.navigation')`);
    expect(await heading(page)).toBe('Devices');

    // Later it is changed by choice, in German as well.
    await page.click('.who a');
    await page.until("document.querySelector('[name=current_password]')");
    await page.evaluate(`{ const s = document.querySelector('.preferences select'); s.value = 'de';
      s.dispatchEvent(new Event('change', { bubbles: true })); }`);
    await page.until("document.querySelector('main h1')?.innerText === 'Kennwort ändern'");
    await page.type('[name=current_password]', chosen);
    for (const name of ['new_password', 'again']) await page.type(`[name=${name}]`, `${chosen} later`);
    await page.press('Enter');
    await page.until(`location.pathname === '/' && ${settled}`);
    await page.evaluate(`{ const s = document.querySelector('.preferences select'); s.value = 'en';
      s.dispatchEvent(new Event('change', { bubbles: true })); }`);
    await page.click('.who button');
    await page.until("document.querySelector('.sign-in')");
  }, 60_000);

  test('ends in every tab on sign-out, and the refresh token no longer works', async () => {
    await using page = await site.tab();
    await using other = await site.tab();
    await site.signIn(page, '/');
    await other.open(`${site.server.baseUrl}/domains`);
    await other.until("document.querySelector('.navigation')");
    await page.click('.who button');
    await page.until("document.querySelector('.sign-in')");
    expect(await other.until("document.querySelector('.sign-in') !== null")).toBe(true);
    await page.until(`performance.getEntriesByName('${site.server.baseUrl}/api/token/revoke/').length > 0`);
    const left = await page.evaluate(`new Promise((resolve) => {
      const request = indexedDB.open('postern', 1);
      request.onsuccess = () => {
        request.result.transaction('session').objectStore('session').getAll().onsuccess = ({ target }) => resolve(target.result.length);
      };
    })`);
    expect(left).toBe(0);
  }, 60_000);

  test('leaves nothing that another site or a later user can read', async () => {
    await using page = await site.tab();
    await site.signIn(page, '/');
    expect(await page.evaluate('document.cookie')).toBe('');
    const kept = await page.evaluate<string>('JSON.stringify({ ...localStorage, ...sessionStorage })');
    expect(kept).not.toContain('eyJ');
  }, 60_000);

  test('shows when the service is unavailable, and continues afterwards', async () => {
    await using page = await site.tab();
    await site.signIn(page, '/');
    await page.until(settled);
    await site.server.stop();
    await page.click('.navigation a[href="/domains"]');
    expect(await said(page, '.notice.bad')).toContain('The service does not respond');
    expect(await said(page, '.notice.warn')).toContain('may be out of date');
    await site.server.start();
    await page.click('.notice.warn button');
    expect(await page.until("document.querySelector('.notice.warn') === null")).toBe(true);
    await page.click('.notice.bad button');
    await page.until(`${settled} && document.querySelector('table.list')`);
  }, 60_000);
});
