import { Fault } from '../fault.ts';
import type { Handle, Store, Write } from '../ports/store.ts';

/** The id of the record that `handle` stands for. `ids`: what `Store.commit` answered for `writes`. */
export function idOf(handle: Handle, writes: readonly Write[], ids: readonly number[]): number {
  const id = ids[writes.findIndex((write) => 'as' in write && write.as === handle)];
  if (id === undefined) throw new Error(`no write of the commit makes the record ${handle.handle}`);
  return id;
}

/** Commits and gives the id of the record that `handle` stands for. Faults: those of `Store.commit`. */
export const commitFor = async (store: Store, writes: readonly Write[], handle: Handle): Promise<number> =>
  idOf(handle, writes, await store.commit(writes));

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
