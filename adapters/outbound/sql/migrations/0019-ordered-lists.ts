import { sql } from 'kysely';
import type { Builder, Dialect } from '../queries.ts';
import { createIndex } from './columns.ts';

/**
 * The rest of what lists of large tables are ordered by. Certificates have no index by common name: it would make issuing one 5 %
 * dearer.
 */
export async function orderedLists(builder: Builder, dialect: Dialect): Promise<void> {
  await createIndex(builder, dialect, 'devices', 'device_type');
  await createIndex(builder, dialect, 'signed_messages', 'signer_name');
  await createIndex(builder, dialect, 'signed_messages', 'hash_value');
  if (dialect === 'sqlite') return;
  // Lists have NULL first, as SQLite does; an index of PostgreSQL has it last unless it is told.
  await builder.schema.dropIndex('devices_domain_index').execute();
  await sql`create index devices_domain_index on devices (domain asc nulls first, id)`.execute(builder);
}
