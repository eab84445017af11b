import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sorted } from './command.ts';

/** A package that a release contains. */
export interface Component {
  /** Its directory, relative to the program: `node_modules/…`. */
  readonly path: string;
  readonly name: string;
  readonly version: string;
  /** SPDX expression. */
  readonly licence: string;
  /** `sha512-…` in Base64: the package as the registry delivers it. */
  readonly integrity: string;
}

interface Entry {
  readonly version: string;
  readonly license?: string;
  readonly integrity?: string;
}

/** Returns the packages that are present in `directory`, by path, with what package-lock.json says of them. */
export async function installed(directory: string): Promise<readonly Component[]> {
  const { packages } = JSON.parse(await readFile(join(directory, 'package-lock.json'), 'utf8'));
  const entries = packages as Readonly<Record<string, Entry>>;
  const present = sorted(Object.keys(entries)).filter(
    (path) => path !== '' && existsSync(join(directory, path, 'package.json')),
  );
  return Promise.all(
    present.map(async (path) => {
      const { version, license, integrity = '' } = entries[path]!;
      const licence = license ?? (await olderField(join(directory, path)));
      if (!licence || !integrity.startsWith('sha512-'))
        throw new Error(`${path}: no licence or integrity is known`);
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      return { path, name, version, licence, integrity };
    }),
  );
}

/** Old packages list their `licenses`, which npm does not copy into the lock file. */
async function olderField(directory: string): Promise<string | undefined> {
  const { licenses } = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8'));
  return (licenses as readonly { readonly type: string }[] | undefined)?.map(({ type }) => type).join(' OR ');
}
