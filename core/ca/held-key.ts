import { audit } from '../audit/record.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Actor } from '../records/audit-event.ts';
import type { StoredCertificate } from '../records/certificate.ts';

interface Dependencies extends Pick<Ports, 'clock' | 'keyStores' | 'store'>, WithConfiguration {}

/** A certificate with its private key. DER. */
export interface TakenKey {
  readonly commonName: string;
  /** PKCS#8. */
  readonly privateKey: Uint8Array;
  readonly certificate: Uint8Array;
  /** Its issuer first, up to the root. */
  readonly chain: readonly Uint8Array[];
}

/**
 * The key that was made here for a certificate. Of two who take it at once one gets it; whoever has it is the only one from
 * then on. Faults: conflict when there is none (any more), unavailable.
 */
export async function takeHeldKey(
  context: Dependencies,
  { id, ca, der, commonName, status }: StoredCertificate,
  actor: Actor,
): Promise<TakenKey> {
  const { store, keyStores } = context;
  if (status !== 'good')
    throw new Fault('conflict', 'the certificate is revoked', { id: 'certificate_revoked' });
  const held = await store.find('certificateKey', { certificate: id });
  if (!held)
    throw new Fault('conflict', 'there is no private key to fetch: it was fetched, or never here', {
      id: 'private_key_not_available',
    });
  const keys = keyStores.get(held.key.store);
  if (!keys?.export) throw new Fault('unavailable', 'the key store of this key is out of reach');
  const privateKey = await keys.export(held.key.id);
  await store.commit([
    { op: 'delete', kind: 'certificateKey', id: held.id },
    audit(context, actor, { action: 'certificate.takeKey', object: `certificate:${id}` }),
  ]);
  await keys.remove(held.key.id);
  const issuer = (await context.configuration.current()).ca(ca);
  return { commonName, privateKey, certificate: der, chain: issuer?.chain ?? [] };
}

/** Destroys the key that waits for a certificate that is gone, if there is one. */
export async function discardHeldKey(
  { store, keyStores }: Pick<Ports, 'keyStores' | 'store'>,
  certificate: number,
): Promise<void> {
  const held = await store.find('certificateKey', { certificate });
  if (!held) return;
  await store.commit([{ op: 'delete', kind: 'certificateKey', id: held.id }]);
  await keyStores.get(held.key.store)?.remove(held.key.id);
}
