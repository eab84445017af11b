import { Fault } from '#core/fault.ts';
import { encode, type SqlValue } from './codec.ts';
import type { Column } from './schema.ts';

/** The order of a list: by a field, then by id in the same direction. */
export interface Order {
  readonly field: string;
  readonly column: Column;
  readonly descending: boolean;
  /** The values of an integer field in their sort order; undefined: numeric order. */
  readonly values?: readonly number[];
}

/** The last record of a page. */
export interface Position {
  readonly value: SqlValue;
  readonly id: number;
}

// A field's value may be as long as a subject of a certificate can be.
const longest = 16_384;

export function encodeCursor({ field, descending }: Order, { value, id }: Position): string {
  return Buffer.from(JSON.stringify([field, descending, value, id]), 'utf8').toString('base64url');
}

/** Decodes a cursor of this order. Faults: malformed with field `cursor` for any other text. */
export function decodeCursor({ field, column, descending }: Order, cursor: string): Position {
  try {
    if (cursor.length > longest || !/^[\w-]+$/.test(cursor)) throw new SyntaxError('not base64url');
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (Array.isArray(parts) && parts.length === 4 && parts[0] === field && parts[1] === descending) {
      const [, , value, id] = parts;
      const position = { value: encode(column, field, value), id: id as number };
      if (Number.isSafeInteger(id)) return position;
    }
  } catch (cause) {
    if (!(cause instanceof SyntaxError || cause instanceof Fault)) throw cause;
  }
  throw new Fault('malformed', 'the cursor does not belong to this list', { field: 'cursor' });
}
