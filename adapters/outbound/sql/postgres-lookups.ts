import type { Row, SqlValue } from './codec.ts';
import { toJson, valueIn } from './postgres-rows.ts';
import type { ColumnType } from './schema.ts';

/** The same statement for many sets of parameters. */
interface Batch {
  readonly sql: string;
  readonly parameters: readonly string[];
}

const nth = 'nth look';

/**
 * Builds one statement that runs `sql` for each set of parameters. Its text does not depend on the number of sets. Each row
 * contains the number of its set, by which `rowsBySet` groups the rows.
 */
export function batchedLookup(sql: string, sets: readonly (readonly SqlValue[])[]): Batch {
  const types = sets[0]!.map(typeOf);
  const each = sql.replace(/\$(\d+)/g, (_, n) => valueIn('one.set', Number(n) - 1, types[Number(n) - 1]!));
  // `offset 0` keeps the planner from joining: it runs one look-up after the other.
  return {
    sql: `select found.*, one.nth as "${nth}" from jsonb_array_elements($1::text::jsonb) with ordinality as one (set, nth) cross join lateral (${each} offset 0) as found`,
    parameters: [toJson(sets.flat(), types.length)],
  };
}

function typeOf(value: SqlValue): ColumnType {
  if (value instanceof Uint8Array) return 'bytes';
  return typeof value === 'number' ? 'integer' : typeof value === 'boolean' ? 'boolean' : 'text';
}

/** Groups the rows by their set; `count` is the number of sets. */
export function rowsBySet(rows: readonly Row[], count: number): readonly Row[][] {
  const answers = Array.from({ length: count }, (): Row[] => []);
  for (const row of rows) {
    const set = Number(row[nth]);
    // The number is the last property, so deleting it keeps the object fast; copying the row takes much longer.
    delete row[nth];
    answers[set - 1]!.push(row);
  }
  return answers;
}
