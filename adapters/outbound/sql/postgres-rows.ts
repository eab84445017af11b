import type { SqlValue } from './codec.ts';
import type { ColumnType } from './schema.ts';

type Row = readonly SqlValue[];

/**
 * Any number of rows as one parameter: JSON, an array of arrays, octets as base64. Both sides take less time for it than for an
 * array of each column, or for many parameters.
 */
export const toJson = (rows: readonly Row[]): string => JSON.stringify(rows.map((row) => row.map(jsonValue)));

function jsonValue(value: SqlValue): string | number | boolean | null {
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
