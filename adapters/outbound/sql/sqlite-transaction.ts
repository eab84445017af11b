import { type Database, SQLiteError, type Statement } from 'bun:sqlite';
import { toFault } from '#core/fault.ts';
import type { Kind } from '#core/ports/store.ts';
import type { Head } from './audit-chain.ts';
import type { SqlValue } from './codec.ts';
import type { Result, Unit } from './driver.ts';
import { isRefusal, Refusal } from './refusal.ts';
import { columnsOf, fieldName, tableOf } from './schema.ts';
import type { Statements } from './statements.ts';
import { type Change, type Ids, idsOf, plan, type Rows, type Single } from './steps.ts';
import { raisesCounter } from './unit.ts';

export type Prepared = Statement<unknown, SqlValue[]>;

/** The most rows of one insert statement. Smaller numbers are powers of two, to limit the number of statements. */
const mostRows = 16;

/** The result of a group of units inside an open transaction. */
export interface Outcome {
  readonly results: readonly Result[];
  readonly head: Head;
}

/** Writes units inside an open transaction. Synchronous, so no other write intervenes. */
export class SqliteTransaction {
  readonly #db: Database;
  readonly #statements: Statements;
  readonly #prepare: (sql: string) => Prepared;
  #head: Head;

  constructor(db: Database, statements: Statements, prepare: (sql: string) => Prepared, head: Head) {
    this.#db = db;
    this.#statements = statements;
    this.#prepare = prepare;
    this.#head = head;
  }

  /** Writes all units. Throws the Refusal of the first one that is rejected. */
  together(units: readonly Unit[]): Outcome {
    const before = this.#head;
    const results = this.#write(units);
    return this.#finish(results, before, units.some(raisesCounter));
  }

  /** Writes the units one by one and skips those that are rejected. */
  apart(units: readonly Unit[]): Outcome {
    const before = this.#head;
    let raises = false;
    const results = units.map((unit): Result => {
      this.#db.run('savepoint unit');
      try {
        const [ids] = this.#write([unit]);
        this.#db.run('release unit');
        raises ||= raisesCounter(unit);
        return ids!;
      } catch (error) {
        if (!isRefusal(error)) throw error;
        this.#db.run('rollback to unit');
        this.#db.run('release unit');
        return error;
      }
    });
    return this.#finish(results, before, raises);
  }

  #finish(results: readonly Result[], before: Head, raises: boolean): Outcome {
    const head = this.#head;
    if (raises) this.#prepare(this.#statements.raiseCounter()).run();
    if (head !== before) {
      this.#prepare(this.#statements.auditHead()).run(head.chain, head.sequence, head.hash);
    }
    return { results, head };
  }

  #write(units: readonly Unit[]): Ids {
    const ids = idsOf(units, this.#freshIds());
    const { steps, events, head } = plan(this.#statements, units, ids, this.#head);
    for (const step of steps) {
      if ('values' in step) this.#insertRows(step);
      else this.#change(step);
    }
    this.#insert('auditEvent', events, false);
    this.#head = head;
    return ids;
  }

  /** Returns new ids like those of the database. No other process writes meanwhile. */
  #freshIds(): (kind: Kind) => number {
    const last = new Map<Kind, number>();
    return (kind) => {
      const id = 1 + (last.get(kind) ?? this.#lastId(kind));
      last.set(kind, id);
      return id;
    };
  }

  #lastId(kind: Kind): number {
    const { name } = tableOf(kind);
    const [row] = this.#prepare(lastIdOf(name)).all(name) as { readonly last: number }[];
    return row!.last;
  }

  #change({ write, sql, parameters }: Single): void {
    try {
      const statement = this.#prepare(sql);
      const found =
        write.op === 'require' ? statement.all(...parameters).length : statement.run(...parameters).changes;
      if (found === 0) throw new Refusal([write], { kind: 'gone' });
    } catch (error) {
      throw refusalOf(error, [write]);
    }
  }

  #insertRows({ kind, writes, values }: Rows): void {
    try {
      this.#insert(kind, values, true);
    } catch (error) {
      throw refusalOf(error, writes);
    }
  }

  /** Inserts many rows with one statement, which opens the table and finds the position only once. */
  #insert(kind: Kind, values: readonly SqlValue[], withId: boolean): void {
    const width = columnsOf(kind).length + (withId ? 1 : 0);
    for (let at = 0; at < values.length; ) {
      const count = Math.min(mostRows, 2 ** Math.floor(Math.log2((values.length - at) / width)));
      const parameters = values.slice(at, at + count * width);
      this.#prepare(this.#statements.insert(kind, count, withId)).run(...parameters);
      at += parameters.length;
    }
  }
}

/**
 * Returns SQL for the last id of a table: the highest existing one, or the highest ever assigned if rows can be
 * deleted.
 */
const lastIdOf = (table: string): string =>
  `select max(coalesce((select seq from sqlite_sequence where name = ?), 0),
    coalesce((select max(id) from "${table}"), 0)) as last`;

function refusalOf(error: unknown, writes: readonly Change[]): unknown {
  if (!(error instanceof SQLiteError)) return error;
  const code = error.code ?? '';
  if (code === 'SQLITE_CONSTRAINT_FOREIGNKEY') return new Refusal(writes, { kind: 'reference' });
  if (code === 'SQLITE_CONSTRAINT_UNIQUE') {
    // UNIQUE constraint failed: certificates.serial_number, certificates.ca
    const column = /: \w+\.(\w+)/.exec(error.message)?.[1] ?? '';
    return new Refusal(writes, { kind: 'taken', field: fieldName(column) });
  }
  return code.startsWith('SQLITE_CONSTRAINT') || code === 'SQLITE_TOOBIG' ? toFault(error) : error;
}
