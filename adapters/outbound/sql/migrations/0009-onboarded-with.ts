import type { Builder, Dialect } from '../queries.ts';
import { dataTypes } from './columns.ts';

/** The certificate that is given again to a device that missed it when it was onboarded. */
export async function onboardedWith(builder: Builder, dialect: Dialect): Promise<void> {
  const { integer } = dataTypes[dialect];
  await builder.schema.alterTable('onboarding_configs').addColumn('onboarded_with', integer).execute();
}
