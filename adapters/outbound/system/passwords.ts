import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Fault } from '#core/fault.ts';
import type { Passwords } from '#core/ports/platform.ts';

/** Longer passwords take time to hash and are not safer. */
const mostCharacters = 1024;

/** The cost of argon2id: KiB of memory and number of passes. */
interface Cost {
  readonly memoryCost: number;
  readonly timeCost: number;
}

/** OWASP Password Storage Cheat Sheet, argon2id: 19 MiB, two passes, one lane. */
const recommended: Cost = { memoryCost: 19_456, timeCost: 2 };

/** The same password is typed as different code points on different keyboards (NIST SP 800-63B §5.1.1.2). */
const normalised = (password: string): string => password.normalize('NFC');

/** The most concurrent hashes. Each uses 19 MiB and a thread of a small pool that also reads files. */
const mostAtOnce = 32;
let underWay = 0;

/** Faults: unavailable if too many are waiting. */
async function bounded<T>(work: () => Promise<T>): Promise<T> {
  if (underWay >= mostAtOnce) {
    throw new Fault('unavailable', 'too many passwords are being checked', { retryAfter: 1 });
  }
  underWay++;
  try {
    return await work();
  } finally {
    underWay--;
  }
}

const acceptable = (password: string): boolean => password.length > 0 && password.length <= mostCharacters;

/**
 * Password hashing with argon2id. `hash` returns a PHC string. Faults: malformed for an empty password and for one of
 * more than 1024 characters. `verify` accepts hashes of any cost.
 */
export const argon2id = (cost: Cost): Passwords => ({
  async hash(password) {
    if (!acceptable(password)) {
      throw new Fault('malformed', `a password must have 1 to ${mostCharacters} characters`, {
        field: 'password',
      });
    }
    return bounded(() => Bun.password.hash(normalised(password), { algorithm: 'argon2id', ...cost }));
  },

  async verify(password, hash) {
    if (!acceptable(password) || !hash.startsWith('$argon2id$')) return false;
    try {
      return await bounded(() => Bun.password.verify(normalised(password), hash, 'argon2id'));
    } catch (error) {
      if (error instanceof Fault) throw error;
      return false;
    }
  },

  isCommon: isCommonPassword,
});

export const passwords: Passwords = argon2id(recommended);

let list: ReadonlySet<string> | undefined;

/**
 * Whether a password is among the 8,359 most common ones of 8 characters and more, in whatever case. The list is that of Django
 * 5.2 (made by Royce Williams), of which shorter ones are left out; `common-passwords.LICENSE` is its licence.
 */
function isCommonPassword(password: string): boolean {
  list ??= new Set(
    gunzipSync(readFileSync(join(import.meta.dir, 'common-passwords.txt.gz')))
      .toString('utf8')
      .split('\n'),
  );
  return list.has(password.normalize('NFC').toLowerCase());
}
