import type { Builder, Dialect } from '../queries.ts';
import { createTable, dataTypes } from './columns.ts';

/** Adds DevID registrations, and the manufacturer certificate with which a device was onboarded. */
export async function onboarding(builder: Builder, dialect: Dialect): Promise<void> {
  const { integer, text, bytes } = dataTypes[dialect];
  await createTable(builder, dialect, 'devid_registrations', { neverReused: true })
    .addColumn('created_at', integer, (c) => c.notNull())
    .addColumn('unique_name', text, (c) => c.notNull())
    .addColumn('truststore', integer, (c) => c.notNull().references('truststores.id'))
    .addColumn('domain', integer, (c) => c.notNull().references('domains.id'))
    .addColumn('serial_number_pattern', text, (c) => c.notNull())
    .addUniqueConstraint('devid_registrations_unique_name_key', ['unique_name'])
    .execute();
  await builder.schema.alterTable('onboarding_configs').addColumn('idevid_key', text).execute();
  await builder.schema.alterTable('onboarding_configs').addColumn('idevid', bytes).execute();
  await builder.schema
    .createIndex('onboarding_configs_idevid_key_key')
    .on('onboarding_configs')
    .column('idevid_key')
    .unique()
    .execute();
}
