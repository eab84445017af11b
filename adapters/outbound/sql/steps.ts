import type { Handle, Kind, Write } from '#core/ports/store.ts';
import { type Head, link } from './audit-chain.ts';
import { encode, type SqlValue } from './codec.ts';
import type { Unit } from './driver.ts';
import { Refusal } from './refusal.ts';
import { columnOf, columnsOf, kinds } from './schema.ts';
import { type Statements, sought } from './statements.ts';
import { completeEvent, encodeFields, fieldsToSet, type Made } from './unit.ts';

export type Change = Exclude<Write, { readonly op: 'audit' }>;
type Insert = Extract<Write, { readonly op: 'insert' }>;

/** Rows of one kind that are inserted together. */
export interface Rows {
  readonly kind: Kind;
  readonly writes: Insert[];
  /** The concatenated rows: id, then the fields in order. */
  readonly values: SqlValue[];
}

/** An update, a delete or a requirement, each a separate statement. */
export interface Single {
  readonly write: Exclude<Change, Insert>;
  readonly sql: string;
  readonly parameters: readonly SqlValue[];
}

export type Step = Rows | Single;

/** The id of the record for each write of each unit; 0 for audit events. */
export type Ids = readonly (readonly number[])[];

/** The statements for some units, in order, followed by their audit events. */
export interface Plan {
  readonly steps: readonly Step[];
  /** The concatenated events, with the fields in order. */
  readonly events: readonly SqlValue[];
  /** The last event of the audit chain after them. */
  readonly head: Head;
}

/** Assigns the ids of units. `fresh` returns the id of the next record of a kind. */
export function idsOf(units: readonly Unit[], fresh: (kind: Kind) => number): Ids {
  const idOf = (write: Write): number =>
    write.op === 'audit' ? 0 : write.op === 'insert' ? fresh(write.kind) : write.id;
  return units.map((unit) => unit.map(idOf));
}

/**
 * Returns the plan for units. Faults: malformed with `field`. Throws the Refusal of a guard that no record can meet.
 */
export function plan(statements: Statements, units: readonly Unit[], ids: Ids, before: Head): Plan {
  const steps: Step[] = [];
  const events: SqlValue[] = [];
  let head = before;
  for (let u = 0; u < units.length; u++) {
    const unit = units[u]!;
    const own = ids[u]!;
    let made: Map<Handle, number> | undefined;
    for (let w = 0; w < unit.length; w++) {
      const write = unit[w]!;
      if (write.op === 'audit') {
        const event = link(head, completeEvent(write, made));
        encodeFields(columnsOf('auditEvent'), event, undefined, events);
        head = event;
        continue;
      }
      if (write.op === 'insert') {
        const { writes, values } = rowsFor(write.kind, steps);
        writes.push(write);
        values.push(own[w]!);
        encodeFields(columnsOf(write.kind), write.values, made, values);
      } else {
        steps.push(single(statements, write, made));
      }
      if (write.op !== 'delete' && write.as) {
        made ??= new Map();
        made.set(write.as, own[w]!);
      }
    }
  }
  return { steps, events, head };
}

function single(statements: Statements, write: Exclude<Change, Insert>, made: Made | undefined): Single {
  const { kind, id } = write;
  const where = sought(kind, write.where ?? {});
  if (!where) throw new Refusal([write], { kind: 'gone' });
  const key = encode(columnOf(kind, 'id')!, 'id', id);
  if (write.op !== 'update') {
    const sql = write.op === 'delete' ? statements.delete(kind, where) : statements.requirement(kind, where);
    return { write, sql, parameters: [key, ...where.parameters] };
  }
  const fields = fieldsToSet(kind, write.set);
  const parameters = encodeFields(fields, write.set, made, []);
  parameters.push(key, ...where.parameters);
  const names = fields.map(([name]) => name);
  return { write, sql: statements.update(kind, names, where), parameters };
}

/**
 * Returns the batch that the next insert of a kind joins. An insert may move before writes of other kinds unless it refers to
 * such a kind; it never moves before an update or a delete of its own kind.
 */
function rowsFor(kind: Kind, steps: Step[]): Rows {
  for (let n = steps.length - 1; n >= 0; n--) {
    const step = steps[n]!;
    const isRows = 'values' in step;
    const other = isRows ? step.kind : step.write.kind;
    if (isRows && other === kind) return step;
    if (other === kind || referred.get(kind)!.has(other)) break;
  }
  const step: Rows = { kind, writes: [], values: [] };
  steps.push(step);
  return step;
}

/** The kinds that a kind refers to. */
const referred: ReadonlyMap<Kind, ReadonlySet<Kind | undefined>> = new Map(
  kinds.map((kind) => [kind, new Set(columnsOf(kind).map(([, { references }]) => references))]),
);
