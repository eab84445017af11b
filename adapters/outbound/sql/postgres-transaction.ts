import postgres from 'postgres';
import { toFault } from '#core/fault.ts';
import type { Kind, Write } from '#core/ports/store.ts';
import { type Head, link } from './audit-chain.ts';
import { encode, type SqlValue } from './codec.ts';
import type { Result, Unit } from './driver.ts';
import { arrayLiteral, arrayTypes } from './postgres-arrays.ts';
import { type Answer, type Send, settle } from './postgres-client.ts';
import { isRefusal, Refusal } from './refusal.ts';
import { columnName, columnOf, columnsOf, tableOf } from './schema.ts';
import { type Statements, sought } from './statements.ts';
import { completeEvent, encodeFields, fieldsToSet, raisesCounter } from './unit.ts';

type Change = Exclude<Write, { readonly op: 'audit' }>;
type Insert = Extract<Write, { readonly op: 'insert' }>;

/** Rows of one kind that one statement inserts: the id and the fields of each. */
interface Rows {
  readonly kind: Kind;
  readonly writes: Insert[];
  readonly rows: SqlValue[][];
}

/** An update or delete: one statement of its own. */
interface Single {
  readonly write: Exclude<Change, Insert>;
  readonly sql: string;
  readonly parameters: readonly SqlValue[];
}

type Step = Rows | Single;

/** For each unit, for each of its writes, the id of the record that it touches. */
export type Ids = readonly (readonly number[])[];

/** The head of the audit chain after a group, and what became of its units. */
export interface Outcome {
  readonly results: readonly Result[];
  readonly head: Head;
}

/** For each unit the ids of its writes. Those of inserts come fresh from the sequences; nothing else is asked. */
export async function allotIds(units: readonly Unit[], send: Send): Promise<Ids> {
  const wanted = new Map<Kind, number>();
  for (const unit of units) {
    for (const write of unit) {
      if (write.op === 'insert') wanted.set(write.kind, (wanted.get(write.kind) ?? 0) + 1);
    }
  }
  const fresh = new Map<Kind, Iterator<number>>();
  await settle(
    [...wanted].map(async ([kind, count]) => {
      const { rows } = await send(nextIds, [`${tableOf(kind).name}_id_seq`, count]);
      fresh.set(kind, rows.map(({ id }) => Number(id)).values());
    }),
  );
  const idOf = (write: Write): number => {
    if (write.op === 'audit') return 0;
    return write.op === 'insert' ? Number(fresh.get(write.kind)?.next().value) : write.id;
  };
  return units.map((unit) => unit.map(idOf));
}

/** Writes units in a transaction, sending all statements at once, of which each inserts all rows of a kind. */
export class PostgresTransaction {
  readonly #send: Send;
  readonly #commit: () => Promise<void>;
  readonly #statements: Statements;
  #head: Head;
  /** What comes of it once COMMIT, which may have been sent, takes effect. */
  outcome: Outcome | undefined;

  constructor(send: Send, commit: () => Promise<void>, statements: Statements, head: Head) {
    this.#send = send;
    this.#commit = commit;
    this.#statements = statements;
    this.#head = head;
  }

  /**
   * Which outcome has come about already, in a transaction whose COMMIT went unanswered. It waits until such a transaction is
   * over, and none of them can become true after ours has written the same events, or records under the same ids.
   */
  async already(possible: readonly Outcome[]): Promise<Outcome | undefined> {
    const { rows } = await this.#send(this.#statements.auditHeadLocked(), [this.#head.chain]);
    const hash = rows[0]?.hash;
    const found = possible.find(
      ({ head }) => hash instanceof Uint8Array && Buffer.compare(head.hash, hash) === 0,
    );
    if (found) await this.#commit();
    return found;
  }

  /** All of them; throws when one is refused, without saying which. */
  async together(units: readonly Unit[], ids: Ids): Promise<Outcome> {
    const written = this.#write(units, ids);
    // An update or delete that finds nothing is no error to PostgreSQL: look before committing.
    const isSure = units.every((unit) => unit.every(({ op }) => op === 'insert' || op === 'audit'));
    if (!isSure) await written;
    this.outcome = { results: ids, head: this.#head };
    await settle([written, this.#commit()]);
    return this.outcome;
  }

  /** Those that are not refused, one after the other. */
  async apart(units: readonly Unit[], ids: Ids): Promise<Outcome> {
    const results: Result[] = [];
    for (const [i, unit] of units.entries()) {
      const head = this.#head;
      await this.#send('savepoint unit', []);
      try {
        await this.#write([unit], [ids[i]!]);
        results.push(ids[i]!);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        await this.#send('rollback to savepoint unit', []);
        this.#head = head;
        results.push(error);
      }
      await this.#send('release savepoint unit', []);
    }
    this.outcome = { results, head: this.#head };
    await this.#commit();
    return this.outcome;
  }

  async #write(units: readonly Unit[], ids: Ids): Promise<void> {
    const before = this.#head;
    const steps: Step[] = [];
    const events: SqlValue[][] = [];
    units.forEach((unit, u) => {
      unit.forEach((write, w) => {
        const earlier = ids[u]!.slice(0, w);
        if (write.op === 'audit') {
          const event = link(this.#head, completeEvent(write, earlier));
          this.#head = event;
          events.push(encodeFields(columnsOf('auditEvent'), event, []));
        } else if (write.op === 'insert') {
          const { writes, rows } = stepFor(write.kind, steps);
          writes.push(write);
          rows.push([ids[u]![w]!, ...encodeFields(columnsOf(write.kind), write.values, earlier)]);
        } else {
          steps.push(this.#single(write, earlier));
        }
      });
    });
    const sent: Promise<unknown>[] = steps.map((step) => this.#step(step));
    if (events.length > 0) sent.push(this.#insert('auditEvent', events, false));
    if (units.some(raisesCounter)) sent.push(this.#send(this.#statements.raiseCounter(), []));
    if (this.#head !== before) {
      const { chain, sequence, hash } = this.#head;
      sent.push(this.#send(this.#statements.auditHead(), [chain, sequence, hash]));
    }
    await settle(sent);
  }

  #single(write: Exclude<Change, Insert>, ids: readonly number[]): Single {
    const { kind, id } = write;
    const where = sought(kind, write.where ?? {});
    if (!where) throw new Refusal([write], { kind: 'gone' });
    const key = encode(columnOf(kind, 'id')!, 'id', id);
    if (write.op === 'delete') {
      return { write, sql: this.#statements.delete(kind, where), parameters: [key, ...where.parameters] };
    }
    const fields = fieldsToSet(kind, write.set);
    const names = fields.map(([name]) => name);
    const values = encodeFields(fields, write.set, ids);
    const sql = this.#statements.update(kind, names, where);
    return { write, sql, parameters: [...values, key, ...where.parameters] };
  }

  async #step(step: Step): Promise<void> {
    const writes = 'rows' in step ? step.writes : [step.write];
    try {
      if ('rows' in step) {
        await this.#insert(step.kind, step.rows, true);
      } else {
        const { count } = await this.#send(step.sql, step.parameters);
        if (count === 0) throw new Refusal([step.write], { kind: 'gone' });
      }
    } catch (error) {
      throw refusalOf(error, writes);
    }
  }

  #insert(kind: Kind, rows: readonly (readonly SqlValue[])[], withId: boolean): Promise<Answer> {
    const types = columnsOf(kind).map(([, { type }]) => type);
    if (withId) types.unshift('integer');
    const names = types.map((type) => arrayTypes[type]);
    const parameters = types.map((type, column) => arrayLiteral(type, rows, column));
    return this.#send(this.#statements.insertArrays(kind, names, withId), parameters);
  }
}

const nextIds = 'select nextval($1::text::regclass) as id from generate_series(1, $2::integer)';

/**
 * The rows that the next insert of a kind joins. Inserts of other kinds do not mind that it comes before them, unless it
 * refers to one; nothing is moved before an update or a delete.
 */
function stepFor(kind: Kind, steps: Step[]): Rows {
  const referred = new Set(columnsOf(kind).map(([, { references }]) => references));
  for (const step of steps.toReversed()) {
    if (!('rows' in step)) break;
    if (step.kind === kind) return step;
    if (referred.has(step.kind)) break;
  }
  const step: Rows = { kind, writes: [], rows: [] };
  steps.push(step);
  return step;
}

/** Data that a statement or a constraint refuses concerns one unit. */
function refusalOf(error: unknown, writes: readonly Change[]): unknown {
  if (!(error instanceof postgres.PostgresError)) return error;
  if (error.code === '23503') return new Refusal(writes, { kind: 'reference' });
  if (error.code === '23505' && error.constraint_name?.endsWith('_pkey') !== true) {
    const [write] = writes;
    const table = write && tableOf(write.kind);
    // certificates_serial_number_ca_key
    const columns = error.constraint_name?.slice((table?.name.length ?? 0) + 1);
    const unique = table?.unique.find((fields) => columns === `${fields.map(columnName).join('_')}_key`);
    return new Refusal(writes, { kind: 'taken', field: unique?.[0] ?? '' });
  }
  return /^(22|23(?!505)|P0)/.test(error.code) ? toFault(error) : error;
}
