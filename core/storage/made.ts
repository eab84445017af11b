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
