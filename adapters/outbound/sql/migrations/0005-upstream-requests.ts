import type { Builder, Dialect } from '../queries.ts';
import { createIndex, createTable, dataTypes } from './columns.ts';

export async function upstreamRequests(builder: Builder, dialect: Dialect): Promise<void> {
  const { integer, text, bytes } = dataTypes[dialect];
  await createTable(builder, dialect, 'upstream_requests', { neverReused: true })
    .addColumn('created_at', integer, (c) => c.notNull())
    .addColumn('issuer', text, (c) => c.notNull())
    .addColumn('state', text, (c) => c.notNull())
    .addColumn('answers_for', text)
    .addColumn('operation', text, (c) => c.notNull())
    .addColumn('ca', integer)
    .addColumn('subject', text, (c) => c.notNull())
    .addColumn('wanted', bytes, (c) => c.notNull())
    .addColumn('request_kind', text, (c) => c.notNull())
    .addColumn('request', bytes, (c) => c.notNull())
    .addColumn('renews', bytes)
    .addColumn('device', integer)
    .addColumn('domain', integer)
    .addColumn('profile', integer)
    .addColumn('profile_name', text, (c) => c.notNull())
    .addColumn('protocol', text, (c) => c.notNull())
    .addColumn('actor', text, (c) => c.notNull())
    .addColumn('inventory_name', text)
    .addColumn('purpose', text)
    .addColumn('handle', text)
    .addColumn('attempts', integer, (c) => c.notNull())
    .addColumn('next_at', integer, (c) => c.notNull())
    .addColumn('expires_at', integer, (c) => c.notNull())
    .addColumn('reason', text)
    .addColumn('code', text)
    .addColumn('refused', bytes)
    .addColumn('certificate', integer, (c) => c.references('certificates.id'))
    .addUniqueConstraint('upstream_requests_answers_for_key', ['answers_for'])
    .execute();
  await createIndex(builder, dialect, 'upstream_requests', 'state', 'next_at');
  await createIndex(builder, dialect, 'upstream_requests', 'state', 'expires_at');
  await createIndex(builder, dialect, 'upstream_requests', 'device');
  await createIndex(builder, dialect, 'upstream_requests', 'certificate');
}
