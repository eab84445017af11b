import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hasBrowser, type Page } from '#tests/fixtures/browser.ts';
import { shell } from '#tests/fixtures/server.ts';
import { type Site, settled, startSite } from './site.ts';

let site: Site;
let page: Page;

beforeAll(async () => {
  if (!hasBrowser) return;
  site = await startSite();
  page = await site.tab();
  await page.look({ width: 1280, height: 900, dark: false });
  await site.signIn(page, '/');
}, 60_000);
afterAll(() => site?.[Symbol.asyncDispose]());

function run(line: string): string {
  const { status, stdout, stderr } = shell(site.server.directory, line);
  expect({ line, status, stderr: status === 0 ? '' : stderr }).toEqual({ line, status: 0, stderr: '' });
  return stdout;
}

/** Drops a file of this content onto the page's place for files. */
const drop = (name: string, content: string): Promise<void> =>
  page.evaluate(`{ const transfer = new DataTransfer();
    transfer.items.add(new File([${JSON.stringify(content)}], ${JSON.stringify(name)}));
    document.querySelector('main .dropzone')
      .dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: transfer })); }`);

const heading = (text: string): Promise<unknown> =>
  page.until(`document.querySelector('main h1')?.innerText === ${JSON.stringify(text)} && ${settled}`);

const text = (selector: string): Promise<string> =>
  page.until(`document.querySelector(${JSON.stringify(selector)})?.innerText`);

const press = (label: string, within = 'main'): Promise<unknown> =>
  page.until(`{ const found = [...document.querySelectorAll('${within} button')]
    .find((one) => one.innerText.trim() === ${JSON.stringify(label)}); found?.click(); found !== undefined }`);

/** Puts a value into an input as typing does. */
const fill = (selector: string, value: string): Promise<unknown> =>
  page.until(`{ const input = document.querySelector(${JSON.stringify(selector)});
    if (input) { input.value = ${JSON.stringify(value)}; input.dispatchEvent(new Event('input', { bubbles: true })); }
    input !== null }`);

describe.skipIf(!hasBrowser)('braces are placeholders only with a value:', () => {
  test('the hint for serial numbers shows its complete pattern', async () => {
    await site.show(page, '/registrations');
    await press('Add registration');
    await page.until("document.querySelector('dialog')?.innerText.includes('such as PMP-[0-9]{6}.')");
    await page.press('Escape');
  });
});

describe.skipIf(!hasBrowser)('a profile is edited with a preview:', () => {
  test('the preview follows the form, problems link to their fields, and the profile is saved', async () => {
    const { id } = (await site.api('POST', '/api/cert-profiles/', {
      unique_name: 'pump_tls',
      profile: { validity: { duration: 'P1Y' }, subject: { CN: {} } },
    })) as { id: number };
    const [domain] = (await site.api('GET', '/api/domains/')) as { id: number; profiles: object[] }[];
    await site.api('PATCH', `/api/domains/${domain!.id}/`, {
      profiles: [...domain!.profiles, { profile: id, alias: null }],
    });
    await site.show(page, `/profiles/${id}/edit`);
    const csr = run(
      'openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout p.key -subj /CN=pump-7',
    );
    await fill('[name=csr]', csr);
    await page.until(
      "document.querySelector('.stays .badge')?.innerText === 'A certificate would be issued'",
    );

    // The form changes the JSON, and both the preview.
    await page.click('details.rule summary');
    await fill('details.rule textarea', 'valve-{device.common_name}');
    expect(await page.evaluate("JSON.parse(document.querySelector('[name=profile]').value)")).toEqual({
      validity: { duration: 'P1Y' },
      subject: { CN: { fixed: 'valve-{device.common_name}' } },
    });
    await page.until(
      "document.querySelector('.notice.bad')?.innerText.includes('No certificate would be issued')",
    );
    expect(await text('.notice.bad')).toContain('subject.CN');

    // The JSON changes the form; what is no rule is shown with its place.
    await fill(
      '[name=profile]',
      JSON.stringify({ validity: { duration: 'P30D' }, subject: { CN: {}, O: { mots: 4 } } }, null, 2),
    );
    await page.until("document.querySelectorAll('details.rule').length === 2");
    await page.until("document.querySelector('.notice.bad')?.innerText.includes('Rules')");
    await page.click('.notice.bad button.link');
    expect(
      await page.evaluate(
        "{ const t = document.querySelector('[name=profile]'); t.value.slice(t.selectionStart, t.selectionEnd) }",
      ),
    ).toBe('"mots": 4');
    await press('Save');
    await page.until("document.querySelector('main > .notice.bad')?.innerText.includes('/subject/O/mots')");

    await fill('[name=profile]', JSON.stringify({ validity: { duration: 'P30D' }, subject: { CN: {} } }));
    await page.until(
      "document.querySelector('.stays .badge')?.innerText === 'A certificate would be issued'",
    );
    await press('Save');
    await heading('pump_tls');
    expect(await text('main')).toContain('30 days');
    const { profile } = (await site.api('GET', `/api/cert-profiles/${id}/`)) as { profile: object };
    expect(profile).toEqual({ validity: { duration: 'P30D' }, subject: { CN: {} } });
  }, 60_000);

  test('invalid JSON is reported and not applied', async () => {
    await site.show(page, '/profiles/new');
    await fill('[name=profile]', '{ "validity": ');
    expect(await text('.stays .complaint')).toContain('not a valid JSON object');
    expect(await page.evaluate("document.querySelector('main fieldset').disabled")).toBe(true);
  }, 60_000);
});

describe.skipIf(!hasBrowser)('files can be dropped:', () => {
  test('a truststore, which shows its certificates', async () => {
    const pem = run(
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout maker.key -days 700 -subj '/CN=<b>Maker' -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign",
    );
    await site.show(page, '/truststores');
    await drop('maker.pem', pem);
    await page.until("document.querySelector('dialog [name=trust_store_file]')?.files.length === 1");
    await press('Add', 'dialog');
    await heading('<b>Maker');
    expect(await text('main .plain-list li strong')).toBe('CN=\\<b\\>Maker');
    expect(await page.evaluate("document.querySelector('main b') === null")).toBe(true);
  }, 60_000);

  test('a file without a certificate is rejected next to the input', async () => {
    await site.show(page, '/truststores');
    await drop('notes.txt', 'nothing');
    await page.until("document.querySelector('dialog [name=trust_store_file]')?.files.length === 1");
    await press('Add', 'dialog');
    expect(await text('dialog .complaint')).not.toBe('');
    await press('Cancel', 'dialog');
  }, 60_000);

  test('devices in CSV, with progress and errors', async () => {
    await site.show(page, '/devices/imports');
    const rows = Array.from({ length: 400 }, (_, n) => `fan-${n},SN-${n},${n === 7 ? 'nowhere' : 'default'}`);
    await drop('fans.csv', ['common_name,serial_number,domain', ...rows].join('\n'));
    await heading('fans.csv');
    await page.until("document.querySelector('progress')?.max === 400");
    await page.until("document.querySelector('main .badge')?.innerText === 'Done'");
    expect(await page.evaluate("document.querySelector('progress').value")).toBe(400);
    const shown = await page.until<string>(
      "{ const { innerText } = document.querySelector('main'); innerText.includes('Line 9') && innerText }",
    );
    expect(shown).toContain('399');
    await page.click('main a[href^="/devices?device_import="]');
    await heading('Devices');
    expect(await text('.count')).toContain('The first 50');
  }, 60_000);
});

describe.skipIf(!hasBrowser)('a device', () => {
  test('is blocked with a comment for the audit trail, and unblocked', async () => {
    const { id } = (await site.api('POST', '/api/devices/', { common_name: 'press-1' })) as { id: number };
    await site.show(page, `/devices/${id}`);
    await press('Block');
    await fill('dialog [name=comment]', 'stolen from line 3');
    await press('Block', 'dialog');
    await page.until("document.querySelector('main .badge')?.innerText === 'Blocked'");
    await press('Unblock');
    await page.until("document.querySelector('main .badge')?.innerText === 'Registered'");
    await site.show(page, `/devices/${id}?tab=history`);
    expect(await text('main')).toContain('stolen from line 3');
  }, 60_000);
});
