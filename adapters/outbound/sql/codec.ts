import { DamagedRecord, Fault } from '#core/fault.ts';
import type { DeviceLogin, Kind, Records } from '#core/ports/store.ts';
import type { Actor } from '#core/records/audit-event.ts';
import { type Column, type ColumnType, columnOf, tableOf } from './schema.ts';

/** The types that both drivers accept as parameters. */
export type SqlValue = number | string | boolean | Uint8Array | null;

/** A row by the column names of the statement. */
export type Row = Record<string, unknown>;

/**
 * Encodes a value for its column. Faults: malformed with `field` for a value that the column type cannot hold in any of
 * the databases (PostgreSQL text has no U+0000, and integers have 64 bits).
 */
export function encode(column: Column, field: string, value: unknown): SqlValue {
  if (value === null && column.nullable) return null;
  switch (column.type) {
    case 'integer':
      if (Number.isSafeInteger(value)) return value as number;
      break;
    case 'text':
      if (typeof value === 'string' && !value.includes('\0')) return value;
      break;
    case 'boolean':
      if (typeof value === 'boolean') return value;
      break;
    case 'bytes':
      if (value instanceof Uint8Array) return value;
      break;
    case 'bytesList':
      if (isBytesList(value)) return JSON.stringify(value.map(toBase64));
      break;
    case 'actor':
      if (isActor(value)) return JSON.stringify([value.kind, value.id, value.name, value.address]);
      break;
    case 'json': {
      const text: string | undefined = JSON.stringify(value);
      if (text !== undefined) return text;
    }
  }
  throw new Fault('malformed', 'this value cannot be stored', { field });
}

const isBytesList = (value: unknown): value is readonly Uint8Array[] =>
  Array.isArray(value) && value.every((one) => one instanceof Uint8Array);

/** The compiler has checked the members. Values from cursors are unchecked, but never objects. */
const isActor = (value: unknown): value is Actor =>
  typeof value === 'object' && value !== null && 'kind' in value;

const toBase64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');

type Decoder = (stored: unknown) => unknown;

const json: Decoder = (stored) => JSON.parse(stored as string);

const decoders: { readonly [T in ColumnType]?: Decoder } = {
  // SQLite has no booleans, only 0 and 1.
  boolean: (stored) => stored === true || stored === 1,
  bytesList: (stored) =>
    (JSON.parse(stored as string) as string[]).map((base64) => Uint8Array.fromBase64(base64)),
  json,
  actor: (stored) => {
    const [kind, id, name, address] = JSON.parse(stored as string);
    return { kind, id, name, address } satisfies Actor;
  },
};

/** The fields of each kind that have to be decoded. */
const toDecode = new Map<Kind, readonly (readonly [string, Decoder])[]>();

function decodersOf(kind: Kind): readonly (readonly [string, Decoder])[] {
  const known = toDecode.get(kind);
  if (known) return known;
  const found = Object.entries(tableOf(kind).fields).flatMap(([field, { type }]) => {
    const decoder = decoders[type];
    return decoder ? [[field, decoder] as const] : [];
  });
  toDecode.set(kind, found);
  return found;
}

/**
 * Decodes a stored value. Faults: internal if it is damaged or was not selected. The log gets the record's kind and id,
 * but not the value, which a JSON error message would quote.
 */
function decoded(decoder: Decoder, stored: unknown, field: string, kind: Kind, id: unknown): unknown {
  try {
    if (stored !== undefined) return decoder(stored);
  } catch {}
  const what = stored === undefined ? 'was not read' : 'in the store is damaged';
  const message = `${field} of ${kind} ${id} ${what}`;
  const cause = stored === undefined ? new Error(message) : new DamagedRecord(kind, Number(id), message);
  throw new Fault('internal', 'internal error', { cause });
}

/**
 * Decodes the protocols in the onboarding or no-onboarding configuration of a device. Faults: internal if they are
 * damaged.
 */
export const decodeProtocols = (stored: unknown, device: unknown): DeviceLogin['protocols'] =>
  stored === null ? null : (decoded(json, stored, 'protocols', 'device', device) as DeviceLogin['protocols']);

/**
 * Converts a row, which has all fields of its kind except those of `without`, to a record in place. Faults: internal if
 * a field is damaged, or missing although it has to be decoded.
 */
export function toRecord<K extends Kind>(kind: K, row: Row, without?: readonly string[]): Records[K] {
  for (const [field, decoder] of decodersOf(kind)) {
    const stored = row[field];
    if (stored === null || without?.includes(field)) continue;
    row[field] = decoded(decoder, stored, field, kind, row.id);
  }
  return row as unknown as Records[K];
}

/** Decodes a single field of a row. Faults: internal if it is damaged. */
export function toField(kind: Kind, row: Row, field: string): unknown {
  const [, decoder] = decodersOf(kind).find(([name]) => name === field) ?? [];
  const stored = row[field];
  return decoder && stored !== null ? decoded(decoder, stored, field, kind, row.id) : stored;
}

/** Encodes a value to compare a field with; returns undefined if no record can have it. */
export function encodeSought(kind: Kind, field: string, value: unknown): SqlValue | undefined {
  const column = columnOf(kind, field);
  if (!column) throw new Fault('malformed', 'there is no such field', { field });
  if (value === null) return null;
  try {
    return encode(column, field, value);
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}
