import type { Builder, Dialect } from '../queries.ts';
import { createIndex, createTable, dataTypes } from './columns.ts';

/** What ends the sessions of a user, who has to choose a password, and from where accounts have signed in. */
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
