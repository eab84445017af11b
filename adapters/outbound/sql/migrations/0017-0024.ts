import { sql } from 'kysely';
import type { Builder, Dialect } from '../queries.ts';
import { createIndex, createTable, dataTypes } from './columns.ts';

/** Adds the time until which a transaction is kept, so that its repeated opening message is not taken for a new one. */
export async function replays(builder: Builder, dialect: Dialect): Promise<void> {
  const { integer } = dataTypes[dialect];
  await builder.schema.alterTable('transactions').addColumn('replayable_until', integer).execute();
}

/**
 * Adds the remaining indexes for orders of large tables. Certificates have no index by common name, because it would
 * make issuance 5 % slower.
 */
export async function orderedLists(builder: Builder, dialect: Dialect): Promise<void> {
  await createIndex(builder, dialect, 'devices', 'device_type');
  await createIndex(builder, dialect, 'signed_messages', 'signer_name');
  await createIndex(builder, dialect, 'signed_messages', 'hash_value');
  if (dialect === 'sqlite') return;
  // Lists sort NULL first, like SQLite. PostgreSQL sorts it last by default.
  await builder.schema.dropIndex('devices_domain_index').execute();
  await sql`create index devices_domain_index on devices (domain asc nulls first, id)`.execute(builder);
}

/** Adds the session generation of users, the requirement to choose a password, and the known addresses of accounts. */
export async function accounts(builder: Builder, dialect: Dialect): Promise<void> {
  const { integer, text, boolean } = dataTypes[dialect];
  await builder.schema
    .alterTable('users')
    .addColumn('generation', integer, (c) => c.notNull().defaultTo(0))
    .execute();
  await builder.schema
    .alterTable('users')
    .addColumn('must_change_password', boolean, (c) => c.notNull().defaultTo(false))
    .execute();
  await builder.schema
    .alterTable('sessions')
    .addColumn('user_generation', integer, (c) => c.notNull().defaultTo(0))
    .execute();
  await createTable(builder, dialect, 'known_addresses', { neverReused: false })
    .addColumn('realm', text, (c) => c.notNull())
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('address', text, (c) => c.notNull())
    .addColumn('at', integer, (c) => c.notNull())
    .addUniqueConstraint('known_addresses_realm_name_address_key', ['realm', 'name', 'address'])
    .execute();
  await createIndex(builder, dialect, 'known_addresses', 'realm', 'address', 'at');
  await createIndex(builder, dialect, 'known_addresses', 'at');
}

/**
 * Adds an index to find whether a truststore is in use without reading every configuration. Few devices have their own
 * truststore.
 */
export async function truststoreIndex(builder: Builder, dialect: Dialect): Promise<void> {
  await builder.schema
    .createIndex('onboarding_configs_idevid_truststore_index')
    .on('onboarding_configs')
    .columns(dialect === 'postgres' ? ['idevid_truststore', 'id'] : ['idevid_truststore'])
    .where('idevid_truststore', 'is not', null)
    .execute();
}

/** Adds the accounts that know the secrets of a device. For earlier secrets they are unknown. */
export async function custodians(builder: Builder, dialect: Dialect): Promise<void> {
  const { text } = dataTypes[dialect];
  for (const table of ['devices', 'onboarding_configs', 'no_onboarding_configs']) {
    await builder.schema
      .alterTable(table)
      .addColumn('custodians', text, (c) => c.notNull().defaultTo('[]'))
      .execute();
  }
}
