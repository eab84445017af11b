import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

let list: ReadonlySet<string> | undefined;

/**
 * Whether a password is among the 8,359 most common ones of 8 characters and more, in whatever case. The list is that of Django
 * 5.2 (made by Royce Williams), of which shorter ones are left out; `common-passwords.LICENSE` is its licence.
 */
export function isCommonPassword(password: string): boolean {
  list ??= new Set(
    gunzipSync(readFileSync(join(import.meta.dir, 'common-passwords.txt.gz')))
      .toString('utf8')
      .split('\n'),
  );
  return list.has(password.normalize('NFC').toLowerCase());
}
