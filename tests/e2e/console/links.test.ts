import { afterAll, beforeAll, expect } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fingerprint } from '#core/x509/certificate.ts';
import { verifyPkcs10 } from '#core/x509/request.ts';
import { hasBrowser, type Page } from '#tests/fixtures/browser.ts';
import { answer, type EstUpstream, estUpstream } from '#tests/fixtures/est-upstream.ts';
import { inOrder } from '#tests/fixtures/in-order.ts';
import { request as pkcs10 } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { pem } from '#tests/fixtures/openssl.ts';
import { hands } from './hands.ts';
import { type Site, settled, startSite } from './site.ts';

let site: Site;
let page: Page;
let upstream: EstUpstream;
let files: string;
let ca: number;
let domain: number;
const { fact, press, choose } = hands(() => page);
const axe = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

beforeAll(async () => {
  if (!hasBrowser) return;
  files = mkdtempSync(join(tmpdir(), 'postern-links-'));
  upstream = await estUpstream(Date.now);
  const key = testKey('p-256', 'gateway');
  const certificate = upstream.certify(verifyPkcs10(pkcs10(key, 'CN=gateway,O=Plant')));
  writeFileSync(join(files, 'client.pem'), pem('CERTIFICATE', certificate));
  writeFileSync(join(files, 'client.key'), key.pem());
  site = await startSite(`
    [issuers.plant]
    plugin = "remote-est"
    url = "https://localhost:${upstream.port}/.well-known/est"
    client_certificate = "${join(files, 'client.pem')}"
    client_key = "${join(files, 'client.key')}"
    trust = { fingerprint = "${fingerprint(upstream.root)}" }
    [issuers.corporate]
    plugin = "remote-cmp"
    url = "http://127.0.0.1:1"
    profile = "machines"
    reference = "gateway"
    secret = "correct horse battery"
  `);
  const { api } = site;
  const body = { unique_name: 'plant CA', issuing_ca_type: 4, issuer: 'plant' };
  ca = ((await api('POST', '/api/issuing-cas/', body)) as { id: number }).id;
  const profiles = (await api('GET', '/api/cert-profiles/')) as { id: number; unique_name: string }[];
  const profile = (name: string) => profiles.find(({ unique_name }) => unique_name === name)!.id;
  domain = (
    (await api('POST', '/api/domains/', {
      unique_name: 'line-7',
      issuing_ca: ca,
      profiles: [
        { profile: profile('domain_credential'), alias: null },
        { profile: profile('tls_server'), alias: 'server' },
      ],
    })) as { id: number }
  ).id;
  page = await site.tab();
  await page.look({ width: 1440, height: 900, dark: false });
  await site.signIn(page, '/');
}, 60_000);
afterAll(async () => {
  await site?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
  if (files) rmSync(files, { recursive: true });
});

/** The card with this title, as text. */
const card = (title: string): Promise<string> =>
  page.until(
    `document.querySelector('.card[aria-label=' + JSON.stringify(${JSON.stringify(title)}) + ']')?.innerText`,
  );
const cardSays = (title: string, text: string): Promise<unknown> =>
  page.until(`document.querySelector('.card[aria-label=' + JSON.stringify(${JSON.stringify(title)}) + ']')
    ?.innerText.includes(${JSON.stringify(text)})`);
const rows = (): Promise<string> =>
  page.until(`${settled} && document.querySelector('table.list tbody')?.innerText`);
const follow = (href: string): Promise<unknown> =>
  page.until(`{ const a = document.querySelector('main a[href=' + JSON.stringify(${JSON.stringify(href)}) + ']');
    a?.click(); a !== null }`);
const at = (url: string): Promise<unknown> =>
  page.until(`location.pathname + location.search === ${JSON.stringify(url)} && ${settled}`);
const expectAccessible = async (): Promise<void> => {
  await page.evaluate(axe);
  const found =
    await page.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`);
  expect(found).toEqual([]);
};
const speak = async (language: string): Promise<void> => {
  await page.evaluate(`{ const s = document.querySelector('.preferences select'); s.value = '${language}';
    s.dispatchEvent(new Event('change', { bubbles: true })); }`);
  await page.until(`document.documentElement.lang === '${language}'`);
};
/** A device requests a certificate over EST; the upstream CA in this process responds meanwhile. */
async function enrol(name: string, id: number): Promise<void> {
  const { no_onboarding_config: config } = (await site.api('GET', `/api/devices/${id}/`)) as {
    no_onboarding_config: number;
  };
  const { est_password } = (await site.api('GET', `/api/no-onboarding-configs/${config}/`)) as {
    est_password: string;
  };
  await fetch(`${site.server.baseUrl}/.well-known/est/line-7/simpleenroll`, {
    method: 'POST',
    tls: { rejectUnauthorized: false },
    headers: {
      authorization: `Basic ${btoa(`${name}:${est_password}`)}`,
      'content-type': 'application/pkcs10',
    },
    body: Buffer.from(pkcs10(testKey('p-256', name), `CN=${name}`)).toString('base64'),
  });
}

let device: number;

inOrder('pages lead to what belongs to them', { skip: !hasBrowser, timeout: 240_000 }, (step) => {
  step('a device that has been added is shown with the commands that enrol it', async () => {
    await site.show(page, '/devices/new');
    await page.type('[name=common_name]', 'pump-1');
    await choose('domain', 'line-7');
    await press('Add');
    await page.until(
      `document.querySelector('.steps pre') && location.search === '?tab=commands' && ${settled}`,
    );
    device = Number(await page.evaluate("location.pathname.split('/').at(-1)"));
    const { commands } = (await site.api('GET', `/api/devices/${device}/commands/`)) as {
      commands: Readonly<Record<string, string>>;
    };
    const shown = await page.evaluate<string[]>(
      "[...document.querySelectorAll('.steps pre')].map((one) => one.textContent)",
    );
    expect(shown).toEqual(Object.values(commands));
    expect(shown.join('\n')).not.toContain('SECRET');
    await expectAccessible();
  });

  step(
    'an upstream CA is shown with its certificate, its CAs, and the requests that wait for it',
    async () => {
      upstream.always(() => answer(202, '', { 'retry-after': '600' }));
      await enrol('pump-1', device);
      await site.show(page, '/');
      await follow('/upstreams');
      await cardSays('plant', 'CN=gateway,O=Plant');
      const plant = await card('plant');
      expect(plant).toContain(`https://localhost:${upstream.port}/.well-known/est`);
      await cardSays('plant', 'plant CA');
      expect(await card('corporate')).toContain('machines');
      expect(await card('corporate')).not.toContain('correct horse');
      await expectAccessible();
      await cardSays('plant', 'Pending requests\n1');
      await follow('/upstreams?tab=requests&issuer=plant&state=asked%2Cpending%2Creceived');
      expect(await rows()).toContain('Pending at the upstream CA');
      expect(await page.evaluate("document.querySelector('[name=state]').selectedOptions[0].text")).toBe(
        'Pending (all)',
      );
    },
  );

  step('the page follows the circuit without being loaded again, and health leads to it', async () => {
    await site.show(page, '/upstreams');
    await cardSays('plant', 'OK');
    upstream.always(() => answer(502));
    for (const name of ['pump-2', 'pump-3', 'pump-4']) {
      const { id } = (await site.api('POST', '/api/devices/', { common_name: name, domain })) as {
        id: number;
      };
      await enrol(name, id);
    }
    await cardSays('plant', 'Unreachable');
    expect(await card('plant')).toContain('3 failures in a row');
    expect(await card('plant')).toContain('502');
    await expectAccessible();
    await speak('de');
    await cardSays('plant', 'Schutzschalter');
    await speak('en');
    await site.show(page, '/');
    await page.until(`document.querySelector('.notice')?.innerText.includes('Upstream CA plant')`);
    await page.click('.notice a[href="/upstreams"]');
    await at('/upstreams');
  });

  step('a CA leads to its upstream CA, its domains, its certificates and its CRL entries', async () => {
    await site.show(page, `/cas/${ca}`);
    expect(await fact('Upstream CA')).toBe('plant');
    await cardSays('Details', 'line-7');
    await follow(`/domains/${domain}`);
    await at(`/domains/${domain}`);

    for (const name of ['good', 'revoked', 'held'])
      await site.api('POST', '/api/certificates/', { common_name: `terminal ${name}` });
    const change = async (name: string, reason: string): Promise<void> => {
      const [found] = (await site.api('GET', `/api/certificates/?search=${name}`)) as { id: number }[];
      await site.api('POST', `/api/certificates/${found!.id}/revoke/`, { reason });
    };
    await change('revoked', 'superseded');
    await change('held', 'certificateHold');
    await site.show(page, '/cas/2');
    await cardSays('Details', 'default');
    await press('CRL entries');
    const entries = await rows();
    expect(entries).toContain('superseded');
    expect(entries).toContain('certificateHold');
    expect(entries).not.toContain('terminal good');
    await expectAccessible();
    await press('Certificates');
    await page.until(
      `${settled} && document.querySelector('table.list tbody')?.innerText.includes('terminal good')`,
    );
    await site.show(page, '/cas/2');
  });

  step('a domain leads to its devices and policies, and shows the URLs of each profile', async () => {
    await site.api('POST', '/api/approval-policies/', { unique_name: 'by hand', decision: 'manual', domain });
    await site.api('POST', '/api/approval-policies/', {
      unique_name: 'elsewhere',
      decision: 'manual',
      domain: 1,
    });
    await site.show(page, `/domains/${domain}`);
    await cardSays('Approval policies', 'by hand');
    expect(await card('Approval policies')).not.toContain('elsewhere');
    const { baseUrl, httpPort } = site.server;
    expect(await fact('EST')).toContain(`${baseUrl}/.well-known/est/line-7/simpleenroll`);
    await choose('enrolment_profile', 'server');
    await page.until(
      "document.querySelector('[aria-label=\"Enrolment URLs\"]').innerText.includes('line-7/server')",
    );
    expect(await fact('REST')).toContain(`${baseUrl}/rest/line-7/server/enroll`);
    expect(await fact('CMP')).toContain(`http://localhost:${httpPort}/.well-known/cmp/p/line-7/server`);
    await expectAccessible();
    await press('Devices');
    expect(await rows()).toContain('pump-1');
  });

  step('a webhook shows the result of its last message', async () => {
    const { id } = (await site.api('POST', '/api/webhooks/', {
      unique_name: 'tickets',
      url: 'http://127.0.0.1:1/tickets',
    })) as { id: number };
    await site.show(page, '/webhooks');
    await page.until("document.querySelector('table.list')?.innerText.includes('No messages yet')");
    await page.click('[aria-label="Send test message: tickets"]');
    await page.until(`document.querySelector('table.list a[href="/webhooks/messages?webhook=${id}"]')`);
    await expectAccessible();
    await follow(`/webhooks/messages?webhook=${id}`);
    expect(await rows()).toContain('webhook.test');
    expect(page.complaints.filter((one) => !/status of [45]\d\d/.test(one))).toEqual([]);
  });
});
