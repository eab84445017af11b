import { Fault } from '#core/fault.ts';
import type { Passwords } from '#core/ports/passwords.ts';

/** Longer ones cost time and gain nothing. */
const mostCharacters = 1024;

/** OWASP Password Storage Cheat Sheet, argon2id: 19 MiB (in KiB here), two passes, one lane. */
const parameters = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const;

/** The same password is typed as different code points on different keyboards (NIST SP 800-63B §5.1.1.2). */
const normalised = (password: string): string => password.normalize('NFC');

const acceptable = (password: string): boolean => password.length > 0 && password.length <= mostCharacters;

/** `hash` gives the PHC string of argon2id. Fault malformed for an empty password and for one of more than 1024 characters. */
export const passwords: Passwords = {
  async hash(password) {
    if (!acceptable(password)) {
      throw new Fault('malformed', `a password has 1 to ${mostCharacters} characters`, { field: 'password' });
    }
    return Bun.password.hash(normalised(password), parameters);
  },

  async verify(password, hash) {
    if (!acceptable(password) || !hash.startsWith('$argon2id$')) return false;
    try {
      return await Bun.password.verify(normalised(password), hash, 'argon2id');
    } catch {
      return false;
    }
  },
};
