import type { SqlValue } from './codec.ts';
import { toHex } from './postgres-client.ts';
import type { ColumnType } from './schema.ts';

/** What PostgreSQL calls an array of values of each type. */
export const arrayTypes: { readonly [T in ColumnType]: string } = {
  integer: 'bigint[]',
  text: 'text[]',
  boolean: 'boolean[]',
  bytes: 'bytea[]',
  bytesList: 'text[]',
  json: 'text[]',
  actor: 'text[]',
};

/** One column of the rows as PostgreSQL spells an array. */
export function arrayLiteral(
  type: ColumnType,
  rows: readonly (readonly SqlValue[])[],
  column: number,
): string {
  let text = '';
  for (const row of rows) {
    const value = row[column];
    if (text !== '') text += ',';
    if (value === null || value === undefined) text += 'NULL';
    else if (value instanceof Uint8Array) text += `"\\\\x${toHex(value)}"`;
    else if (typeof value === 'string') text += `"${value.replace(/["\\]/g, '\\$&')}"`;
    else text += type === 'boolean' ? (value === true ? 't' : 'f') : value;
  }
  return `{${text}}`;
}
