import { sql } from 'kysely';
import type { Builder, Dialect } from '../queries.ts';

/** What lists of large tables are ordered by. */
export async function listOrders(builder: Builder, dialect: Dialect): Promise<void> {
  const postgres = dialect === 'postgres';
  // As many characters as `orderedBy` of the column says.
  await sql`create index signed_messages_signature_index on signed_messages (substr(signature, 1, 64)${sql.raw(postgres ? ', id' : '')})`.execute(
    builder,
  );
  if (!postgres) return;
  // Lists have NULL first, as SQLite does; an index of PostgreSQL has it last unless it is told.
  for (const column of ['onboarding_config', 'no_onboarding_config']) {
    const index = `devices_${column}_index`;
    await builder.schema.dropIndex(index).execute();
    await sql`create index ${sql.ref(index)} on devices (${sql.ref(column)} asc nulls first, id)`.execute(
      builder,
    );
  }
}
