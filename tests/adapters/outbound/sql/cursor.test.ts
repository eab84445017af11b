import { describe, expect, test } from 'bun:test';
import { decodeCursor, encodeCursor } from '#adapters/outbound/sql/cursor.ts';
import type { ColumnType } from '#adapters/outbound/sql/schema.ts';

const orderOf = (type: ColumnType) => ({
  field: 'field',
  column: { type, nullable: false },
  descending: false,
});
const types: readonly ColumnType[] = ['integer', 'text', 'boolean', 'bytes', 'bytesList', 'json', 'actor'];
const refused = expect.objectContaining({ code: 'malformed', field: 'cursor' });

describe.each(types)('a cursor of a list that is ordered by a column of type %s', (type) => {
  // No list is ordered by a column of octets, or of several values; a client may nevertheless write such a cursor.
  test.each(
    [null, 'text', 7, true, ['AA=='], { kind: 'user' }]
      .filter((value) => !fits(type, value))
      .map((value) => [value] as const),
  )('is refused with the value %j', (value) => {
    const cursor = encodeCursor(orderOf(type), { value: value as string, id: 1 });
    expect(() => decodeCursor(orderOf(type), cursor)).toThrow(refused);
  });
});

function fits(type: ColumnType, value: unknown): boolean {
  if (type === 'json') return true;
  if (type === 'actor') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return (
    typeof value === { integer: 'number', text: 'string', boolean: 'boolean', bytes: '', bytesList: '' }[type]
  );
}

test('a cursor that was made for the list gives its position', () => {
  const position = { value: 'pump-1', id: 7 };
  expect(decodeCursor(orderOf('text'), encodeCursor(orderOf('text'), position))).toEqual(position);
});
