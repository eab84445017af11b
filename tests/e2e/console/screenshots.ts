import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pages, placeOf, populate } from './places.ts';
import { startSite } from './site.ts';

// `npm run screenshots`: a picture of every page, for the README. By hand, since each looks a little different every time.

const folder = resolve(import.meta.dir, '../../../docs/screenshots');
mkdirSync(folder, { recursive: true });

await using site = await startSite();
await populate(site);
const page = await site.tab();
await page.look({ width: 1200, height: 780, dark: false });

const take = async (name: string): Promise<void> => {
  const picture = await page.screenshot();
  if (picture.length > 100_000) throw new Error(`${name}: ${picture.length} octets`);
  writeFileSync(join(folder, `${name}.webp`), picture);
};

await page.open(site.server.baseUrl);
await page.until("document.querySelector('.sign-in')");
await take('sign-in');
await site.signIn(page, '/');
for (const described of pages) {
  await site.show(page, placeOf(described));
  await page.evaluate(
    'scrollTo(0, 0), document.activeElement?.blur(), new Promise((done) => setTimeout(done, 300))',
  );
  await take(
    described.path === '/'
      ? 'overview'
      : described.path
          .slice(1)
          .replace(/\/:\w+/, '-one')
          .replaceAll('/', '-'),
  );
}
await page.look({ width: 390, height: 780, dark: true });
await site.show(page, '/devices');
await take('phone-dark');
