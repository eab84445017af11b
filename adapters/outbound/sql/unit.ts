import { Fault } from '#core/fault.ts';
import { configurationKinds, type Handle, type Kind, type Write } from '#core/ports/store.ts';
import type { AuditEvent } from '#core/records/audit-event.ts';
import { encode, type SqlValue } from './codec.ts';
import type { Unit } from './driver.ts';
import { type Column, tableOf } from './schema.ts';

const configuration: ReadonlySet<Kind> = new Set(configurationKinds);

/** Whether a unit raises the change counter. */
export const raisesCounter = (unit: Unit): boolean => unit.some(changesConfiguration);

const changesConfiguration = (write: Write): boolean =>
  write.op !== 'audit' &&
  write.op !== 'require' &&
  configuration.has(write.kind) &&
  !(write.op === 'update' && write.quiet === true);

/** The ids of the records that the earlier writes of a unit have created, by handle. */
export type Made = ReadonlyMap<Handle, number>;

/** Returns the event with the object that it is `about`. */
export const completeEvent = (
  { event, about }: Extract<Write, { readonly op: 'audit' }>,
  made: Made | undefined,
): AuditEvent =>
  about === undefined ? event : { ...event, object: `${event.object}:${resolve(about, made)}` };

/** Appends the parameters for fields of a kind to `parameters`. Faults: malformed with `field`. */
export function encodeFields(
  fields: readonly (readonly [string, Column])[],
  values: object,
  made: Made | undefined,
  parameters: SqlValue[],
): SqlValue[] {
  const given = values as Readonly<Record<string, unknown>>;
  for (const [field, column] of fields) {
    const value = given[field];
    const isReference = column.type === 'integer' && isHandle(value);
    parameters.push(isReference ? resolve(value, made) : encode(column, field, value));
  }
  return parameters;
}

const isHandle = (value: unknown): value is Handle =>
  typeof value === 'object' && value !== null && 'handle' in value;

/** Returns the id of a handle, which must be that of an earlier write of the unit. */
function resolve(handle: Handle, made: Made | undefined): number {
  const id = made?.get(handle);
  if (id === undefined)
    throw new Fault('internal', `no earlier write of the commit has the handle ${handle.handle}`);
  return id;
}

/** Returns the fields of `set` to write. Faults: malformed for an unknown field. */
export function fieldsToSet(kind: Kind, set: object): (readonly [string, Column])[] {
  const { fields } = tableOf(kind);
  return Object.entries(set).flatMap(([field, value]) => {
    if (value === undefined) return [];
    const column = Object.hasOwn(fields, field) ? fields[field] : undefined;
    if (!column) throw new Fault('malformed', 'there is no such field', { field });
    return [[field, column] as const];
  });
}
