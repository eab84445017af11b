import postgres from 'postgres';
import { toFault } from '#core/fault.ts';
import type { Kind } from '#core/ports/store.ts';
import type { Head } from './audit-chain.ts';
import type { SqlValue } from './codec.ts';
import type { Result, Unit } from './driver.ts';
import { type Send, settle } from './postgres-client.ts';
import { toJson } from './postgres-rows.ts';
import type { Commit } from './postgres-writer.ts';
import { isRefusal, Refusal } from './refusal.ts';
import { kinds as allKinds, columnName, columnsOf, tableOf } from './schema.ts';
import type { Statements } from './statements.ts';
import { type Change, type Ids, idsOf, type Plan, plan, type Rows, type Step } from './steps.ts';
import { raisesCounter } from './unit.ts';

/** The head of the audit chain after a group, and the results of its units. */
export interface Outcome {
  readonly results: readonly Result[];
  readonly head: Head;
}

/** Returns the ids of the writes of each unit. New ids come from the sequences. */
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
  return idsOf(units, (kind) => Number(fresh.get(kind)?.next().value));
}

/** Returns whether units only insert records that are not configuration. One statement is enough for those. */
export const onlyAdd = (units: readonly Unit[]): boolean =>
  units.every(
    (unit) =>
      unit.length > 0 && unit.every(({ op }) => op === 'insert' || op === 'audit') && !raisesCounter(unit),
  );

/** Writes units in a transaction. Sends all statements at once; each inserts all rows of a kind. */
export class PostgresTransaction {
  readonly #send: Send;
  readonly #commit: Commit;
  readonly #statements: Statements;
  #head: Head;
  /** The outcome if the COMMIT, which may have been sent, takes effect. */
  outcome: Outcome | undefined;

  constructor(send: Send, commit: Commit, statements: Statements, head: Head) {
    this.#send = send;
    this.#commit = commit;
    this.#statements = statements;
    this.#head = head;
  }

  /**
   * Returns which of the possible outcomes is in the database, after a COMMIT without a response. Waits until such a
   * transaction has ended. After that, none of them can take effect any more, because this transaction has written the
   * same events or ids.
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

  /**
   * Writes units that only insert, in the single statement of the transaction. Throws if one is rejected, without
   * naming it.
   */
  async atOnce(units: readonly Unit[], ids: Ids): Promise<Outcome> {
    const { steps, events, head } = this.#plan(units, ids);
    const rows = byKind(steps);
    const kinds = rows.map(({ kind }) => kind);
    const parameters: SqlValue[] = rows.map(jsonOf);
    if (events.length > 0) {
      kinds.push('auditEvent');
      parameters.push(jsonOfEvents(events), head.chain, head.sequence, head.hash);
    }
    this.outcome = { results: ids, head };
    try {
      await this.#commit(this.#statements.addition(kinds), parameters);
    } catch (error) {
      const table = error instanceof postgres.PostgresError ? error.table_name : undefined;
      const refused = rows.find(({ kind }) => table === undefined || table === tableOf(kind).name);
      throw refusalOf(error, refused?.writes ?? []);
    }
    return this.outcome;
  }

  /** Writes all units. Throws if one is rejected, without naming it. */
  async together(units: readonly Unit[], ids: Ids): Promise<Outcome> {
    const written = this.#write(units, ids);
    // PostgreSQL does not report an error for an update or delete without a match, so check before the commit.
    const isSure = units.every((unit) => unit.every(({ op }) => op === 'insert' || op === 'audit'));
    if (!isSure) await written;
    this.outcome = { results: ids, head: this.#head };
    await settle([written, this.#commit()]);
    return this.outcome;
  }

  /** Writes the units one by one and skips those that are rejected. */
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
    const { steps, events, head } = this.#plan(units, ids);
    const sent: Promise<unknown>[] = steps.map((step) => this.#step(step));
    if (units.some(raisesCounter)) sent.push(this.#send(this.#statements.raiseCounter(), []));
    if (events.length > 0) {
      sent.push(this.#send(this.#statements.insertRows('auditEvent'), [jsonOfEvents(events)]));
      sent.push(this.#send(this.#statements.auditHead(), [head.chain, head.sequence, head.hash]));
    }
    await settle(sent);
  }

  #plan(units: readonly Unit[], ids: Ids): Plan {
    const planned = plan(this.#statements, units, ids, this.#head);
    this.#head = planned.head;
    return planned;
  }

  async #step(step: Step): Promise<void> {
    const writes = 'values' in step ? step.writes : [step.write];
    try {
      if ('values' in step) {
        await this.#send(this.#statements.insertRows(step.kind), [jsonOf(step)]);
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
 * Sorts rows by kind in the order of the schema. PostgreSQL checks references at the end of a statement, and a fixed
 * order gives the same statement, for which the server caches the plan.
 */
const byKind = (steps: readonly Step[]): Rows[] =>
  allKinds.flatMap((kind) => {
    const parts = steps.filter((step) => 'values' in step).filter((rows) => rows.kind === kind);
    if (parts.length < 2) return parts;
    return [
      { kind, writes: parts.flatMap(({ writes }) => writes), values: parts.flatMap(({ values }) => values) },
    ];
  });

const jsonOf = ({ kind, values }: Rows): string => toJson(values, 1 + columnsOf(kind).length);

const jsonOfEvents = (events: readonly SqlValue[]): string => toJson(events, columnsOf('auditEvent').length);

/**
 * Returns a Refusal for data that a statement or constraint rejects, which concerns one unit. A rejected audit event
 * concerns all units.
 */
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
  return /^(22|23(?!505)|54|P0)/.test(error.code) ? toFault(error) : error;
}
