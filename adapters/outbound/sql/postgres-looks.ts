import type { Row, SqlValue } from './codec.ts';
import { toJson, valueIn } from './postgres-rows.ts';
import type { ColumnType } from './schema.ts';

/** The same statement for many sets of parameters. */
interface Together {
  readonly sql: string;
  readonly parameters: readonly string[];
}

const nth = 'nth look';

/**
 * `sql` once for each set of parameters, in one statement, whose text does not depend on how many there are. Each row says
 * which set it is for: `apart` sorts them.
 */
export function together(sql: string, sets: readonly (readonly SqlValue[])[]): Together {
  const types = sets[0]!.map(typeOf);
  const each = sql.replace(/\$(\d+)/g, (_, n) => valueIn('one.set', Number(n) - 1, types[Number(n) - 1]!));
  // The offset keeps the planner from anything but looking up one after the other.
  return {
    sql: `select found.*, one.nth as "${nth}" from jsonb_array_elements($1::text::jsonb) with ordinality as one (set, nth) cross join lateral (${each} offset 0) as found`,
    parameters: [toJson(sets.flat(), types.length)],
  };
}

function typeOf(value: SqlValue): ColumnType {
  if (value instanceof Uint8Array) return 'bytes';
  return typeof value === 'number' ? 'integer' : typeof value === 'boolean' ? 'boolean' : 'text';
}

/** The rows of each of `count` sets. */
export function apart(rows: readonly Row[], count: number): readonly Row[][] {
  const answers = Array.from({ length: count }, (): Row[] => []);
  for (const row of rows) {
    const set = Number(row[nth]);
    // It came last, so this leaves the row as it would have been; a copy of it takes much longer.
    delete row[nth];
    answers[set - 1]!.push(row);
  }
  return answers;
}
