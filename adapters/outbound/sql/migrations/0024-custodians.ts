import type { Builder, Dialect } from '../queries.ts';
import { dataTypes } from './columns.ts';

/** The accounts that know the secrets of a device. Who knows those from before this migration, nobody can tell. */
export async function custodians(builder: Builder, dialect: Dialect): Promise<void> {
  const { text } = dataTypes[dialect];
  for (const table of ['devices', 'onboarding_configs', 'no_onboarding_configs']) {
    await builder.schema
      .alterTable(table)
      .addColumn('custodians', text, (c) => c.notNull().defaultTo('[]'))
      .execute();
  }
}
