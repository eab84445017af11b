import { join } from 'node:path';
import { buildSite } from './site.ts';

/**
 * `npm run docs`: writes the site that the gateway serves at `/docs/` into a directory, for any static file server, under any
 * path. Files with other names are left as they are. Returns how many files and octets it wrote.
 */
export async function exportSite(
  directory: string,
): Promise<{ readonly count: number; readonly octets: number }> {
  const site = await buildSite();
  if (!site) throw new Error('README.md and docs/ are missing in this copy of Postern');
  const files = new Map(site.files).set('404.html', site.notFound('./'));
  let octets = 0;
  for (const [address, { body }] of files) octets += await Bun.write(join(directory, address), body);
  return { count: files.size, octets };
}

if (import.meta.main) {
  const [directory] = process.argv.slice(2);
  if (directory === undefined) throw new Error('usage: bun adapters/inbound/docs/export.ts DIRECTORY');
  const { count, octets } = await exportSite(directory);
  process.stdout.write(`${directory}: ${count} files, ${Math.round(octets / 1024)} KiB\n`);
}
