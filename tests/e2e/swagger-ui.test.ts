import { afterAll, beforeAll, expect, test } from 'bun:test';
import { hasBrowser, openPage } from '#tests/fixtures/browser.ts';
import { adminPassword, type Server, shell, startServer } from '#tests/fixtures/server.ts';

let server: Server;

beforeAll(async () => {
  server = await startServer();
  server.device('pump-1');
}, 60_000);
afterAll(() => server[Symbol.asyncDispose]());

test.skipIf(!hasBrowser)(
  'the API browser loads from the gateway only, signs in with a token and tries an operation',
  async () => {
    const url = `${server.baseUrl}/api/schema/swagger-ui/`;
    const login = JSON.stringify({ username: 'admin', password: adminPassword });
    const line = `curl -sk -H 'Content-Type: application/json' -d '${login}' ${server.baseUrl}/api/token/`;
    const { access } = JSON.parse(shell(server.directory, line).stdout);
    await using page = await openPage();
    await page.open(url);
    await page.click('.auth-wrapper .authorize');
    await page.type('.modal-ux input', access);
    await page.click('.modal-ux .auth-btn-wrapper .authorize');
    await page.click('.modal-ux .btn-done');
    const operation = '#operations-devices-listDevices';
    await page.click('#operations-tag-devices');
    await page.click(`${operation} .opblock-summary-control`);
    await page.click(`${operation} .try-out__btn`);
    await page.click(`${operation} .execute`);
    const answer = `document.querySelector('${operation} .live-responses-table .response')`;
    expect(await page.until<string>(`${answer}?.querySelector('.response-col_status')?.textContent`)).toMatch(
      /^200/,
    );
    expect(await page.until<string>(`${answer}?.querySelector('.highlight-code')?.textContent`)).toContain(
      '"pump-1"',
    );

    const elsewhere = page.requests.filter((request) => !request.startsWith(`${server.baseUrl}/`));
    expect(elsewhere.filter((request) => !request.startsWith('data:'))).toEqual([]);
    expect(page.requests).toContain(`${server.baseUrl}/api/devices/`);
    expect(page.complaints).toEqual([]);
  },
  60_000,
);
