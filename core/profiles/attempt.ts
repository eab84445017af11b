import { encodeOid } from '../der/oid.ts';
import { Fault } from '../fault.ts';

/** What `run` gives, or the Fault that it throws. */
export function attempt<T>(run: () => T): T | Fault {
  try {
    return run();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}

export const isOid = (text: string): boolean => !(attempt(() => encodeOid(text)) instanceof Fault);
