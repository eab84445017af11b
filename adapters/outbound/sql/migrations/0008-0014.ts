import { sql } from 'kysely';
import type { Builder, Dialect } from '../queries.ts';
import { createIndex, createTable, dataTypes } from './columns.ts';

/** Adds device messages that are relayed unchanged to an upstream CA, and the RA from which they were received. */
export async function nestedMessages(builder: Builder, dialect: Dialect): Promise<void> {
  const { integer, bytes } = dataTypes[dialect];
  await builder.schema.alterTable('upstream_requests').addColumn('message', bytes).execute();
  await builder.schema.alterTable('transactions').addColumn('relay', integer).execute();
}

/** Adds the certificate that a device gets again if it lost the response to its onboarding. */
export async function onboardedWith(builder: Builder, dialect: Dialect): Promise<void> {
  const { integer } = dataTypes[dialect];
  await builder.schema.alterTable('onboarding_configs').addColumn('onboarded_with', integer).execute();
}

/** Adds indexes for the orders of lists of large tables. */
export async function listOrders(builder: Builder, dialect: Dialect): Promise<void> {
  const postgres = dialect === 'postgres';
  // The number of characters in `orderedBy` of the column.
  await sql`create index signed_messages_signature_index on signed_messages (substr(signature, 1, 64)${sql.raw(postgres ? ', id' : '')})`.execute(
    builder,
  );
  if (!postgres) return;
  // Lists sort NULL first, like SQLite. PostgreSQL sorts it last by default.
  for (const column of ['onboarding_config', 'no_onboarding_config']) {
    const index = `devices_${column}_index`;
    await builder.schema.dropIndex(index).execute();
    await sql`create index ${sql.ref(index)} on devices (${sql.ref(column)} asc nulls first, id)`.execute(
      builder,
    );
  }
}

/**
 * CRLs that are too long for one row are stored in parts. An instance of an earlier version that is still running serves such a CRL as
 * empty, which no client accepts, until it is replaced.
 */
export async function crlParts(builder: Builder, dialect: Dialect): Promise<void> {
  const { integer, text, bytes } = dataTypes[dialect];
  await builder.schema.alterTable('crls').addColumn('parts', text).execute();
  await createTable(builder, dialect, 'crl_parts', { neverReused: false })
    .addColumn('created_at', integer, (c) => c.notNull())
    .addColumn('ca', integer, (c) => c.notNull().references('issuing_cas.id').onDelete('cascade'))
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('position', integer, (c) => c.notNull())
    .addColumn('octets', bytes, (c) => c.notNull())
    .addUniqueConstraint('crl_parts_name_position_key', ['name', 'position'])
    .execute();
  await createIndex(builder, dialect, 'crl_parts', 'ca');
}
