import { Fault } from '../fault.ts';

const shortest = 8;
const longest = 1024;

/** Faults: malformed. */
export function checkPassword(password: string): void {
  if (password.length < shortest || password.length > longest) {
    throw new Fault('malformed', `a password has ${shortest} to ${longest} characters`, {
      field: 'password',
    });
  }
}
