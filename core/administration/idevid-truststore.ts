import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import { intendedUsage } from '../records/domain.ts';

/** Checks that a truststore exists and is for IDevIDs. Faults: malformed with the field. */
export async function demandIdevidTruststore(
  { store }: Pick<Ports, 'store'>,
  id: number,
  field: string,
): Promise<void> {
  const truststore = await store.get('truststore', id);
  if (!truststore) throw new Fault('malformed', 'there is no such truststore', { field });
  if (truststore.intendedUsage !== intendedUsage.idevid) {
    throw new Fault('malformed', 'the intended usage of this truststore is not IDevID', { field });
  }
}

/**
 * Checks that a truststore that authenticates devices keeps its usage. Faults: conflict, with the kind of record that
 * uses it.
 */
export async function demandUsageUnused({ store }: Pick<Ports, 'store'>, id: number): Promise<void> {
  const registrations = await store.count(
    'devidRegistration',
    [{ field: 'truststore', is: 'equal', value: id }],
    1,
  );
  const configs = await store.count(
    'onboardingConfig',
    [{ field: 'idevidTruststore', is: 'equal', value: id }],
    1,
  );
  if (registrations + configs === 0) return;
  const users = registrations > 0 ? 'a DevID registration' : 'an onboarding configuration';
  throw new Fault('conflict', `${users} still uses this truststore for IDevIDs`, {
    id: 'truststore_used_for_idevids',
  });
}
