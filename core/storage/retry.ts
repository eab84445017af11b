import { Fault } from '../fault.ts';

const usualTries = 5;

/** Passes when tried again: the record was another than it had been, and no rule about one of its fields is broken. */
export const hasChanged = ({ field }: Fault): boolean => field === undefined;

/**
 * Reads and writes again, as long as another writer keeps coming in between (Fault conflict of a guard). `passing`: which of these
 * Faults may be another one at the next try; default: all.
 */
export async function retried<T>(
  attempt: () => Promise<T>,
  passing: (conflict: Fault) => boolean = () => true,
  tries = usualTries,
): Promise<T> {
  for (let n = 1; ; n++) {
    try {
      return await attempt();
    } catch (error) {
      if (n >= tries || !(error instanceof Fault)) throw error;
      if (error.code !== 'conflict' || !passing(error)) throw error;
    }
  }
}
