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
 * Returns the private key that Postern generated for a certificate, and deletes it here. If two callers request it
 * concurrently, only one receives it. Faults: conflict if there is no key (any more), unavailable.
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
    throw new Fault(
      'conflict',
      'there is no private key to fetch: it was fetched already, or Postern did not generate it',
      {
        id: 'private_key_not_available',
      },
    );
  const keys = keyStores.get(held.key.store);
  if (!keys?.export) throw new Fault('unavailable', 'the key store of this key is not available');
  const privateKey = await keys.export(held.key.id);
  await store.commit([
    { op: 'delete', kind: 'certificateKey', id: held.id },
    audit(context, actor, { action: 'certificate.takeKey', object: `certificate:${id}` }),
  ]);
  await keys.remove(held.key.id);
  const issuer = (await context.configuration.current()).ca(ca);
  return { commonName, privateKey, certificate: der, chain: issuer?.chain ?? [] };
}

/** Destroys the uncollected key of a deleted certificate, if there is one. */
export async function discardHeldKey(
  { store, keyStores }: Pick<Ports, 'keyStores' | 'store'>,
  certificate: number,
): Promise<void> {
  const held = await store.find('certificateKey', { certificate });
  if (!held) return;
  await store.commit([{ op: 'delete', kind: 'certificateKey', id: held.id }]);
  await keyStores.get(held.key.store)?.remove(held.key.id);
}
