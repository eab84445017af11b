import { Fault } from '#core/fault.ts';
import { configurationKinds, type Kind, type Ref, type Write } from '#core/ports/store.ts';
import type { AuditEvent } from '#core/records/audit-event.ts';
import { encode, type SqlValue } from './codec.ts';
import type { Unit } from './driver.ts';
import { type Column, tableOf } from './schema.ts';

const configuration: ReadonlySet<Kind> = new Set(configurationKinds);

/** Whether a unit raises the change counter. */
export const raisesCounter = (unit: Unit): boolean => unit.some(changesConfiguration);

const changesConfiguration = (write: Write): boolean =>
  write.op !== 'audit' && configuration.has(write.kind) && !(write.op === 'update' && write.quiet === true);

/** The event with the object that its `objectRef` names. `ids`: of all writes of the unit, this one being the one at `at`. */
export function completeEvent(
  { event, objectRef }: Extract<Write, { readonly op: 'audit' }>,
  ids: readonly number[],
  at: number,
): AuditEvent {
  return objectRef === undefined
    ? event
    : { ...event, object: `${event.object}:${resolve(objectRef, ids, at)}` };
}

/** Appends the parameters for fields of a kind to `parameters`. `ids`, `at`: as above. Faults: malformed with `field`. */
export function encodeFields(
  fields: readonly (readonly [string, Column])[],
  values: object,
  ids: readonly number[],
  at: number,
  parameters: SqlValue[],
): SqlValue[] {
  const given = values as Readonly<Record<string, unknown>>;
  for (const [field, column] of fields) {
    const value = given[field];
    const isReference = column.type === 'integer' && isRef(value);
    parameters.push(isReference ? resolve(value, ids, at) : encode(column, field, value));
  }
  return parameters;
}

const isRef = (value: unknown): value is Ref => typeof value === 'object' && value !== null && 'ref' in value;

/** Only what an earlier write makes is there to refer to. */
function resolve({ ref }: Ref, ids: readonly number[], at: number): number {
  const id = ref < at ? ids[ref] : undefined;
  if (!id) throw new Fault('internal', `write ${ref} of the commit makes no record`);
  return id;
}

/** Those fields of `set` that are to be written. Faults: malformed for one that the kind has not. */
export function fieldsToSet(kind: Kind, set: object): (readonly [string, Column])[] {
  const { fields } = tableOf(kind);
  return Object.entries(set).flatMap(([field, value]) => {
    if (value === undefined) return [];
    const column = Object.hasOwn(fields, field) ? fields[field] : undefined;
    if (!column) throw new Fault('malformed', 'there is no such field', { field });
    return [[field, column] as const];
  });
}
