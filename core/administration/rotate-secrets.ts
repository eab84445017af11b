import type { Principal } from '../access/principal.ts';
import { audit } from '../audit/record.ts';
import type { Ports } from '../ports/ports.ts';
import { resealStore } from './reseal-store.ts';

type Dependencies = Pick<Ports, 'clock' | 'issuers' | 'keyStores' | 'store' | 'vault'>;

/**
 * Seals everything that is sealed at rest under the current master key: keys, credentials for upstream CAs, PINs and what is in the
 * store. Can be begun again after it was cut off at any point. Audited when it begins and when it has ended. How many secrets that was.
 */
export async function rotateSecrets(context: Dependencies, { actor }: Principal): Promise<number> {
  const { store, keyStores, issuers } = context;
  const note = (action: string, detail = {}): Promise<unknown> =>
    store.commit([audit(context, actor, { action, object: 'masterKey', detail })]);
  await note('secrets.rotationBegun');
  let secrets = 0;
  for (const holder of [...keyStores.values(), ...issuers.values()])
    secrets += (await holder.reseal?.()) ?? 0;
  secrets += await resealStore(context);
  await note('secrets.rotated', { secrets });
  return secrets;
}
