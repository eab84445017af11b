import postgres from 'postgres';
import { toFault } from '#core/fault.ts';
import type { Kind, Write } from '#core/ports/store.ts';
import { type Head, link } from './audit-chain.ts';
import { encode, type SqlValue } from './codec.ts';
import type { Result, Unit } from './driver.ts';
import { type Send, settle } from './postgres-client.ts';
import { toJson } from './postgres-rows.ts';
import type { Commit } from './postgres-session.ts';
import { isRefusal, Refusal } from './refusal.ts';
import { columnName, columnOf, columnsOf, tableOf } from './schema.ts';
import { type Statements, sought } from './statements.ts';
import { completeEvent, encodeFields, fieldsToSet, raisesCounter } from './unit.ts';

type Change = Exclude<Write, { readonly op: 'audit' }>;
type Insert = Extract<Write, { readonly op: 'insert' }>;

/** Rows of one kind that one statement inserts: the id (but for audit events) and the fields of each. */
interface Rows {
  readonly kind: Kind;
  /** None for audit events. */
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
      fresh.set(kind, (JSON.parse(String(rows[0]?.ids)) as number[]).values());
    }),
  );
  const idOf = (write: Write): number => {
    if (write.op === 'audit') return 0;
    return write.op === 'insert' ? Number(fresh.get(write.kind)?.next().value) : write.id;
  };
  return units.map((unit) => unit.map(idOf));
}

/** Whether units do nothing but add records, none of which is configuration: one statement can do that. */
export const onlyAdd = (units: readonly Unit[]): boolean =>
  units.every(
    (unit) =>
      unit.length > 0 && unit.every(({ op }) => op === 'insert' || op === 'audit') && !raisesCounter(unit),
  );

/** Writes units in a transaction, sending all statements at once, of which each inserts all rows of a kind. */
export class PostgresTransaction {
  readonly #send: Send;
  readonly #commit: Commit;
  readonly #statements: Statements;
  #head: Head;
  /** What comes of it once COMMIT, which may have been sent, takes effect. */
  outcome: Outcome | undefined;

  constructor(send: Send, commit: Commit, statements: Statements, head: Head) {
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

  /** All of units that only add, in the one statement of the transaction; throws when one is refused, without saying which. */
  async atOnce(units: readonly Unit[], ids: Ids): Promise<Outcome> {
    const before = this.#head;
    const steps = this.#steps(units, ids).filter((step) => 'rows' in step);
    const parameters: SqlValue[] = steps.map(({ rows }) => toJson(rows));
    const { chain, sequence, hash } = this.#head;
    const isLinked = this.#head !== before;
    if (isLinked) parameters.push(chain, sequence, hash);
    const kinds = steps.map(({ kind }) => kind);
    this.outcome = { results: ids, head: this.#head };
    try {
      await this.#commit(this.#statements.addition(kinds, isLinked), parameters);
    } catch (error) {
      const table = error instanceof postgres.PostgresError ? error.table_name : undefined;
      const refused = steps.find(({ kind }) => table === undefined || table === tableOf(kind).name);
      throw refusalOf(error, refused?.writes ?? []);
    }
    return this.outcome;
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
    const sent: Promise<unknown>[] = this.#steps(units, ids).map((step) => this.#step(step));
    if (units.some(raisesCounter)) sent.push(this.#send(this.#statements.raiseCounter(), []));
    if (this.#head !== before) {
      const { chain, sequence, hash } = this.#head;
      sent.push(this.#send(this.#statements.auditHead(), [chain, sequence, hash]));
    }
    await settle(sent);
  }

  /** What units ask for, in order, the events last. They are the chain's from now on. */
  #steps(units: readonly Unit[], ids: Ids): Step[] {
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
    if (events.length > 0) steps.push({ kind: 'auditEvent', writes: [], rows: events });
    return steps;
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
        await this.#send(this.#statements.insertRows(step.kind), [toJson(step.rows)]);
      } else {
        const { count } = await this.#send(step.sql, step.parameters);
        if (count === 0) throw new Refusal([step.write], { kind: 'gone' });
      }
    } catch (error) {
      throw refusalOf(error, writes);
    }
  }
}

const nextIds =
  'select json_agg(nextval($1::text::regclass))::text as ids from generate_series(1, $2::integer)';

/**
 * The rows that the next insert of a kind joins. Inserts of other kinds do not mind that it comes before them, unless it
 * refers to one; nothing is moved before an update or a delete.
 */
function stepFor(kind: Kind, steps: Step[]): Rows {
  for (let n = steps.length - 1; n >= 0; n--) {
    const step = steps[n]!;
    if (!('rows' in step)) break;
    if (step.kind === kind) return step;
    if (columnsOf(kind).some(([, { references }]) => references === step.kind)) break;
  }
  const step: Rows = { kind, writes: [], rows: [] };
  steps.push(step);
  return step;
}

/** Data that a statement or a constraint refuses concerns one unit; but what is wrong with an audit event concerns all. */
function refusalOf(error: unknown, writes: readonly Change[]): unknown {
  const [write] = writes;
  if (!(error instanceof postgres.PostgresError) || !write) return error;
  if (error.code === '23503') return new Refusal(writes, { kind: 'reference' });
  if (error.code === '23505' && error.constraint_name?.endsWith('_pkey') !== true) {
    const table = tableOf(write.kind);
    // certificates_serial_number_ca_key
    const columns = error.constraint_name?.slice(table.name.length + 1);
    const unique = table.unique.find((fields) => columns === `${fields.map(columnName).join('_')}_key`);
    return new Refusal(writes, { kind: 'taken', field: unique?.[0] ?? '' });
  }
  return /^(22|23(?!505)|P0)/.test(error.code) ? toFault(error) : error;
}
