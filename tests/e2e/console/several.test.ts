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
  for (const name of ['kiosk-1', 'kiosk-2', 'terminal-1', 'terminal-2', 'terminal-3'])
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
  await site.user('mo', password, operator!.id);
  page = await site.tab();
  await page.look({ width: 1440, height: 900, dark: false });
  await site.signIn(page, '/', 'jo', password);
}, 60_000);
afterAll(() => site?.[Symbol.asyncDispose]());

const figure = (name: string): Promise<string> =>
  page.until(`{ const tile = [...document.querySelectorAll('.tile')]
    .find((one) => one.querySelector('span').innerText === ${JSON.stringify(name)});
    const value = tile?.querySelector('strong').innerText; value !== '…' && value }`);
/** Rejects a request over the API. */
async function rejectAs(username: string, id: number): Promise<void> {
  const send = (path: string, body: unknown, token = ''): Promise<Response> =>
    fetch(`${site.server.baseUrl}${path}`, {
      method: 'POST',
      tls: { rejectUnauthorized: false },
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
    });
  const { access } = (await (await send('/api/token/', { username, password })).json()) as { access: string };
  const { request_hash, outcome_hash } = (await site.api('GET', `/api/approvals/${id}/`)) as {
    request_hash: string;
    outcome_hash: string;
  };
  const { status } = await send(`/api/approvals/${id}/reject/`, { request_hash, outcome_hash }, access);
  expect(status).toBe(200);
}
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
    expect(await figure('Failing health checks')).toBe('0');
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
    expect(await figure('Failing health checks')).toBe('2');
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

  step('name the certificate that somebody else revoked meanwhile, and revoke the others', async () => {
    const [revoked] = (await site.api('GET', '/api/certificates/?search=kiosk-2')) as { id: number }[];
    await site.show(page, '/certificates?search=kiosk');
    await select('kiosk-1');
    await select('kiosk-2');
    await press('Revoke');
    await page.until("document.querySelector('dialog h2')?.innerText === 'Revoke 2 certificates?'");
    await site.api('POST', `/api/certificates/${revoked!.id}/revoke/`);
    await page.type('dialog [name=confirmation]', '2');
    await press('Revoke');
    await page.until(
      "document.querySelector('dialog h2')?.innerText === 'These certificates were not revoked'",
    );
    const failures = await page.evaluate<string>("document.querySelector('dialog').innerText");
    expect(failures).toContain('kiosk-2');
    expect(failures).not.toContain('kiosk-1');
    await page.until(
      "document.querySelector('.toasts').innerText.includes('1 certificate has been revoked.')",
    );
    await press('Close');
    await page.until(`${settled} && document.querySelectorAll('.badge.bad').length === 2`);
  });

  step('name the request that somebody else rejected meanwhile, and approve the others', async () => {
    const made = (await site.api('GET', '/api/approvals/?state=waiting')) as {
      id: number;
      subject: string;
    }[];
    expect(made.length).toBe(2);
    await site.show(page, '/approvals');
    await page.click('[aria-label="Select all entries of this page"]');
    await press('Approve');
    await page.until("document.querySelector('dialog h2')?.innerText === 'Approve 2 requests?'");
    await rejectAs('mo', made[1]!.id);
    await press('Approve');
    await page.until(
      "document.querySelector('dialog h2')?.innerText === 'No decision was recorded for these requests'",
    );
    const failures = await page.evaluate<string>("document.querySelector('dialog').innerText");
    expect(failures).toContain(made[1]!.subject);
    expect(failures).not.toContain(made[0]!.subject);
    await press('Close');
    await page.until("document.querySelector('.empty')?.innerText.includes('No pending approvals')");
    for (const name of ['panel-3', 'panel-4'])
      await site.api('POST', '/api/certificates/', { common_name: name });
  });

  step('approve requests with one comment', async () => {
    await site.show(page, '/');
    await site.show(page, '/approvals');
    await page.click('[aria-label="Select all entries of this page"]');
    await press('Approve');
    await page.until("document.querySelector('dialog h2')?.innerText === 'Approve 2 requests?'");
    await page.type('dialog [name=comment]', 'as ordered');
    await press('Approve');
    await page.until("document.querySelector('.empty')?.innerText.includes('No pending approvals')");
    const approved = (await site.api('GET', '/api/approvals/3/')) as { decisions: object[] };
    expect(approved.decisions).toMatchObject([{ comment: 'as ordered', verdict: 'approved' }]);
    expect(page.complaints.filter((complaint) => !/status of [45]\d\d/.test(complaint))).toEqual([]);
  });
});
