import type { Builder, Dialect } from '../queries.ts';
import { dataTypes } from './columns.ts';

/** Messages of devices that are passed on to an upstream CA as they are, and who passed them on to here. */
export async function nestedMessages(builder: Builder, dialect: Dialect): Promise<void> {
  const { integer, bytes } = dataTypes[dialect];
  await builder.schema.alterTable('upstream_requests').addColumn('message', bytes).execute();
  await builder.schema.alterTable('transactions').addColumn('relay', integer).execute();
}
