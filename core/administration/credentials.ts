import { demand, type Principal } from '../access/principal.ts';
import { type Resource, resource } from '../access/resource.ts';
import { audit } from '../audit/record.ts';
import type { Crls } from '../ca/crls.ts';
import { replaceActive } from '../ca/own-credentials.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import { hasExpired } from '../der/time.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import { type Credential, credentialType } from '../records/credential.ts';
import { retried } from '../storage/commit.ts';
import { type CredentialInput, makeCredential } from './make-credential.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'keyStores' | 'log' | 'store'>,
    WithConfiguration,
    WithSettings {}

/** Certificates whose private keys this service holds for its own use. */
export interface Credentials extends Resource<'credential', CredentialInput, Credential> {
  /**
   * Activates a TLS server credential, starting with the next handshake. Faults: notFound, conflict for a credential of
   * another type or an expired one.
   */
  activate(principal: Principal, id: number): Promise<Credential>;
}

/** `activated` makes the listener of this process use the activated credential. */
export function credentials(
  context: Dependencies,
  crls: Pick<Crls, 'generateMissing'>,
  activated: () => Promise<void>,
): Credentials {
  const { store, clock } = context;
  const collection = resource<'credential', CredentialInput, Credential>(context, {
    kind: 'credential',
    reads: 'credentials.read',
    writes: 'credentials.write',
    view: (record) => record,
    summary: ({ uniqueName, type }) => ({ uniqueName, type }),
    async update({ id, type }, changes) {
      if (changes.type !== undefined && changes.type !== type) {
        throw new Fault('malformed', 'the type of a credential cannot be changed', {
          field: 'credentialType',
        });
      }
      const { uniqueName } = changes;
      const set = { updatedAt: clock.now(), ...(uniqueName !== undefined && { uniqueName }) };
      return [{ op: 'update', kind: 'credential', id, set }];
    },
    async remove({ id, isActive }) {
      if (isActive) {
        throw new Fault('conflict', 'this credential is active: activate another one first', {
          id: 'credential_active',
        });
      }
      return [{ op: 'delete', kind: 'credential', id, where: { isActive: false } }];
    },
    async removed({ key, issuingCa }) {
      // The key of a CA belongs to the CA record.
      if (issuingCa === null) await context.keyStores.get(key.store)?.remove(key.id);
    },
  });
  const find = async (id: number): Promise<Credential> => {
    const record = await store.get('credential', id);
    if (!record) throw new Fault('notFound', 'there is no such credential');
    return record;
  };
  return {
    ...collection,
    async create(principal, input) {
      demand(principal, 'credentials.write');
      const credential = await find(await makeCredential(context, input, principal.actor));
      if (credential.issuingCa !== null) await crls.generateMissing(principal.actor);
      return credential;
    },
    async activate(principal, id) {
      demand(principal, 'credentials.write');
      await retried(async () => {
        const { type, isActive, notValidAfter } = await find(id);
        if (type !== credentialType.tlsServer)
          throw new Fault('conflict', 'only a TLS server credential can be activated', {
            id: 'not_tls_server',
          });
        if (hasExpired(notValidAfter, clock.now()))
          throw new Fault(
            'conflict',
            'the certificate of this credential has expired: replace the credential',
            { id: 'certificate_expired' },
          );
        if (isActive) return;
        await store.commit([
          ...(await replaceActive(context)),
          { op: 'update', kind: 'credential', id, set: { isActive: true, updatedAt: clock.now() } },
          audit(context, principal.actor, { action: 'credential.activate', object: `credential:${id}` }),
        ]);
      });
      context.configuration.expire();
      // The activation is stored and other instances use it, even if this listener fails to load it.
      await activated().catch((error) =>
        context.log.error('the TLS credential cannot be served', error, { credential: id }),
      );
      return find(id);
    },
  };
}
