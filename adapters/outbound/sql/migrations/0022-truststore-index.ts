import type { Builder, Dialect } from '../queries.ts';

/** What asks whether a truststore is in use does not read every configuration. Few devices have a truststore of their own. */
export async function truststoreIndex(builder: Builder, dialect: Dialect): Promise<void> {
  await builder.schema
    .createIndex('onboarding_configs_idevid_truststore_index')
    .on('onboarding_configs')
    .columns(dialect === 'postgres' ? ['idevid_truststore', 'id'] : ['idevid_truststore'])
    .where('idevid_truststore', 'is not', null)
    .execute();
}
