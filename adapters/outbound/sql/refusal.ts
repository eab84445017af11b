import { sql } from 'kysely';
import { Fault } from '#core/fault.ts';
import type { Kind, Write } from '#core/ports/store.ts';
import type { Driver } from './driver.ts';
import { columnName, kinds, tableOf } from './schema.ts';

/** Why a database, or a guard, refused a write. */
export type Reason =
  | { readonly kind: 'gone' }
  | { readonly kind: 'taken'; readonly field: string }
  | { readonly kind: 'reference' };

type Refused = Exclude<Write, { readonly op: 'audit' }>;

/** A unit's write that was refused; the unit as a whole has no effect. `explain` makes the Fault of it. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code = 'conflict';
  readonly #writes: readonly Refused[];
  readonly #reason: Reason;

  /** `writes`: of one kind; one of them is at fault. */
  constructor(writes: readonly Refused[], reason: Reason) {
    super(reason.kind);
    this.#writes = writes;
    this.#reason = reason;
  }

  /** For a broken reference it asks the database who refers to what, after the transaction. */
  async explain(driver: Driver): Promise<Fault> {
    const [write] = this.#writes;
    if (!write) return new Fault('internal', 'internal error', { cause: this });
    const noun = tableOf(write.kind).nouns[0];
    if (this.#reason.kind === 'gone') {
      return new Fault('conflict', `the ${noun} has changed in the meantime or is gone`);
    }
    if (this.#reason.kind === 'taken') {
      return new Fault('conflict', `another ${noun} has it already`, { field: this.#reason.field });
    }
    if (write.op === 'delete') return stillUsed(driver, write.kind, write.id);
    for (const refused of this.#writes) {
      const fault = refused.op !== 'delete' && (await dangling(driver, refused));
      if (fault) return fault;
    }
    return new Fault('conflict', `the ${noun} refers to what is gone`);
  }
}

/** What concerns one unit; anything else, such as a lost connection or a full disk, concerns all. */
export const isRefusal = (error: unknown): error is Refusal | Fault =>
  error instanceof Refusal || (error instanceof Fault && error.code !== 'unavailable');

const countedUpTo = 1000;

async function stillUsed(driver: Driver, kind: Kind, id: number): Promise<Fault> {
  const users: string[] = [];
  for (const referring of kinds) {
    const { name, nouns, fields } = tableOf(referring);
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
      if (count > 0)
        users.push(`${count === countedUpTo ? `${count} or more` : count} ${nouns[count === 1 ? 0 : 1]}`);
    }
  }
  const list = users.length === 0 ? 'others' : users.join(' and ');
  return new Fault('conflict', `still used by ${list}`);
}

async function dangling(
  driver: Driver,
  write: Extract<Refused, { readonly op: 'insert' | 'update' }>,
): Promise<Fault | undefined> {
  const values: object = write.op === 'insert' ? write.values : write.set;
  for (const [field, value] of Object.entries(values)) {
    const target = tableOf(write.kind).fields[field]?.references;
    if (target === undefined || typeof value !== 'number') continue;
    const { name, nouns } = tableOf(target);
    const query = driver.builder.selectFrom(name).select('id').where('id', '=', value).compile();
    const found = await driver.query(query.sql, [value], false);
    if (found.length === 0) return new Fault('conflict', `there is no such ${nouns[0]}`, { field });
  }
  return undefined;
}
