import { Fault } from '../fault.ts';
import type { Handle, Store, Write } from '../ports/store.ts';

/** Returns the id of the record for which `handle` stands. `ids`: the result of `Store.commit` for `writes`. */
export function idOf(handle: Handle, writes: readonly Write[], ids: readonly number[]): number {
  const id = ids[writes.findIndex((write) => 'as' in write && write.as === handle)];
  if (id === undefined) throw new Error(`no write of the commit has the handle ${handle.handle}`);
  return id;
}

/** Commits the writes and returns the id of the record for which `handle` stands. Faults: those of `Store.commit`. */
export const commitFor = async (store: Store, writes: readonly Write[], handle: Handle): Promise<number> =>
  idOf(handle, writes, await store.commit(writes));

const usualTries = 5;

/**
 * Returns whether a retry can succeed: the record was modified concurrently, and no rule about one of its fields is
 * violated.
 */
export const hasChanged = ({ field }: Fault): boolean => field === undefined;

/**
 * Repeats a read and a guarded write as long as other writers interfere (Fault conflict of a guard). `passing` tells
 * which conflicts a retry can resolve; default: all.
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
