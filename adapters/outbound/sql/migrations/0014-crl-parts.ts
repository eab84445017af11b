import type { Builder, Dialect } from '../queries.ts';
import { createIndex, createTable, dataTypes } from './columns.ts';

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
