import { createHash } from 'node:crypto';
import { demand, type Principal } from '../access/principal.ts';
import { type Resource, resource, updateWrites } from '../access/resource.ts';
import { audit } from '../audit/record.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { ServiceAccount } from '../records/account.ts';
import { newSecret } from '../security/secrets.ts';
import { hasChanged, retried } from '../storage/commit.ts';
import { grantableRole } from './roles.ts';

interface Dependencies extends Pick<Ports, 'clock' | 'entropy' | 'log' | 'store'>, WithConfiguration {}

export interface ServiceAccountInput {
  readonly uniqueName: string;
  readonly role: number;
  readonly isActive?: boolean;
}

export interface ServiceAccountView extends Omit<ServiceAccount, 'secretHash'> {
  readonly clientId: string;
  /** Shown only in the response that created it. */
  readonly clientSecret: string | null;
}

export interface ServiceAccounts extends Resource<'serviceAccount', ServiceAccountInput, ServiceAccountView> {
  /**
   * Replaces the secret: the old secret, and tokens obtained with it, are invalid from now on. Faults: notFound,
   * forbidden.
   */
  rotate(principal: Principal, id: number): Promise<ServiceAccountView>;
}

const clientId = (id: number): string => `sa_${id}`;

export const hashOfSecret = (secret: string): Uint8Array => createHash('sha256').update(secret).digest();

export function serviceAccounts(context: Dependencies): ServiceAccounts {
  const { store, clock, entropy } = context;
  const collection = resource<
    'serviceAccount',
    ServiceAccountInput & { readonly secretHash: Uint8Array },
    ServiceAccountView
  >(context, {
    kind: 'serviceAccount',
    reads: 'accounts.read',
    writes: 'accounts.write',
    view: ({ secretHash: _, ...shown }) => ({ ...shown, clientId: clientId(shown.id), clientSecret: null }),
    summary: ({ uniqueName }) => ({ uniqueName }),
    async create({ uniqueName, role, isActive = true, secretHash }, principal) {
      await grantableRole(context, principal, role);
      const values = { createdAt: clock.now(), uniqueName, role, isActive, secretHash, generation: 0 };
      return { values };
    },
    async update(account, changes, principal) {
      await grantableRole(context, principal, account.role);
      if (changes.role !== undefined) await grantableRole(context, principal, changes.role);
      const { id, generation } = account;
      const { role = account.role, isActive = account.isActive } = changes;
      if (role === account.role && isActive === account.isActive)
        return updateWrites('serviceAccount', id, changes);
      // A change of activation also invalidates the tokens, which stay invalid.
      return updateWrites('serviceAccount', id, { ...changes, generation: generation + 1 }, { generation });
    },
    async remove(account, principal) {
      await grantableRole(context, principal, account.role);
      return [{ op: 'delete', kind: 'serviceAccount', id: account.id }];
    },
  });
  return {
    ...collection,
    update: (principal, id, changes) => retried(() => collection.update(principal, id, changes), hasChanged),
    async create(principal, input) {
      const clientSecret = newSecret(entropy);
      const view = await collection.create(principal, { ...input, secretHash: hashOfSecret(clientSecret) });
      return { ...view, clientSecret };
    },
    async rotate(principal, id) {
      demand(principal, 'accounts.write');
      const account = await store.get('serviceAccount', id);
      if (!account) throw new Fault('notFound', 'there is no such service account');
      await grantableRole(context, principal, account.role);
      const clientSecret = newSecret(entropy);
      const { generation } = account;
      const set = { secretHash: hashOfSecret(clientSecret), generation: generation + 1 };
      await store.commit([
        { op: 'update', kind: 'serviceAccount', id, where: { generation }, set },
        audit(context, principal.actor, { action: 'serviceAccount.rotate', object: `serviceAccount:${id}` }),
      ]);
      return { ...(await collection.read(principal, id)), clientSecret };
    },
  };
}
