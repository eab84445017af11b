import type { SqlValue } from './codec.ts';
import type { ColumnType } from './schema.ts';

/**
 * Rows of `width` values, which stand one after the other, as one parameter: JSON, an array of arrays, octets as base64. Both sides
 * take less time for it than for an array of each column, or for many parameters.
 */
export function toJson(values: readonly SqlValue[], width: number): string {
  const rows: JsonValue[][] = [];
  for (let at = 0; at < values.length; at += width) {
    rows.push(values.slice(at, at + width).map(jsonValue));
  }
  return JSON.stringify(rows);
}

type JsonValue = string | number | boolean | null;

function jsonValue(value: SqlValue): JsonValue {
  // PostgreSQL's JSON has no lone surrogates, nor has UTF-8.
  if (typeof value === 'string') return value.toWellFormed();
  return typeof value === 'object' && value !== null ? value.toBase64() : value;
}

/** SQL: the value at `index` of `row`, which is one of those of `toJson`, as `jsonb`. */
export function valueIn(row: string, index: number, type: ColumnType): string {
  const text = `${row}->>${index}`;
  if (type === 'bytes') return `decode(${text}, 'base64')`;
  return type === 'integer' ? `(${text})::bigint` : type === 'boolean' ? `(${text})::boolean` : `(${text})`;
}
