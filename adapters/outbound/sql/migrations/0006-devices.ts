import { sql } from 'kysely';
import type { Builder, Dialect } from '../queries.ts';
import { createIndex, createTable, dataTypes } from './columns.ts';

/** Adds blocked devices, the event history of devices, and device imports. */
export async function devices(builder: Builder, dialect: Dialect): Promise<void> {
  const { integer, text, bytes } = dataTypes[dialect];
  for (const column of ['blocked_at', 'device_import']) {
    await builder.schema.alterTable('devices').addColumn(column, integer).execute();
    // Few devices have a value.
    await builder.schema
      .createIndex(`devices_${column}_index`)
      .on('devices')
      .columns(dialect === 'postgres' ? [column, 'id'] : [column])
      .where(column, 'is not', null)
      .execute();
  }
  await createIndex(builder, dialect, 'audit_events', 'object');
  // Successful requests are found by their object. An index entry for them would slow down every enrolment.
  await builder.schema
    .createIndex('audit_events_actor_index')
    .on('audit_events')
    .columns(dialect === 'postgres' ? ['actor', 'id'] : ['actor'])
    .where(sql.ref('outcome'), '<>', sql.lit('success'))
    .execute();

  await createTable(builder, dialect, 'device_imports', { neverReused: true })
    .addColumn('created_at', integer, (c) => c.notNull())
    .addColumn('file_name', text, (c) => c.notNull())
    .addColumn('actor', text, (c) => c.notNull())
    .addColumn('state', text, (c) => c.notNull())
    .addColumn('total', integer, (c) => c.notNull())
    .addColumn('done', integer, (c) => c.notNull())
    .addColumn('created', integer, (c) => c.notNull())
    .addColumn('refused', integer, (c) => c.notNull())
    .addColumn('part', integer, (c) => c.notNull())
    .addColumn('finished_at', integer)
    .addColumn('reason', text)
    .execute();

  await createTable(builder, dialect, 'device_import_parts', { neverReused: false })
    .addColumn('device_import', integer, (c) =>
      c.notNull().references('device_imports.id').onDelete('cascade'),
    )
    .addColumn('number', integer, (c) => c.notNull())
    .addColumn('rows', bytes)
    .addColumn('refusals', text, (c) => c.notNull())
    .addUniqueConstraint('device_import_parts_device_import_number_key', ['device_import', 'number'])
    .execute();
}
