import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sorted } from './command.ts';
import type { Component } from './components.ts';

const rule = '-'.repeat(78);

/** Said where a package has no file with its licence. */
const withoutText = 'The package contains no text of its licence; its package.json names it.';
const bun = `Bun is under the MIT licence. It is linked statically with, among others, JavaScriptCore and WebKit (LGPL-2.0),
BoringSSL, mimalloc, zstd, libarchive and SQLite. Their licences, and how to link Bun with a changed JavaScriptCore, are
described at https://bun.com/docs/project/license. The release contains the binary unchanged.`;

/** Returns the text of THIRD-PARTY.txt: each package with its version, its licence, and the licence's text. */
export async function thirdParty(directory: string, components: readonly Component[]): Promise<string> {
  const parts = await Promise.all(
    components.map(async ({ path, name, version, licence }) => {
      const files = sorted(await readdir(join(directory, path))).filter((file) =>
        /^(licen[cs]e|copying|notice)/i.test(file),
      );
      const texts = await Promise.all(files.map((file) => readFile(join(directory, path, file), 'utf8')));
      const text = name.startsWith('@oven/bun-') ? bun : texts.join('\n').trim() || withoutText;
      return `${rule}\n${name} ${version}, ${licence}\n${rule}\n\n${text}\n`;
    }),
  );
  return `Packages in this release of Postern. Postern itself is under Apache-2.0: see LICENSE.\n\n${parts.join('\n')}`;
}
