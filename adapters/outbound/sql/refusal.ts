import { sql } from 'kysely';
import { Fault } from '#core/fault.ts';
import { nouns } from '#core/ports/nouns.ts';
import type { Kind, Write } from '#core/ports/store.ts';
import type { Queries } from './queries.ts';
import { columnName, kinds, tableOf } from './schema.ts';

/** The reason why a database or a guard rejected a write. */
export type Reason =
  | { readonly kind: 'gone' }
  | { readonly kind: 'taken'; readonly field: string }
  | { readonly kind: 'reference' };

type Refused = Exclude<Write, { readonly op: 'audit' }>;

/** A rejected write of a unit; the unit as a whole has no effect. `explain` returns its Fault. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code = 'conflict';
  readonly #writes: readonly Refused[];
  readonly #reason: Reason;

  /** `writes`: all of one kind; one of them was rejected. */
  constructor(writes: readonly Refused[], reason: Reason) {
    super(reason.kind);
    this.#writes = writes;
    this.#reason = reason;
  }

  /** Returns the Fault. For a broken reference, it queries the database for the missing or referring records. */
  async explain(driver: Queries): Promise<Fault> {
    const [write] = this.#writes;
    if (!write) return new Fault('internal', 'internal error', { cause: this });
    const noun = nouns[write.kind][0];
    if (this.#reason.kind === 'gone') {
      return new Fault('conflict', `the ${noun} was modified or deleted concurrently`, {
        id: 'record_changed',
      });
    }
    if (this.#reason.kind === 'taken') {
      return new Fault('conflict', `another ${noun} already has this value`, {
        id: 'already_taken',
        field: this.#reason.field,
      });
    }
    if (write.op === 'delete') return stillUsed(driver, write.kind, write.id);
    return (
      (await dangling(driver, this.#writes)) ??
      new Fault('conflict', `the ${noun} refers to a deleted record`)
    );
  }
}

/** Whether an error concerns one unit only. Other errors, such as a lost connection or a full disk, concern all units. */
export const isRefusal = (error: unknown): error is Refusal | Fault =>
  error instanceof Refusal || (error instanceof Fault && error.code !== 'unavailable');

const countedUpTo = 1000;

async function stillUsed(driver: Queries, kind: Kind, id: number): Promise<Fault> {
  const users: string[] = [];
  const counts: Record<string, number> = {};
  for (const referring of kinds) {
    const { name, fields } = tableOf(referring);
    for (const [field, { references, cascade }] of Object.entries(fields)) {
      if (references !== kind || cascade) continue;
      const rows = driver.builder
        .selectFrom(name)
        .select(sql.lit(1).as('one'))
        .where(columnName(field), '=', id)
        .limit(sql.lit(countedUpTo));
      const counting = driver.builder
        .selectFrom(rows.as('rows'))
        .select((of) => of.fn.countAll().as('count'));
      const [row] = await driver.search(counting.compile().sql, [id]);
      const count = Number(row?.count);
      if (count > 0) {
        counts[referring] = Math.max(counts[referring] ?? 0, count);
        users.push(
          `${count === countedUpTo ? `${count} or more` : count} ${nouns[referring][count === 1 ? 0 : 1]}`,
        );
      }
    }
  }
  const list = users.length === 0 ? 'others' : users.join(' and ');
  return new Fault('conflict', `still used by ${list}`, { id: 'still_used', values: counts });
}

interface Reference {
  readonly field: string;
  readonly target: Kind;
  readonly id: number;
}

/** Yields the references of a write, except those to records created by the same commit. */
function* referencesOf(write: Refused): Iterable<Reference> {
  if (write.op === 'delete' || write.op === 'require') return;
  const { fields } = tableOf(write.kind);
  for (const [field, id] of Object.entries(write.op === 'insert' ? write.values : write.set)) {
    const target = fields[field]?.references;
    if (target !== undefined && typeof id === 'number') yield { field, target, id };
  }
}

const soughtAtOnce = 1000;

/** Returns the Fault for the write that refers to a missing record. Queries the database once for each referenced kind. */
async function dangling(driver: Queries, writes: readonly Refused[]): Promise<Fault | undefined> {
  const references = writes.flatMap((write) => [...referencesOf(write)]);
  for (const [target, of] of Map.groupBy(references, (reference) => reference.target)) {
    const { name } = tableOf(target);
    const ids = [...new Set(of.map(({ id }) => id))];
    const found = new Set<number>();
    for (let n = 0; n < ids.length; n += soughtAtOnce) {
      const sought = ids.slice(n, n + soughtAtOnce);
      const query = driver.builder.selectFrom(name).select('id').where('id', 'in', sought).compile();
      for (const row of await driver.query(query.sql, sought, false)) found.add(Number(row.id));
    }
    const lost = of.find(({ id }) => !found.has(id));
    if (lost)
      return new Fault('conflict', `there is no such ${nouns[target][0]}`, {
        id: 'no_such_record',
        field: lost.field,
      });
  }
  return undefined;
}
