import { type AliasedRawBuilder, type Selectable, sql } from 'kysely';
import type { DeviceSecret, Kind } from '#core/ports/store.ts';
import { encodeSought, type SqlValue } from './codec.ts';
import { valueIn } from './postgres-rows.ts';
import type { Builder, Dialect, Tables } from './queries.ts';
import { columnName, columnsOf, tableOf } from './schema.ts';

/** The conditions for a record and their form in a statement. */
export interface Sought {
  /** Conditions with the same shape use the same statement. */
  readonly shape: string;
  readonly fields: readonly { readonly name: string; readonly isNull: boolean }[];
  readonly parameters: readonly SqlValue[];
}

/** Returns undefined for a value that no record can have. */
export function sought(kind: Kind, where: object): Sought | undefined {
  let shape = '';
  const fields: { name: string; isNull: boolean }[] = [];
  const parameters: SqlValue[] = [];
  for (const [name, wanted] of Object.entries(where)) {
    if (wanted === undefined) return undefined;
    const value = encodeSought(kind, name, wanted);
    if (value === undefined) return undefined;
    const isNull = value === null;
    fields.push({ name, isNull });
    if (!isNull) parameters.push(value);
    shape += isNull ? ` ${name}!` : ` ${name}`;
  }
  return { shape, fields, parameters };
}

/** Selects `id` and the fields of a kind, without some, by their own names, from the table or its alias `of`. */
export const selection = (
  kind: Kind,
  of = tableOf(kind).name,
  without: readonly string[] = [],
): AliasedRawBuilder<unknown, string>[] =>
  ['id', ...Object.keys(tableOf(kind).fields)]
    .filter((field) => !without.includes(field))
    .map((field) => sql`${sql.ref(`${of}.${columnName(field)}`)}`.as(field));

// A placeholder for a parameter.
const parameter = 0;
// Shapes come from the code that calls the store, not from its callers' input, so they are few. The bound is a precaution.
const mostShapes = 1000;

/** The SQL text of frequent statements, compiled once for each shape. */
export class Statements {
  readonly #builder: Builder;
  readonly #dialect: Dialect;
  readonly #texts = new Map<string, string>();

  constructor(builder: Builder, dialect: Dialect) {
    this.#builder = builder;
    this.#dialect = dialect;
  }

  #compiled(key: string, build: (builder: Builder) => { compile(): { readonly sql: string } }): string {
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    if (this.#texts.size >= mostShapes) this.#texts.clear();
    const text = build(this.#builder).compile().sql;
    this.#texts.set(key, text);
    return text;
  }

  /** Finds the matching record with the lowest id. Parameters: those of `where`. */
  find(kind: Kind, where: Sought): string {
    return this.#compiled(`find ${kind}${where.shape}`, (builder) =>
      this.#where(builder.selectFrom(tableOf(kind).name).select(selection(kind)), where)
        .orderBy('id')
        .limit(sql.lit(1)),
    );
  }

  /** Inserts `count` rows. Parameters: for each row the id if `withId`, then the fields in order. */
  insert(kind: Kind, count: number, withId: boolean): string {
    return this.#compiled(`insert ${kind} ${count} ${withId}`, (builder) => {
      const fields = columnsOf(kind).map(([field]) => field);
      const row = fromFields(withId ? ['id', ...fields] : fields);
      return builder.insertInto(tableOf(kind).name).values(new Array(count).fill(row));
    });
  }

  /**
   * Inserts rows on PostgreSQL. Parameter: `toJson` of rows with the id (not for audit events), then the fields in
   * order.
   */
  insertRows(kind: Kind): string {
    return this.#compiled(`insertRows ${kind}`, (builder) => rowsInto(builder, kind));
  }

  /**
   * Inserts rows of several kinds in one statement on PostgreSQL. Parameters: that of `insertRows` for each of `kinds`.
   * If audit events are included, they are last and followed by the parameters of `auditHead`.
   */
  addition(kinds: readonly Kind[]): string {
    return this.#compiled(`addition ${kinds.join(' ')}`, (builder) => {
      const inserts = kinds.map((kind) => rowsInto(builder, kind));
      const parts = kinds.includes('auditEvent') ? [...inserts, headInto(builder)] : inserts;
      const others = parts.slice(0, -1).map((part, n) => sql`${sql.raw(`part${n}`)} as (${part})`);
      const all = sql`${others.length > 0 ? sql`with ${sql.join(others)} ` : sql``}${parts.at(-1)!}`;
      return { compile: () => all.compile(builder) };
    });
  }

  /** Parameters: the new values in order of `set`, the id, those of `where`. */
  update(kind: Kind, set: readonly string[], where: Sought): string {
    return this.#compiled(`update ${kind} ${set.join(' ')} if${where.shape}`, (builder) => {
      // An update without changes still requires that the record exists and meets the conditions.
      const changes = set.length === 0 ? { id: sql.ref('id') } : fromFields(set);
      return this.#where(
        builder.updateTable(tableOf(kind).name).set(changes).where('id', '=', parameter),
        where,
      );
    });
  }

  /**
   * Checks that a record exists and meets the conditions until the transaction ends: PostgreSQL locks it, SQLite has
   * one writer. Parameters: the id, those of `where`.
   */
  requirement(kind: Kind, where: Sought): string {
    return this.#compiled(`require ${kind}${where.shape}`, (builder) => {
      const found = builder
        .selectFrom(tableOf(kind).name)
        .select(sql.lit(1).as('one'))
        .where('id', '=', parameter);
      return this.#where(this.#dialect === 'postgres' ? found.forShare() : found, where);
    });
  }

  /** Parameters: the id, those of `where`. */
  delete(kind: Kind, where: Sought): string {
    return this.#compiled(`delete ${kind}${where.shape}`, (builder) =>
      this.#where(builder.deleteFrom(tableOf(kind).name).where('id', '=', parameter), where),
    );
  }

  /** Parameters: a common name, and for `orId` also an id. Columns: those of a device, `protocols` and `secret`. */
  deviceLogin(secret: DeviceSecret, orId: boolean): string {
    return this.#compiled(`deviceLogin ${secret} ${orId}`, (builder) => {
      const configured = (field: string) =>
        sql`case when o.id is null then ${sql.ref(`n.${columnName(field)}`)} else ${sql.ref(`o.${columnName(field)}`)} end`;
      const joined = builder
        .selectFrom('devices as d')
        .leftJoin('onboarding_configs as o', 'o.id', 'd.onboarding_config')
        .leftJoin('no_onboarding_configs as n', 'n.id', 'd.no_onboarding_config')
        .select([
          ...selection('device', 'd'),
          configured('protocols').as('protocols'),
          configured(secret).as('secret'),
        ]);
      // Not `d.common_name = ?`: SQLite would plan the join again for each value, which takes longer than running it.
      const named = builder.selectFrom('devices').select('id').where('common_name', '=', parameter);
      return joined.where('d.id', '=', orId ? sql`coalesce(${named}, ${parameter})` : named);
    });
  }

  /** Selects in order of id. Parameters: status, CA, the previous id, the earliest notAfter. */
  revokedAfter(most: number): string {
    return this.#compiled('revokedAfter', (builder) =>
      builder
        .selectFrom('certificates')
        .select([
          'id',
          'serial_number as serialNumber',
          'revoked_at as revokedAt',
          'revocation_reason as revocationReason',
          'invalidity_date as invalidityDate',
        ])
        .where('status', '=', parameter)
        // The condition of the partial index. With only a parameter, the databases would not use the index.
        .where('status', '<>', sql.lit('good'))
        .where('ca', '=', parameter)
        .where('id', '>', parameter)
        .where('not_valid_after', '>=', parameter)
        .orderBy('id')
        .limit(sql.lit(most)),
    );
  }

  /** Parameters: chain, sequence, hash. */
  auditHead(): string {
    return this.#compiled('auditHead', headInto);
  }

  /** Parameter: chain. */
  auditHeadLocked(): string {
    return this.#compiled('auditHeadLocked', (builder) =>
      builder.selectFrom('audit_heads').select('hash').where('chain', '=', parameter).forUpdate(),
    );
  }

  auditHeadsAfter(): string {
    return this.#compiled('auditHeadsAfter', (builder) =>
      builder
        .selectFrom('audit_heads')
        .select(['chain', 'sequence', 'hash'])
        .where('chain', '>', parameter)
        .orderBy('chain')
        .limit(sql.lit(1000)),
    );
  }

  raiseCounter(): string {
    return this.#compiled('raiseCounter', (builder) =>
      builder.updateTable('change_counter').set({ value: sql`value + 1` }),
    );
  }

  /**
   * Selects values that only grow: the change counter, the newest audit event, and the last event of a chain
   * (parameter).
   */
  sighting(): string {
    return this.#compiled('sighting', (builder) =>
      builder
        .selectFrom('change_counter')
        .select('value as counter')
        .select((of) => [
          of
            .selectFrom('audit_events')
            .select((events) => events.fn.max('id').as('id'))
            .as('event'),
          of.selectFrom('audit_heads').select('sequence').where('chain', '=', parameter).as('sequence'),
        ]),
    );
  }

  /** Changes a row that nothing depends on. Parameters: any text, now. */
  heartbeat(): string {
    return this.#compiled('heartbeat', (builder) =>
      builder
        .insertInto('leases')
        .values({ name: sql.lit('heartbeat'), holder: parameter, expires_at: parameter })
        .onConflict((conflict) =>
          conflict.column('name').doUpdateSet({
            holder: sql.ref('excluded.holder'),
            expires_at: sql.ref('excluded.expires_at'),
          }),
        ),
    );
  }

  /**
   * Takes or extends a lease and returns a row if the holder has it. Parameters: name, holder, expiry, now, and the
   * latest plausible expiry of another holder: a later one is left from before a clock was corrected.
   */
  lease(): string {
    return this.#compiled('lease', (builder) =>
      builder
        .insertInto('leases')
        .values({ name: parameter, holder: parameter, expires_at: parameter })
        .onConflict((conflict) =>
          conflict
            .column('name')
            .doUpdateSet({
              holder: sql.ref('excluded.holder'),
              expires_at: sql.ref('excluded.expires_at'),
            })
            .where((is) =>
              is.or([
                is(sql.ref('leases.holder'), '=', sql.ref('excluded.holder')),
                is(sql.ref('leases.expires_at'), '<=', parameter),
                is(sql.ref('leases.expires_at'), '>', parameter),
              ]),
            ),
        )
        .returning('holder'),
    );
  }

  #where<Q extends { where(column: string, operator: '=' | 'is', value: unknown): Q }>(
    query: Q,
    where: Sought,
  ): Q {
    let built = query;
    for (const { name, isNull } of where.fields) {
      built = isNull
        ? built.where(columnName(name), 'is', null)
        : built.where(columnName(name), '=', parameter);
    }
    return built;
  }
}

const fromFields = (fields: readonly string[]): Selectable<Tables[string]> =>
  Object.fromEntries(fields.map((field) => [columnName(field), parameter]));

function rowsInto(builder: Builder, kind: Kind) {
  const fields = columnsOf(kind).map(([field, { type }]) => [columnName(field), type] as const);
  const columns = kind !== 'auditEvent' ? [['id', 'integer'] as const, ...fields] : fields;
  const values = columns.map(([, type], n) => sql.raw(valueIn('record', n, type)));
  return builder
    .insertInto(tableOf(kind).name)
    .columns(columns.map(([name]) => name))
    .expression(
      sql`select ${sql.join(values)} from jsonb_array_elements(${parameter}::text::jsonb) as records (record)`,
    );
}

const headInto = (builder: Builder) =>
  builder
    .insertInto('audit_heads')
    .values({ chain: parameter, sequence: parameter, hash: parameter })
    .onConflict((conflict) =>
      conflict.column('chain').doUpdateSet({
        sequence: sql.ref('excluded.sequence'),
        hash: sql.ref('excluded.hash'),
      }),
    );
