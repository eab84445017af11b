import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Kind, Query, Records } from '../ports/store.ts';
import { isDamage, type WithDamagedRecords } from './damaged-records.ts';

/** The most pages of one run; the next run continues. */
const mostPages = 100;

interface Work<K extends Kind, F extends keyof Records[K] & string> {
  /** Names the work in the log. */
  readonly task: string;
  readonly kind: K;
  /** Fields that are not read. */
  readonly without: readonly F[];
  readonly query: Query<K>;
  /** How many records are worked on at once; default: 1. */
  readonly atOnce?: number;
  readonly work: (record: Omit<Records[K], F>) => Promise<unknown>;
}

/**
 * Does the periodic work for each record that a query finds, page by page. One bad record stops nothing but the work for itself: a record
 * that cannot be read, or for which `work` fails, is skipped, and the log and the health of the service name it. A conflict means
 * that the record was changed concurrently; the next run looks again. Faults: unavailable.
 */
export async function eachRecord<K extends Kind, F extends keyof Records[K] & string>(
  { store, damagedRecords }: Pick<Ports, 'store'> & WithDamagedRecords,
  { task, kind, without, query, atOnce = 1, work }: Work<K, F>,
): Promise<void> {
  const run = damagedRecords.run(task);
  const one = async (record: Omit<Records[K], F>): Promise<void> => {
    try {
      await work(record);
    } catch (error) {
      if (error instanceof Fault && error.code === 'conflict') return;
      if (!isDamage(error)) throw error;
      run.skip(kind, (record as unknown as { readonly id: number }).id, error);
    }
  };
  let cursor: string | undefined;
  for (let n = 0; n < mostPages; n++) {
    const page = await store.listWithout(kind, without, {
      ...query,
      skipDamaged: true,
      ...(cursor !== undefined && { cursor }),
    });
    for (const damage of page.damaged ?? []) run.skip(kind, damage.id, damage);
    await inParallel(page.records, atOnce, one);
    cursor = page.next;
    if (cursor === undefined) break;
  }
  run.end();
}

/** Calls `work` for each item, for at most `atOnce` of them at a time. */
export async function inParallel<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}
