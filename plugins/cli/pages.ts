import type { Kind, Page, Query } from '#core/ports/store.ts';

const pageSize = 1000;

/** All records of a list, or the first `limit` of them; oldest first unless `order` says otherwise. */
export async function pages<K extends Kind, T>(
  list: (query: Query<K>) => Promise<Page<T>>,
  query: Pick<Query<K>, 'where' | 'search' | 'referral' | 'order'> = {},
  limit = Number.POSITIVE_INFINITY,
): Promise<T[]> {
  const records: T[] = [];
  let cursor: string | undefined;
  do {
    const page = await list({
      order: { field: 'id', descending: false },
      ...query,
      limit: Math.min(pageSize, limit - records.length),
      ...(cursor !== undefined && { cursor }),
    });
    records.push(...page.records);
    cursor = page.next;
  } while (cursor !== undefined && records.length < limit);
  return records;
}

/** Each word of a search must be in a record. */
export const wordsOf = (text: string | undefined): readonly string[] =>
  (text ?? '').split(/\s+/).filter((word) => word !== '');
