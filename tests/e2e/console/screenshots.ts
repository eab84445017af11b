import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildPlant } from './plant.ts';
import { startSite } from './site.ts';
import { smallPng } from './small-png.ts';

// `npm run screenshots`: the pictures of the documentation, on the data of a plant. By hand, since each looks a little different
// every time.

const folder = resolve(import.meta.dir, '../../../docs/screenshots');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

await using site = await startSite();
await buildPlant(site);
const page = await site.tab();
await page.locate('en-GB,de', 'Europe/Berlin');

const take = async (name: string): Promise<void> => {
  await page.evaluate(
    'scrollTo(0, 0), document.activeElement?.blur(), new Promise((done) => setTimeout(done, 300))',
  );
  writeFileSync(join(folder, `${name}.png`), smallPng(await page.screenshot()));
};

const language = (tag: 'en' | 'de'): Promise<void> =>
  page.evaluate(`{ const s = document.querySelector('.preferences select'); s.value = '${tag}';
    s.dispatchEvent(new Event('change', { bubbles: true })); }`);

await page.look({ width: 1440, height: 900, dark: false });
await page.open(site.server.baseUrl);
await page.until("document.querySelector('.sign-in')");
await take('sign-in');
await site.signIn(page, '/');
for (const [name, path] of [
  ['overview', '/'],
  ['devices', '/devices'],
  ['device', '/devices/1'],
  ['certificates', '/certificates'],
  ['certificate', '/certificates/12'],
  ['cas', '/cas'],
  ['approvals', '/approvals'],
  ['profile-editor', '/profiles/1/edit'],
  ['audit', '/audit'],
] as const) {
  await site.show(page, path);
  await take(name);
}
await page.look({ width: 390, height: 844, dark: true });
await site.show(page, '/devices');
await take('phone-dark');
await page.look({ width: 1440, height: 900, dark: true });
await language('de');
await site.show(page, '/');
await take('overview-dark-german');
