import { type Resource, resource, updateWrites } from '../access/resource.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import { atField, Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { DevidRegistration } from '../records/domain.ts';
import { demandIdevidTruststore } from './idevid-truststore.ts';

interface Dependencies extends Pick<Ports, 'clock' | 'log' | 'patterns' | 'store'>, WithConfiguration {}

export type RegistrationInput = Omit<DevidRegistration, 'id' | 'createdAt'>;

export function devidRegistrations(
  context: Dependencies,
): Resource<'devidRegistration', RegistrationInput, DevidRegistration> {
  return resource<'devidRegistration', RegistrationInput, DevidRegistration>(context, {
    kind: 'devidRegistration',
    reads: 'registrations.read',
    writes: 'registrations.write',
    view: (record) => record,
    summary: ({ uniqueName, truststore, domain }) => ({ uniqueName, truststore, domain }),
    async create(input) {
      await check(context, input);
      const values = { ...input, createdAt: context.clock.now() };
      return { values };
    },
    async update({ id }, changes) {
      await check(context, changes);
      return updateWrites('devidRegistration', id, changes);
    },
    remove: async ({ id }) => [{ op: 'delete', kind: 'devidRegistration', id }],
  });
}

async function check(
  context: Pick<Ports, 'patterns' | 'store'>,
  { truststore, domain, serialNumberPattern }: Partial<RegistrationInput>,
): Promise<void> {
  if (truststore !== undefined) await demandIdevidTruststore(context, truststore, 'truststore');
  if (domain !== undefined && !(await context.store.get('domain', domain))) {
    throw new Fault('malformed', 'there is no such domain', { field: 'domain' });
  }
  if (serialNumberPattern === undefined) return;
  try {
    context.patterns.compile(serialNumberPattern);
  } catch (error) {
    throw atField(error, 'serialNumberPattern');
  }
}
