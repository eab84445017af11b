import { Fault } from './fault.ts';

const tries = 5;

/** Reads and writes again, as long as another writer keeps coming in between (Fault conflict of a guard). */
export async function retried<T>(attempt: () => Promise<T>): Promise<T> {
  for (let n = 1; ; n++) {
    try {
      return await attempt();
    } catch (error) {
      if (n >= tries || !(error instanceof Fault) || error.code !== 'conflict') throw error;
    }
  }
}
