import { afterAll, beforeAll, expect } from 'bun:test';
import { hasBrowser, type Page } from '#tests/fixtures/browser.ts';
import { inOrder } from '#tests/fixtures/in-order.ts';
import { hands } from './hands.ts';
import { type Site, settled, startSite } from './site.ts';

let site: Site;
let page: Page;
const { press, choose } = hands(() => page);
const password = 'the password of jo';

beforeAll(async () => {
  if (!hasBrowser) return;
  site = await startSite();
  for (const name of ['terminal-1', 'terminal-2', 'terminal-3'])
    await site.api('POST', '/api/certificates/', { common_name: name });
  await site.api('POST', '/api/approval-policies/', {
    unique_name: 'issued by hand',
    decision: 'manual',
    protocols: ['management'],
  });
  for (const name of ['panel-1', 'panel-2'])
    await site.api('POST', '/api/certificates/', { common_name: name });
  const [operator] = (await site.api('GET', '/api/roles/?unique_name=Operator')) as { id: number }[];
  await site.user('jo', password, operator!.id);
  page = await site.tab();
  await page.look({ width: 1440, height: 900, dark: false });
  await site.signIn(page, '/', 'jo', password);
}, 60_000);
afterAll(() => site?.[Symbol.asyncDispose]());

const figure = (name: string): Promise<string> =>
  page.until(`{ const tile = [...document.querySelectorAll('.tile')]
    .find((one) => one.querySelector('span').innerText === ${JSON.stringify(name)});
    const value = tile?.querySelector('strong').innerText; value !== '…' && value }`);
const select = (name: string): Promise<unknown> =>
  page.until(
    `{ const box = document.querySelector('[aria-label=' + JSON.stringify('Select: ' + ${JSON.stringify(name)}) + ']'); box?.click(); box !== null }`,
  );
const rows = (): Promise<readonly string[]> =>
  page.until(
    `${settled} && [...document.querySelectorAll('table.list tbody tr')].map((row) => row.innerText)`,
  );

inOrder('overview and bulk actions', { skip: !hasBrowser, timeout: 180_000 }, (step) => {
  step('show numbers that link to what they count, and names in place of ids', async () => {
    expect(await figure('Pending approvals')).toBe('2');
    expect(await figure('Unhealthy parts')).toBe('0');
    expect(Number(await figure('Active certificates'))).toBeGreaterThanOrEqual(3);
    expect(await page.until("document.querySelector('#health')?.innerText")).toContain('Key files');
    await page.click('.tile[href="/certificates?state=active"]');
    await page.until("document.querySelector('[name=state]')?.value === 'active'");
    expect((await rows()).join()).toContain('terminal-1');
  });

  step("show bars that link to the certificates of a day in the reader's time zone", async () => {
    await site.show(page, '/');
    await page.until("document.querySelector('.chart svg a')");
    await page.evaluate(
      "[...document.querySelectorAll('.chart svg a')].at(-1).dispatchEvent(new MouseEvent('mouseover', { bubbles: true })), [...document.querySelectorAll('.chart svg a')].at(-1).dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }))",
    );
    const today = await page.evaluate("new Intl.DateTimeFormat('sv-SE').format(new Date())");
    await page.until(`location.search === '?created_from=${today}&created_to=${today}'`);
    expect((await rows()).join()).toContain('terminal-3');
  });

  step('show the warnings of health', async () => {
    await page.evaluate(`{ const ask = fetch; globalThis.fetch = (url, how) => url === '/api/health/'
      ? Promise.resolve(new Response(JSON.stringify({ status: 'unavailable', checks: {
          store: { ok: false, detail: 'the disk is full' }, issuing: { ok: false, detail: 'the issuing CA "x" expires' } } }), { status: 503 }))
      : ask(url, how); }`);
    await site.show(page, '/');
    const notices = await page.until<string>(
      "document.querySelectorAll('main > .notice').length === 2 && document.querySelector('main').innerText",
    );
    expect(notices).toContain('The database cannot store anything');
    expect(notices).toContain('the disk is full');
    expect(notices).toContain('An issuing CA expires soon');
    expect(await figure('Unhealthy parts')).toBe('2');
  });

  step('revoke certificates with one reason', async () => {
    await site.show(page, '/certificates?search=terminal');
    await select('terminal-1');
    await select('terminal-2');
    await press('Revoke');
    await page.until("document.querySelector('dialog h2')?.innerText === 'Revoke 2 certificates?'");
    await choose('reason', 'superseded: another certificate replaces it');
    await page.type('dialog [name=confirmation]', '2');
    await press('Revoke');
    await page.until(
      "document.querySelector('.toasts').innerText.includes('2 certificates have been revoked.')",
    );
    await page.until(`${settled} && document.querySelectorAll('.badge.bad').length === 2`);
    const revoked = (await site.api('GET', '/api/certificates/?state=revoked')) as { common_name: string }[];
    expect(revoked.map(({ common_name }) => common_name).sort()).toEqual(['terminal-1', 'terminal-2']);
  });

  step('approve requests with one comment', async () => {
    await site.show(page, '/approvals');
    await page.click('[aria-label="Select all entries of this page"]');
    await press('Approve');
    await page.until("document.querySelector('dialog h2')?.innerText === 'Approve 2 requests?'");
    await page.type('dialog [name=comment]', 'as ordered');
    await press('Approve');
    await page.until("document.querySelector('.empty')?.innerText.includes('No pending approvals')");
    const approved = (await site.api('GET', '/api/approvals/1/')) as { decisions: object[] };
    expect(approved.decisions).toMatchObject([{ comment: 'as ordered', verdict: 'approved' }]);
    expect(page.complaints.filter((complaint) => !/status of [45]\d\d/.test(complaint))).toEqual([]);
  });
});
