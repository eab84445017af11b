import { type Database, SQLiteError, type Statement } from 'bun:sqlite';
import { toFault } from '#core/fault.ts';
import type { Kind, Write } from '#core/ports/store.ts';
import { type Head, link } from './audit-chain.ts';
import { encode, type SqlValue } from './codec.ts';
import type { Result, Unit } from './driver.ts';
import { isRefusal, Refusal } from './refusal.ts';
import { columnOf, columnsOf, fieldName } from './schema.ts';
import { type Sought, type Statements, sought } from './statements.ts';
import { completeEvent, encodeFields, fieldsToSet, raisesCounter } from './unit.ts';

export type Prepared = Statement<unknown, SqlValue[]>;

/** What a group of units did inside a transaction that is still open. */
export interface Outcome {
  readonly results: readonly Result[];
  readonly head: Head;
}

/** Writes units inside an open transaction. Everything is synchronous: no other write comes between. */
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

  /** All of them; throws the refusal of the first that is refused. */
  together(units: readonly Unit[]): Outcome {
    const before = this.#head;
    const results = units.map((unit) => this.#write(unit));
    return this.#finish(results, before, units.some(raisesCounter));
  }

  /** Those that are not refused. */
  apart(units: readonly Unit[]): Outcome {
    const before = this.#head;
    let raises = false;
    const results = units.map((unit): Result => {
      const head = this.#head;
      this.#db.run('savepoint unit');
      try {
        const ids = this.#write(unit);
        this.#db.run('release unit');
        raises ||= raisesCounter(unit);
        return ids;
      } catch (error) {
        if (!isRefusal(error)) throw error;
        this.#db.run('rollback to unit');
        this.#db.run('release unit');
        this.#head = head;
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

  #write(unit: Unit): number[] {
    const ids: number[] = [];
    for (const write of unit) {
      if (write.op === 'audit') {
        const event = link(this.#head, completeEvent(write, ids));
        this.#insert('auditEvent', event, ids);
        this.#head = event;
        ids.push(0);
      } else {
        ids.push(this.#change(write, ids));
      }
    }
    return ids;
  }

  #change(write: Exclude<Write, { readonly op: 'audit' }>, ids: readonly number[]): number {
    try {
      if (write.op === 'insert') return this.#insert(write.kind, write.values, ids);
      const where = sought(write.kind, write.where ?? {});
      const changes =
        where && (write.op === 'update' ? this.#update(write, where, ids) : this.#delete(write, where));
      if (!changes) throw new Refusal([write], { kind: 'gone' });
      return write.id;
    } catch (error) {
      throw refusalOf(error, write);
    }
  }

  #insert(kind: Kind, values: object, ids: readonly number[]): number {
    const parameters = encodeFields(columnsOf(kind), values, ids);
    return Number(this.#prepare(this.#statements.insert(kind)).run(...parameters).lastInsertRowid);
  }

  #update(
    { kind, id, set }: Extract<Write, { readonly op: 'update' }>,
    where: Sought,
    ids: readonly number[],
  ): number {
    const fields = fieldsToSet(kind, set);
    const names = fields.map(([name]) => name);
    const values = encodeFields(fields, set, ids);
    const statement = this.#prepare(this.#statements.update(kind, names, where));
    return statement.run(...values, encodeId(kind, id), ...where.parameters).changes;
  }

  #delete({ kind, id }: Extract<Write, { readonly op: 'delete' }>, where: Sought): number {
    const statement = this.#prepare(this.#statements.delete(kind, where));
    return statement.run(encodeId(kind, id), ...where.parameters).changes;
  }
}

const encodeId = (kind: Kind, id: number): SqlValue => encode(columnOf(kind, 'id')!, 'id', id);

function refusalOf(error: unknown, write: Exclude<Write, { readonly op: 'audit' }>): unknown {
  if (!(error instanceof SQLiteError)) return error;
  const code = error.code ?? '';
  if (code === 'SQLITE_CONSTRAINT_FOREIGNKEY') return new Refusal([write], { kind: 'reference' });
  if (code === 'SQLITE_CONSTRAINT_UNIQUE') {
    // UNIQUE constraint failed: certificates.serial_number, certificates.ca
    const column = /: \w+\.(\w+)/.exec(error.message)?.[1] ?? '';
    return new Refusal([write], { kind: 'taken', field: fieldName(column) });
  }
  return code.startsWith('SQLITE_CONSTRAINT') || code === 'SQLITE_TOOBIG' ? toFault(error) : error;
}
