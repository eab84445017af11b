import type { Builder, Dialect } from '../queries.ts';
import { createIndex, dataTypes } from './columns.ts';

/**
 * What the deletion of a CA, a profile or a certificate looks up is found in an index. CAs and profiles are few, so that a new
 * certificate is added at one of a few places: about 1 µs.
 */
export async function foreignKeyIndexes(builder: Builder, dialect: Dialect): Promise<void> {
  await createIndex(builder, dialect, 'certificates', 'ca');
  await createIndex(builder, dialect, 'certificates', 'profile');
  for (const table of ['transactions', 'approvals']) {
    await builder.schema
      .createIndex(`${table}_certificate_index`)
      .on(table)
      .columns(['certificate'])
      .where('certificate', 'is not', null)
      .execute();
  }
  // What lists of these tables are ordered by.
  await createIndex(builder, dialect, 'onboarding_configs', 'created_at');
  await createIndex(builder, dialect, 'no_onboarding_configs', 'created_at');
}

/** Adds the request that caused an audit event. No index: only accounts search for it, in readers of their own. */
export async function requestIds(builder: Builder, dialect: Dialect): Promise<void> {
  const { text } = dataTypes[dialect];
  await builder.schema.alterTable('audit_events').addColumn('request_id', text).execute();
}
