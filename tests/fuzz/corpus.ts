import { hash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dir, 'corpus');

export interface Entry {
  /** Folder and file. */
  readonly name: string;
  readonly input: Uint8Array;
}

/** The inputs in these folders, always in the same order. */
export const entriesOf = (folders: readonly string[]): readonly Entry[] =>
  folders.flatMap((folder) =>
    readdirSync(join(root, folder))
      .sort()
      .map((file) => ({ name: `${folder}/${file}`, input: readFileSync(join(root, folder, file)) })),
  );

/** Keeps an input for good: `npm test` runs it from then on. Its file. */
export function keep(folder: string, input: Uint8Array): string {
  const file = join(root, folder, `found-${hash('sha256', input, 'hex').slice(0, 12)}`);
  mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(file, input);
  return file;
}
