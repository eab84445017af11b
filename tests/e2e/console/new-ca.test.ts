import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hasBrowser, type Page } from '#tests/fixtures/browser.ts';
import { hasSoftHsm, pin, type SoftHsm, startSoftHsm } from '#tests/fixtures/tokens.ts';
import { hands } from './hands.ts';
import { type Site, settled, startSite } from './site.ts';

let site: Site;
let page: Page;
let hsm: SoftHsm;
const { press, choose } = hands(() => page);

beforeAll(async () => {
  if (!hasBrowser || !hasSoftHsm) return;
  hsm = startSoftHsm();
  site = await startSite(`
    [keys.files]
    plugin = "keyfile"
    [keys.hsm]
    plugin = "pkcs11"
    token = "token"
    pin = "${pin}"
    library = "${hsm.module.library}"
    environment = ["SOFTHSM2_CONF=${hsm.environment.SOFTHSM2_CONF}"]
    [issuers.plant-est]
    plugin = "remote-est"
    url = "https://127.0.0.1:1"
    [issuers.plant-cmp]
    plugin = "remote-cmp"
    url = "http://127.0.0.1:1"
    reference = "gateway"
    secret = "a shared secret"
  `);
  page = await site.tab();
  await page.look({ width: 1280, height: 900, dark: false });
  await site.signIn(page, '/cas/new');
}, 60_000);
afterAll(async () => {
  await site?.[Symbol.asyncDispose]();
  hsm?.remove();
});

const begin = async (kind: string): Promise<void> => {
  await site.show(page, '/cas');
  await site.show(page, '/cas/new');
  await choose('issuing_ca_type', kind);
};
const options = (name: string): Promise<readonly string[]> =>
  page.evaluate(`[...document.querySelectorAll('[name=${name}] option')].map(({ text }) => text)`);
const inputs = (): Promise<readonly string[]> =>
  page.evaluate("[...document.querySelectorAll('form [name]')].map(({ name }) => name)");
/** The body of the next POST. */
const sent = async (): Promise<unknown> => {
  await page.evaluate(`{ globalThis.body = undefined; const ask = fetch;
    globalThis.fetch = (url, how) => { if (how?.method === 'POST') body = how.body; return ask(url, how); }; }`);
  await press('Create');
  return JSON.parse(await page.until('globalThis.body'));
};
const made = async (name: string) => {
  await page.until(`document.querySelector('main h1')?.innerText === ${JSON.stringify(name)} && ${settled}`);
  const query = encodeURIComponent(name);
  const [ca] = (await site.api('GET', `/api/issuing-cas/?unique_name=${query}`)) as Record<string, unknown>[];
  return ca!;
};

describe.skipIf(!hasBrowser || !hasSoftHsm)('a new CA', () => {
  test('can be of every type in the API', async () => {
    await begin('Intermediate CA');
    expect(await options('issuing_ca_type')).toEqual([
      'Root CA',
      'Intermediate CA',
      'Imported',
      'Key in an HSM (PKCS #11)',
      'Upstream CA over EST',
      'Upstream CA over CMP',
    ]);
    expect(await options('issuer')).toEqual([
      'None: signed by a CA of this service',
      'plant-est',
      'plant-cmp',
    ]);
  });

  test('with its key in an HSM asks for the key store, and the key is made there', async () => {
    await begin('Key in an HSM (PKCS #11)');
    expect(await options('key_store')).toEqual(['Please choose', 'hsm']);
    await choose('key_store', 'hsm');
    await page.type('[name=unique_name]', 'vault root');
    await press('Create');
    const ca = await made('vault root');
    expect(ca).toMatchObject({ issuing_ca_type: 3, issuing_ca_type_display: 'Local-PKCS11' });

    // A key that is there already, with a certificate of its own, asks for nothing about a new certificate.
    await begin('Key in an HSM (PKCS #11)');
    await page.type('[name=key_id]', 'some-key');
    await page.evaluate(`{ const input = document.querySelector('[name=certificate]');
      const transfer = new DataTransfer(); transfer.items.add(new File(['x'], 'ca.pem')); input.files = transfer.files;
      input.dispatchEvent(new Event('change', { bubbles: true })); }`);
    await page.until("document.querySelector('[name=certificate_chain]') !== null");
    expect(await inputs()).toEqual([
      'issuing_ca_type',
      'unique_name',
      'key_store',
      'key_id',
      'certificate',
      'certificate_chain',
    ]);
  }, 60_000);

  test.each([
    ['Upstream CA over EST', 4, 'plant-est'],
    ['Upstream CA over CMP', 5, 'plant-cmp'],
  ])('of type %s asks for the upstream CA', async (kind, type, issuer) => {
    await begin(kind);
    expect(await options('issuer')).toEqual(['Please choose', issuer]);
    expect(await inputs()).toEqual(['issuing_ca_type', 'unique_name', 'issuer']);
    await choose('issuer', issuer);
    await page.type('[name=unique_name]', `by ${issuer}`);
    expect(await sent()).toEqual({ issuing_ca_type: type, unique_name: `by ${issuer}`, issuer });
    // Nobody is there.
    await page.until("document.querySelector('main .notice.bad') !== null");
  });

  test('shows that it expires with its parent when a longer validity is requested', async () => {
    await begin('Intermediate CA');
    const hint = (): Promise<string> =>
      page.evaluate(
        "document.querySelector('[name=validity]').closest('.field').querySelector('.hint').innerText",
      );
    expect(await hint()).toStartWith('ISO 8601 duration');
    await choose('parent', 'root');
    await page.type('[name=validity]', 'P30Y');
    expect(await hint()).toMatch(
      /^Shortened: the parent CA root expires on .*, so this CA expires then and not on .*\.$/,
    );
    await page.type('[name=unique_name]', 'short');
    await press('Create');
    const { id } = await made('short');
    const cas = (await site.api('GET', '/api/ca-hierarchy/')) as Record<string, unknown>[];
    const end = (ca: unknown) => cas.find((one) => one.id === ca)?.not_valid_after;
    expect(end(id)).toBe(end(1));
  }, 60_000);

  test('is rejected with the error next to the input', async () => {
    await begin('Key in an HSM (PKCS #11)');
    await page.type('[name=unique_name]', 'nowhere');
    await press('Create');
    await page.until("document.activeElement?.name === 'key_store'");
    expect(await page.evaluate("document.querySelector('.complaint').innerText")).toBe(
      'This field is required.',
    );
  });
});
