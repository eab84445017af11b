import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import { intendedUsage } from '../records/domain.ts';

/** Faults: malformed, with the field, unless there is such a truststore and it is for IDevIDs. */
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
 * What devices are let in by stays what it is for. Faults: conflict, naming what refers to the truststore, when a change of its
 * usage would take that away.
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
  throw new Fault('conflict', `still used for IDevIDs by ${users}`, { id: 'truststore_used_for_idevids' });
}
