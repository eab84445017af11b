import type { Builder, Dialect } from '../queries.ts';
import { dataTypes } from './columns.ts';

/** Until when a transaction has to be remembered so that its opening message is not taken for a new one. */
export async function replays(builder: Builder, dialect: Dialect): Promise<void> {
  const { integer } = dataTypes[dialect];
  await builder.schema.alterTable('transactions').addColumn('replayable_until', integer).execute();
}
