import { Fault } from '../fault.ts';
import type { Records, Store } from '../ports/store.ts';

/** The fields of each configuration kind that a store has to decode, and that can therefore be damaged. */
const structured = {
  domain: ['profiles'],
  profile: ['profile'],
  issuingCa: ['chain', 'key'],
  devidRegistration: [],
  truststore: ['certificates'],
  approvalPolicy: ['protocols', 'operations'],
  webhook: ['events'],
} as const satisfies { readonly [K in keyof Records]?: readonly (keyof Records[K])[] };

export type LoadedKind = keyof typeof structured;

/** The readable fields of a damaged record. */
export type Outline<K extends LoadedKind> = Partial<Records[K]> & {
  readonly id: number;
  readonly uniqueName: string;
};

export interface StoredRecords<K extends LoadedKind> {
  readonly records: readonly Records[K][];
  readonly damaged: readonly Outline<K>[];
}

/**
 * Reads all records of a kind. A record that the store cannot decode does not prevent the others from being read.
 * Faults: unavailable.
 */
export async function everyRecord<K extends LoadedKind>(store: Store, kind: K): Promise<StoredRecords<K>> {
  const records: Records[K][] = [];
  const damaged: Outline<K>[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: 1000, ...(cursor && { cursor }) };
    try {
      const page = await store.list(kind, query);
      records.push(...page.records);
      cursor = page.next;
    } catch (error) {
      if (!isDamage(error)) throw error;
      const fields: readonly string[] = structured[kind];
      const page = await store.listWithout(kind, fields as readonly (keyof Records[K] & string)[], query);
      for (const one of page.records) {
        const outline = one as unknown as Outline<K>;
        const record = await whole(store, kind, outline.id);
        if (record) records.push(record);
        else damaged.push(outline);
      }
      cursor = page.next;
    }
  } while (cursor);
  return { records, damaged };
}

const isDamage = (error: unknown): boolean => error instanceof Fault && error.code === 'internal';

/** Returns undefined if the record cannot be decoded. */
async function whole<K extends LoadedKind>(
  store: Store,
  kind: K,
  id: number,
): Promise<Records[K] | undefined> {
  try {
    return await store.get(kind, id);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return undefined;
  }
}
