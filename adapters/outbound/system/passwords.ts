import { Fault } from '#core/fault.ts';
import type { Passwords } from '#core/ports/platform.ts';
import { isCommonPassword } from './common-passwords.ts';

/** Longer ones cost time and gain nothing. */
const mostCharacters = 1024;

/** What a guess costs: KiB of memory, and how many passes over it. */
interface Cost {
  readonly memoryCost: number;
  readonly timeCost: number;
}

/** OWASP Password Storage Cheat Sheet, argon2id: 19 MiB, two passes, one lane. */
const recommended: Cost = { memoryCost: 19_456, timeCost: 2 };

/** The same password is typed as different code points on different keyboards (NIST SP 800-63B §5.1.1.2). */
const normalised = (password: string): string => password.normalize('NFC');

/** Each takes a thread of a small pool, which files are read with too, and 19 MiB. */
const mostAtOnce = 32;
let underWay = 0;

/** Faults: unavailable when too many wait already. */
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
 * `hash` gives the PHC string of argon2id. Fault malformed for an empty password and for one of more than 1024 characters.
 * `verify` knows hashes of any cost.
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
