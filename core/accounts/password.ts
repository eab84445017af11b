import { Fault, type FaultValues } from '../fault.ts';
import type { Passwords } from '../ports/platform.ts';
import { hasHidden } from '../x509/visible.ts';

const shortest = 8;
const longest = 1024;

/** Rejects a password that is too short, cannot be typed, or is very common. Faults: malformed. */
export function checkPassword(
  passwords: Pick<Passwords, 'isCommon'>,
  password: string,
  username: string,
  field = 'password',
): void {
  const refuse = (detail: string, id: string, values?: FaultValues): never => {
    throw new Fault('malformed', detail, { id, field, ...(values && { values }) });
  };
  if (password.length < shortest || password.length > longest) {
    refuse(`a password must have ${shortest} to ${longest} characters`, 'password_length', {
      shortest,
      longest,
    });
  }
  if (hasHidden(password))
    refuse('a password must not contain control characters or invisible characters', 'password_characters');
  if (password.trim() === '') refuse('a password must not consist of spaces only', 'password_characters');
  if (password.toLowerCase() === username.toLowerCase())
    refuse('the password must differ from the user name', 'password_is_user_name');
  if (passwords.isCommon(password))
    refuse('this is one of the most common passwords: choose another one', 'password_common');
}
