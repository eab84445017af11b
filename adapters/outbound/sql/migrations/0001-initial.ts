import { type CreateTableBuilder, sql } from 'kysely';
import type { Builder, Dialect } from '../queries.ts';
import { createIndex, createTable, dataTypes } from './columns.ts';

export async function initial(builder: Builder, dialect: Dialect): Promise<void> {
  const { integer, text, boolean, bytes } = dataTypes[dialect];
  const kept = (name: string) => createTable(builder, dialect, name, { neverReused: false });
  const table = (name: string) => createTable(builder, dialect, name, { neverReused: true });
  const index = (name: string, ...columns: string[]) => createIndex(builder, dialect, name, ...columns);

  await table('issuing_cas')
    .addColumn('created_at', integer, (c) => c.notNull())
    .addColumn('updated_at', integer, (c) => c.notNull())
    .addColumn('unique_name', text, (c) => c.notNull())
    .addColumn('common_name', text, (c) => c.notNull())
    .addColumn('type', integer, (c) => c.notNull())
    .addColumn('is_active', boolean, (c) => c.notNull())
    .addColumn('certificate', bytes, (c) => c.notNull())
    .addColumn('chain', text, (c) => c.notNull())
    .addColumn('key', text)
    .addColumn('issuer', text)
    .addColumn('crl_number', integer, (c) => c.notNull())
    .addColumn('last_crl_issued_at', integer)
    .addColumn('last_revocation_at', integer)
    .addUniqueConstraint('issuing_cas_unique_name_key', ['unique_name'])
    .execute();

  await table('crls')
    .addColumn('ca', integer, (c) => c.notNull().references('issuing_cas.id').onDelete('cascade'))
    .addColumn('number', integer, (c) => c.notNull())
    .addColumn('this_update', integer, (c) => c.notNull())
    .addColumn('next_update', integer, (c) => c.notNull())
    .addColumn('crl', bytes, (c) => c.notNull())
    .addUniqueConstraint('crls_ca_key', ['ca'])
    .execute();

  await table('profiles')
    .addColumn('created_at', integer, (c) => c.notNull())
    .addColumn('unique_name', text, (c) => c.notNull())
    .addColumn('profile', text, (c) => c.notNull())
    .addUniqueConstraint('profiles_unique_name_key', ['unique_name'])
    .execute();

  await table('domains')
    .addColumn('created_at', integer, (c) => c.notNull())
    .addColumn('unique_name', text, (c) => c.notNull())
    .addColumn('issuing_ca', integer, (c) => c.references('issuing_cas.id'))
    .addColumn('profiles', text, (c) => c.notNull())
    .addUniqueConstraint('domains_unique_name_key', ['unique_name'])
    .execute();

  await table('credentials')
    .addColumn('created_at', integer, (c) => c.notNull())
    .addColumn('updated_at', integer, (c) => c.notNull())
    .addColumn('unique_name', text, (c) => c.notNull())
    .addColumn('type', integer, (c) => c.notNull())
    .addColumn('common_name', text, (c) => c.notNull())
    .addColumn('not_valid_after', integer, (c) => c.notNull())
    .addColumn('signature_suite', text, (c) => c.notNull())
    .addColumn('certificate', bytes, (c) => c.notNull())
    .addColumn('chain', text, (c) => c.notNull())
    .addColumn('key', text, (c) => c.notNull())
    .addColumn('is_active', boolean, (c) => c.notNull())
    .addColumn('issuing_ca', integer, (c) => c.references('issuing_cas.id').onDelete('cascade'))
    .addUniqueConstraint('credentials_unique_name_key', ['unique_name'])
    .execute();

  await table('signed_messages')
    .addColumn('created_at', integer, (c) => c.notNull())
    .addColumn('signer', integer, (c) => c.notNull().references('credentials.id'))
    .addColumn('signer_name', text, (c) => c.notNull())
    .addColumn('hash_value', text, (c) => c.notNull())
    .addColumn('signature', text, (c) => c.notNull())
    .execute();
  await index('signed_messages', 'created_at');
  await index('signed_messages', 'signer');

  await table('truststores')
    .addColumn('created_at', integer, (c) => c.notNull())
    .addColumn('unique_name', text, (c) => c.notNull())
    .addColumn('intended_usage', integer, (c) => c.notNull())
    .addColumn('certificates', text, (c) => c.notNull())
    .addUniqueConstraint('truststores_unique_name_key', ['unique_name'])
    .execute();

  const secrets = <T extends string>(built: CreateTableBuilder<T>) =>
    built
      .addColumn('created_at', integer, (c) => c.notNull())
      .addColumn('protocols', text, (c) => c.notNull())
      .addColumn('est_password', bytes)
      .addColumn('cmp_shared_secret', bytes);
  await secrets(table('no_onboarding_configs')).execute();
  await secrets(table('onboarding_configs'))
    .addColumn('onboarding_status', integer, (c) => c.notNull())
    .addColumn('onboarding_protocol', text)
    .addColumn('idevid_truststore', integer, (c) => c.references('truststores.id'))
    .execute();

  await table('devices')
    .addColumn('created_at', integer, (c) => c.notNull())
    .addColumn('common_name', text, (c) => c.notNull())
    .addColumn('serial_number', text, (c) => c.notNull())
    .addColumn('device_type', integer, (c) => c.notNull())
    .addColumn('domain', integer, (c) => c.references('domains.id'))
    .addColumn('onboarding_config', integer, (c) => c.references('onboarding_configs.id'))
    .addColumn('no_onboarding_config', integer, (c) => c.references('no_onboarding_configs.id'))
    .addUniqueConstraint('devices_common_name_key', ['common_name'])
    .execute();
  await index('devices', 'created_at');
  await index('devices', 'serial_number');
  await index('devices', 'domain');
  await index('devices', 'onboarding_config');
  await index('devices', 'no_onboarding_config');

  // Grows to millions of rows, thousands per second. Serial numbers and times only increase, so writes go to the ends
  // of all indexes except that of devices. An index with random keys (fingerprint, common name) would cost more than
  // the row.
  await kept('certificates')
    .addColumn('created_at', integer, (c) => c.notNull())
    .addColumn('common_name', text, (c) => c.notNull())
    .addColumn('ca', integer, (c) => c.notNull().references('issuing_cas.id'))
    .addColumn('serial_number', text, (c) => c.notNull())
    .addColumn('subject', text, (c) => c.notNull())
    .addColumn('not_valid_before', integer, (c) => c.notNull())
    .addColumn('not_valid_after', integer, (c) => c.notNull())
    .addColumn('fingerprint', text, (c) => c.notNull())
    .addColumn('status', text, (c) => c.notNull())
    .addColumn('revoked_at', integer)
    .addColumn('revocation_reason', text)
    .addColumn('invalidity_date', integer)
    .addColumn('device', integer, (c) => c.references('devices.id'))
    .addColumn('domain', integer, (c) => c.references('domains.id'))
    .addColumn('profile', integer, (c) => c.references('profiles.id'))
    .addColumn('protocol', text, (c) => c.notNull())
    .addColumn('hidden', boolean, (c) => c.notNull())
    .addColumn('der', bytes, (c) => c.notNull())
    .addUniqueConstraint('certificates_serial_number_ca_key', ['serial_number', 'ca'])
    .execute();
  await index('certificates', 'created_at');
  await index('certificates', 'not_valid_before');
  await index('certificates', 'not_valid_after');
  await index('certificates', 'device');
  await index('certificates', 'domain');
  await builder.schema
    .createIndex('certificates_status_index')
    .on('certificates')
    .columns(['status', 'ca', 'id'])
    .where('status', '<>', sql.lit('good'))
    .execute();
  // Also for lists in order of id.
  await builder.schema
    .createIndex('certificates_status_id_index')
    .on('certificates')
    .columns(dialect === 'postgres' ? ['status', 'id'] : ['status'])
    .where('status', '<>', sql.lit('good'))
    .execute();

  await table('certificate_keys')
    .addColumn('created_at', integer, (c) => c.notNull())
    .addColumn('certificate', integer, (c) => c.notNull().references('certificates.id'))
    .addColumn('key', text, (c) => c.notNull())
    .addUniqueConstraint('certificate_keys_certificate_key', ['certificate'])
    .execute();

  // Written as often as certificates. References also contain the nonce, so ids may be reused.
  await kept('transactions')
    .addColumn('created_at', integer, (c) => c.notNull())
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('operation', text, (c) => c.notNull())
    .addColumn('requester', text, (c) => c.notNull())
    .addColumn('device', integer)
    .addColumn('domain', integer, (c) => c.notNull())
    .addColumn('profile', text)
    .addColumn('state', text, (c) => c.notNull())
    .addColumn('expires_at', integer, (c) => c.notNull())
    .addColumn('certificate', integer, (c) => c.references('certificates.id'))
    .addColumn('cert_req_id', integer, (c) => c.notNull())
    .addColumn('request', bytes)
    .addColumn('opening_digest', bytes, (c) => c.notNull())
    .addColumn('opening_answer', bytes, (c) => c.notNull())
    .addColumn('latest_digest', bytes)
    .addColumn('latest_answer', bytes)
    .addColumn('nonce', bytes, (c) => c.notNull())
    .addUniqueConstraint('transactions_name_key', ['name'])
    .execute();
  await index('transactions', 'expires_at');

  await table('roles')
    .addColumn('created_at', integer, (c) => c.notNull())
    .addColumn('unique_name', text, (c) => c.notNull())
    .addColumn('permissions', text, (c) => c.notNull())
    .addColumn('is_protected', boolean, (c) => c.notNull())
    .addUniqueConstraint('roles_unique_name_key', ['unique_name'])
    .execute();

  await table('users')
    .addColumn('created_at', integer, (c) => c.notNull())
    .addColumn('username', text, (c) => c.notNull())
    .addColumn('password_hash', text, (c) => c.notNull())
    .addColumn('role', integer, (c) => c.notNull().references('roles.id'))
    .addColumn('is_active', boolean, (c) => c.notNull())
    .addUniqueConstraint('users_username_key', ['username'])
    .execute();

  await table('sessions')
    .addColumn('created_at', integer, (c) => c.notNull())
    .addColumn('user', integer, (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('generation', integer, (c) => c.notNull())
    .addColumn('expires_at', integer, (c) => c.notNull())
    .addColumn('is_revoked', boolean, (c) => c.notNull())
    .execute();
  await index('sessions', 'user');
  await index('sessions', 'expires_at');

  await table('service_accounts')
    .addColumn('created_at', integer, (c) => c.notNull())
    .addColumn('unique_name', text, (c) => c.notNull())
    .addColumn('role', integer, (c) => c.notNull().references('roles.id'))
    .addColumn('is_active', boolean, (c) => c.notNull())
    .addColumn('secret_hash', bytes, (c) => c.notNull())
    .addColumn('generation', integer, (c) => c.notNull())
    .addUniqueConstraint('service_accounts_unique_name_key', ['unique_name'])
    .execute();

  await table('backups')
    .addColumn('created_at', integer, (c) => c.notNull())
    .addColumn('remote_directory', text, (c) => c.notNull())
    .addColumn('user', text, (c) => c.notNull())
    .addColumn('last_run_at', integer)
    .addColumn('last_result', text)
    .execute();

  await table('settings')
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('value', bytes, (c) => c.notNull())
    .addUniqueConstraint('settings_name_key', ['name'])
    .execute();

  await table('login_failures')
    .addColumn('at', integer, (c) => c.notNull())
    .addColumn('subject', text, (c) => c.notNull())
    .execute();
  await index('login_failures', 'at');
  await index('login_failures', 'subject');

  await kept('audit_events')
    .addColumn('at', integer, (c) => c.notNull())
    .addColumn('actor', text, (c) => c.notNull())
    .addColumn('action', text, (c) => c.notNull())
    .addColumn('object', text, (c) => c.notNull())
    .addColumn('outcome', text, (c) => c.notNull())
    .addColumn('detail', text, (c) => c.notNull())
    .addColumn('chain', text, (c) => c.notNull())
    .addColumn('sequence', integer, (c) => c.notNull())
    .addColumn('hash', bytes, (c) => c.notNull())
    .addUniqueConstraint('audit_events_chain_sequence_key', ['chain', 'sequence'])
    .execute();
  await index('audit_events', 'at');

  // A second copy of the last event of each chain, to detect the removal of events at the end.
  await builder.schema
    .createTable('audit_heads')
    .addColumn('chain', text, (c) => c.primaryKey())
    .addColumn('sequence', integer, (c) => c.notNull())
    .addColumn('hash', bytes, (c) => c.notNull())
    .execute();
  await appendOnly(builder, dialect);

  await builder.schema
    .createTable('change_counter')
    .addColumn('id', integer, (c) => c.primaryKey())
    .addColumn('value', integer, (c) => c.notNull())
    .execute();
  await builder.insertInto('change_counter').values({ id: 1, value: 0 }).execute();

  await builder.schema
    .createTable('leases')
    .addColumn('name', text, (c) => c.primaryKey())
    .addColumn('holder', text, (c) => c.notNull())
    .addColumn('expires_at', integer, (c) => c.notNull())
    .execute();
}

/** Adds triggers so that no client of the database can modify or delete audit events, or move heads back. */
async function appendOnly(builder: Builder, dialect: Dialect): Promise<void> {
  if (dialect === 'sqlite') {
    const refuse = sql`begin select raise(abort, 'the audit trail is append-only'); end`;
    await sql`create trigger audit_events_update before update on audit_events ${refuse}`.execute(builder);
    await sql`create trigger audit_events_delete before delete on audit_events ${refuse}`.execute(builder);
    await sql`create trigger audit_heads_update before update on audit_heads
      when new.chain <> old.chain or new.sequence <= old.sequence ${refuse}`.execute(builder);
    await sql`create trigger audit_heads_delete before delete on audit_heads ${refuse}`.execute(builder);
    return;
  }
  await sql`create function refuse_audit_edit() returns trigger language plpgsql as
    'begin raise exception ''the audit trail is append-only''; end'`.execute(builder);
  const refuse = sql`execute function refuse_audit_edit()`;
  await sql`create trigger audit_events_edit before update or delete on audit_events
    for each row ${refuse}`.execute(builder);
  await sql`create trigger audit_events_truncate before truncate on audit_events
    for each statement ${refuse}`.execute(builder);
  await sql`create trigger audit_heads_update before update on audit_heads
    for each row when (new.chain <> old.chain or new.sequence <= old.sequence) ${refuse}`.execute(builder);
  await sql`create trigger audit_heads_delete before delete on audit_heads
    for each row ${refuse}`.execute(builder);
  await sql`create trigger audit_heads_truncate before truncate on audit_heads
    for each statement ${refuse}`.execute(builder);
}
