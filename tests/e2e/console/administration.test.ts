import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hasBrowser, type Page } from '#tests/fixtures/browser.ts';
import { inOrder } from '#tests/fixtures/in-order.ts';
import { type DeviceSecrets, shell } from '#tests/fixtures/server.ts';
import { hands } from './hands.ts';
import { adminPassword, type Site, settled, startSite } from './site.ts';

let site: Site;
let page: Page;
let device: DeviceSecrets;
const { fact, factIs, press, choose } = hands(() => page);
const joPassword = 'the password of jo';
const moPassword = 'the password of mo';

beforeAll(async () => {
  if (!hasBrowser) return;
  site = await startSite();
  await site.api('POST', '/api/approval-policies/', {
    unique_name: 'gates need four eyes',
    decision: 'manual',
    approvers: 2,
    device_pattern: 'gate-.*',
  });
  const [operator] = (await site.api('GET', '/api/roles/?unique_name=Operator')) as { id: number }[];
  await site.user('jo', joPassword, operator!.id);
  await site.user('mo', moPassword, operator!.id);
  device = await site.server.register('gate-1');
  shell(site.server.directory, device.commands.key!);
  page = await site.tab();
  await page.look({ width: 1280, height: 900, dark: false });
}, 60_000);
afterAll(() => site?.[Symbol.asyncDispose]());

/** Asks for a certificate over EST as a device does; the HTTP status, and the certificate's subject when there is one. */
function ask(): { readonly status: number; readonly subject: string } {
  const url = `${site.server.baseUrl}/.well-known/est/default/simpleenroll`;
  const { stdout } = shell(
    site.server.directory,
    `openssl req -in gate-1.csr -outform DER | openssl base64 -A | curl -sk -o answer -w '%{http_code}' --user 'gate-1:${device.password}' -H 'Content-Type: application/pkcs10' --data-binary @- ${url}`,
  );
  const certificate = shell(
    site.server.directory,
    'openssl base64 -d -in answer | openssl pkcs7 -inform DER -print_certs | openssl x509 -noout -subject',
  );
  return { status: Number(stdout), subject: certificate.status === 0 ? certificate.stdout.trim() : '' };
}

const said = (selector: string): Promise<string> =>
  page.until(`document.querySelector(${JSON.stringify(selector)})?.innerText`);
const signOut = async (): Promise<void> => {
  await page.click('.who button');
  await page.until("document.querySelector('.sign-in')");
};
/** Has the page remember what it sends. */
const listen = (): Promise<unknown> =>
  page.evaluate(`{ globalThis.sent = []; const ask = fetch;
    globalThis.fetch = (url, how) => { if (how?.method === 'POST') sent.push(how.body); return ask(url, how); }; }`);

inOrder('a request that needs two approvers', { skip: !hasBrowser, timeout: 180_000 }, (step) => {
  step('shows the outcome with its reasons', async () => {
    expect(ask()).toEqual({ status: 202, subject: '' });
    await site.signIn(page, '/');
    expect(await said('.navigation .mark')).toContain('1 pending approval');
    await page.click('.tiles a[href="/approvals"]');
    await page.until(`${settled} && document.querySelector('table.list tbody a')`);
    await page.click('table.list tbody a');
    expect(await said('main h1')).toBe('CN=gate-1');
    expect(await fact('Requester')).toContain('gate-1');
    const differences = await said('.card.wide table');
    expect(differences).toContain('digitalSignature');
    expect(differences).toContain('fixed by the profile');
  });

  step('is approved by one of them with a comment, who cannot approve again', async () => {
    // Not by `admin`, who has registered the device.
    expect(await said('main .notice')).toContain('Another account has to approve');
    await signOut();
    await site.signIn(page, '/approvals/1', 'mo', moPassword);
    await listen();
    await press('Approve');
    await page.type('dialog [name=comment]', '<b>seen</b> on site');
    await press('Approve');
    await page.until("document.querySelector('progress')?.getAttribute('aria-label') === '1 of 2 approvals'");
    const [{ request_hash, outcome_hash }] = (await site.api('GET', '/api/approvals/')) as [
      { request_hash: string; outcome_hash: string },
    ];
    const [body] = await page.evaluate<string[]>('sent');
    expect(JSON.parse(body!)).toEqual({ comment: '<b>seen</b> on site', request_hash, outcome_hash });
    expect(await said('.remark')).toBe('<b>seen</b> on site');
    expect(await said('main .notice')).toContain('You have already decided');
    expect(await page.evaluate("document.querySelector('main .heading button.main')")).toBeNull();
    expect(ask().status).toBe(202);
  });

  step(
    'is approved by the second one, and the device that repeats the request gets its certificate',
    async () => {
      await signOut();
      await site.signIn(page, '/approvals/1', 'jo', joPassword);
      await press('Approve');
      await page.until("document.querySelector('dialog')");
      await press('Approve');
      await factIs('State', 'Granted\n\nThe requester receives the certificate at the next request.');
      await page.until("document.querySelector('.navigation .mark') === null");
      expect(ask()).toEqual({ status: 200, subject: expect.stringMatching(/^subject=\s*CN\s*=\s*gate-1$/) });
      await site.show(page, '/approvals');
      expect(await said('.empty')).toContain('No pending approvals');
      await site.show(page, '/approvals?tab=history&state=issued');
      expect(await said('table.list tbody')).toContain('2 of 2');
    },
  );

  step('is shown again after a session expired', async () => {
    await site.show(page, '/approvals/1');
    await page.evaluate(`new Promise((resolve) => {
      const request = indexedDB.open('postern', 1);
      request.onsuccess = () => {
        const transaction = request.result.transaction('session', 'readwrite');
        transaction.objectStore('session').put({ access: 'a.b.c', refresh: 'a.b.c' }, 'tokens');
        transaction.oncomplete = () => { request.result.close(); resolve(); };
      };
    })`);
    await site.signIn(page, '/approvals/1', 'admin', adminPassword);
    expect(await said('main h1')).toBe('CN=gate-1');
    await page.until("document.querySelectorAll('.remark, progress').length === 2");
  });

  step('shows the values of a request as plain text, and cannot be approved by its requester', async () => {
    const markup = '<img src=x onerror=alert(1)>';
    await site.api('POST', '/api/approval-policies/', {
      unique_name: markup,
      decision: 'manual',
      protocols: ['management'],
    });
    await site.api('POST', '/api/certificates/', { common_name: markup });
    await site.show(page, '/approvals');
    // As RFC 4514 §2.4 writes it.
    const subject = 'CN=\\<img src=x onerror=alert(1)\\>';
    expect(await said('table.list tbody')).toContain(subject);
    await page.click('table.list tbody a');
    expect(await said('main h1')).toBe(subject);
    expect(await fact('Approval policy')).toBe(markup);
    expect(await said('main .notice')).toContain('Another approver has to decide');
    expect(
      await page.evaluate("document.querySelector('main img') ?? document.querySelector('main .main')"),
    ).toBeNull();

    // A stranger's name is in the audit log as it was sent.
    await fetch(`${site.server.baseUrl}/.well-known/est/simpleenroll`, {
      method: 'POST',
      tls: { rejectUnauthorized: false },
      headers: {
        authorization: `Basic ${Buffer.from(`${markup}\u202egpj:secret`).toString('base64')}`,
        'content-type': 'application/pkcs10',
      },
      body: 'AAAA',
    });
    await site.show(page, '/audit');
    expect(await said('table.list tbody')).toContain(`${markup}U+202Egpj`);
    expect(await page.evaluate("document.querySelector('main img')")).toBeNull();
  });
});

describe.skipIf(!hasBrowser)('the administration of the service', () => {
  beforeAll(() => site.signIn(page, '/'));

  inOrder('a service account', { timeout: 60_000 }, (step) => {
    step('shows the secret of a service account once, and that secret works', async () => {
      await site.show(page, '/service-accounts');
      await press('Add service account');
      await page.type('dialog [name=unique_name]', 'line-controller');
      await choose('role', 'Default');
      await press('Add');
      const secret = (await fact('Secret')).split('\n')[0]!.replace(/Copy$/, '').trim();
      const client = (await fact('Client number')).split('\n')[0]!.replace(/Copy$/, '').trim();
      expect(await said('dialog .notice')).toContain('only once');
      await page.press('Escape');
      expect(await page.evaluate("document.querySelector('dialog').open")).toBe(true);
      const signIn = { grant_type: 'client_credentials', client_id: client, client_secret: secret };
      expect(await site.api('POST', '/api/token/', signIn)).toMatchObject({ token_type: 'Bearer' });
      await press('I have stored the secret safely');
      await page.until(`document.querySelector('dialog') === null && ${settled}`);
      await site.show(page, '/service-accounts?search=line');
      expect(await said('table.list tbody')).toContain('line-controller');
      expect(await page.evaluate<string>('document.documentElement.outerHTML')).not.toContain(secret);
    });

    step('shows a rotated secret in the same way', async () => {
      await site.show(page, '/service-accounts');
      await page.click('[aria-label="New secret: line-controller"]');
      await page.type('dialog [name=confirmation]', 'line-controller');
      await press('Replace secret');
      const secret = (await fact('Secret')).split('\n')[0]!.replace(/Copy$/, '').trim();
      const client = (await fact('Client number')).split('\n')[0]!.replace(/Copy$/, '').trim();
      const signIn = { grant_type: 'client_credentials', client_id: client, client_secret: secret };
      expect(await site.api('POST', '/api/token/', signIn)).toMatchObject({ token_type: 'Bearer' });
      await press('I have stored the secret safely');
      await page.until(`document.querySelector('dialog') === null && ${settled}`);
    });
  });

  test.each([
    {
      path: '/users',
      add: 'Add user',
      made: { username: 'kim', password: 'a long password' },
      role: 'Default',
      changed: { username: 'kim-2' },
    },
    {
      path: '/webhooks',
      add: 'Add webhook',
      made: { unique_name: 'chat', url: 'https://chat.example/postern' },
      isSecret: true,
      changed: { unique_name: 'chat-2' },
    },
    {
      path: '/approvals/policies',
      add: 'Add policy',
      made: { unique_name: 'night shift', device_pattern: 'night-.*' },
      isSeen: true,
      changed: { unique_name: 'night shift 2' },
    },
    {
      path: '/backups',
      add: 'Add destination',
      made: { host: 'vault.example', user: 'backup', remote_directory: '/srv' },
      name: 'sftp://backup@vault.example/srv',
      isSeen: true,
      changed: { remote_directory: '/srv/postern' },
      after: 'sftp://backup@vault.example/srv/postern',
    },
  ])(
    'has a list at $path that shows created, changed and deleted records',
    async (row) => {
      const fill = async (values: Readonly<Record<string, string | undefined>>): Promise<void> => {
        for (const [name, value = ''] of Object.entries(values)) {
          await page.evaluate(`document.querySelector('dialog [name=${name}]').select()`);
          await page.type(`dialog [name=${name}]`, value);
        }
      };
      const made = row.name ?? Object.values(row.made)[0]!;
      const changed = row.after ?? Object.values(row.changed)[0]!;
      await site.show(page, row.path);
      await press(row.add);
      await page.until("document.querySelector('dialog')");
      await fill(row.made);
      if (row.role !== undefined) await choose('role', row.role);
      await press('Add');
      if (row.isSecret) {
        expect(await fact('Signing secret')).not.toBe('');
        await press('I have stored the secret safely');
      }
      await page.click(`[aria-label="Edit: ${made}"]`);
      await page.until("document.querySelector('dialog')");
      await fill(row.changed);
      await press('Save');
      await page.click(`[aria-label="Delete: ${changed}"]`);
      expect(await said('dialog')).toContain(changed);
      if (!row.isSeen) await page.type('dialog input', changed);
      await press('Delete');
      await page.until(`document.querySelector('dialog') === null && ${settled}
      && document.querySelector('[aria-label="Delete: ${changed}"]') === null`);
      expect(await page.evaluate("document.querySelector('.toasts').innerText")).toContain(
        `${changed} has been deleted.`,
      );
    },
    30_000,
  );

  test.each([
    { list: '/domains', api: '/api/domains/', body: {}, edit: 'Edit' },
    { list: '/tls', api: '/api/tls/', body: { credential_type: 0 }, edit: 'Rename' },
  ])(
    'has pages under $list whose records can be renamed and deleted',
    async ({ list, api, body, edit }) => {
      const { id } = (await site.api('POST', api, { ...body, unique_name: 'line-4' })) as { id: number };
      await site.show(page, `${list}/${id}`);
      expect(await said('main h1')).toBe('line-4');
      await press(edit);
      await page.type('dialog [name=unique_name]', '-north');
      await press('Save');
      await page.until("document.querySelector('main h1').innerText === 'line-4-north'");
      await page.until("document.title === 'line-4-north · Postern'");
      await press('Delete');
      await page.type('dialog input', 'line-4');
      await press('Delete');
      expect(await said('dialog .complaint')).toBe('This is not the name.');
      await page.type('dialog input', '-north');
      await press('Delete');
      await page.until(`location.pathname === '${list}' && ${settled}`);
      expect(await page.evaluate("document.querySelector('dialog')")).toBeNull();
      expect(await page.evaluate("document.querySelector('table.list').innerText")).not.toContain('line-4');
    },
    30_000,
  );

  test('explains why the last administrator cannot be deleted, and what to do first', async () => {
    await site.show(page, '/users');
    await page.click('[aria-label="Delete: admin"]');
    await page.type('dialog input', 'admin');
    await page.press('Enter');
    const told = await said('dialog .notice.bad');
    expect(told).toContain('this is the last active administrator');
    expect(told).toContain('make another active user with the role Admin first');
    await press('Cancel');
  }, 60_000);

  test('grants a role the ticked permissions, by area', async () => {
    await site.show(page, '/roles/new');
    await page.type('[name=unique_name]', 'Line operators');
    await page.click('[name="devices."]');
    await page.click('[name="signers."]:not(:checked)');
    await press('Add');
    await page.until("location.pathname === '/roles'");
    expect(await site.api('GET', '/api/roles/?unique_name=Line+operators')).toMatchObject([
      { permissions: ['devices.read', 'signers.read'] },
    ]);
  }, 60_000);

  test('filters audit events by the URL, and shows whether the audit trail is valid', async () => {
    await site.api('POST', '/api/domains/', { unique_name: 'audited' });
    await site.show(page, '/audit?action=domain.create&actor=admin');
    const rows = await said('table.list tbody');
    expect(rows).toContain('audited');
    expect(rows).not.toContain('Line operators');
    await press('Verify');
    expect(await said('.card .notice.good')).toContain('The audit log is intact');
  }, 60_000);

  test('raises the security level when all records satisfy it, and lists those that do not', async () => {
    await site.show(page, '/settings?tab=level');
    expect(await said('[aria-label=critical] .notice')).toContain('p-256');
    await page.click('[aria-label="Change to this level: hardened"]');
    await press('Change the level');
    await page.until("document.querySelector('[aria-label=hardened] .badge.good') !== null");
    expect(await site.api('GET', '/api/settings/')).toMatchObject({ security_level: 'hardened' });
    expect(page.complaints.filter((complaint) => !/status of 4\d\d/.test(complaint))).toEqual([]);
  }, 60_000);
});
