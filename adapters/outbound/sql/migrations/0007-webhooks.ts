import type { Builder, Dialect } from '../queries.ts';
import { createIndex, createTable, dataTypes } from './columns.ts';

/** Adds webhooks and their pending deliveries. */
export async function webhooks(builder: Builder, dialect: Dialect): Promise<void> {
  const { integer, text, boolean, bytes } = dataTypes[dialect];

  await createTable(builder, dialect, 'webhooks', { neverReused: true })
    .addColumn('created_at', integer, (c) => c.notNull())
    .addColumn('unique_name', text, (c) => c.notNull())
    .addColumn('url', text, (c) => c.notNull())
    .addColumn('events', text, (c) => c.notNull())
    .addColumn('is_active', boolean, (c) => c.notNull())
    .addColumn('truststore', integer, (c) => c.references('truststores.id'))
    .addColumn('handle', text, (c) => c.notNull())
    .addColumn('secret', bytes, (c) => c.notNull())
    .addUniqueConstraint('webhooks_unique_name_key', ['unique_name'])
    .addUniqueConstraint('webhooks_handle_key', ['handle'])
    .execute();

  await createTable(builder, dialect, 'webhook_deliveries', { neverReused: true })
    .addColumn('created_at', integer, (c) => c.notNull())
    .addColumn('webhook', integer, (c) => c.notNull().references('webhooks.id').onDelete('cascade'))
    .addColumn('message', text, (c) => c.notNull())
    .addColumn('event', text, (c) => c.notNull())
    .addColumn('object', integer)
    .addColumn('data', text, (c) => c.notNull())
    .addColumn('state', text, (c) => c.notNull())
    .addColumn('attempts', integer, (c) => c.notNull())
    .addColumn('due_at', integer, (c) => c.notNull())
    .addColumn('delivered_at', integer)
    .addColumn('last_status', integer)
    .addColumn('last_error', text)
    .addUniqueConstraint('webhook_deliveries_message_key', ['message'])
    .execute();
  await createIndex(builder, dialect, 'webhook_deliveries', 'webhook', 'state', 'due_at');
  await createIndex(builder, dialect, 'webhook_deliveries', 'state', 'due_at');
}
