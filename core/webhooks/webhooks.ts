import { demand, type Principal } from '../access/principal.ts';
import { type Resource, resource, updateWrites } from '../access/resource.ts';
import { audit } from '../audit/record.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import { currentSettings } from '../configuration/runtime-settings.ts';
import { Fault, toFault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import { intendedUsage } from '../records/domain.ts';
import { testEvent, type Webhook, type WebhookEvent } from '../records/webhook.ts';
import { type DeliveryView, shownDelivery } from './deliveries.ts';
import { newDelivery } from './notify.ts';
import { isAllowedHost, newHandle, newSigningSecret } from './receiver.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'log' | 'notifier' | 'store' | 'vault'>,
    WithConfiguration {}

export interface WebhookInput {
  readonly uniqueName: string;
  readonly url: string;
  readonly events?: readonly WebhookEvent[];
  readonly isActive?: boolean;
  readonly truststore?: number | null;
}

export interface WebhookView extends Omit<Webhook, 'secret' | 'handle'> {
  /** `whsec_…`, only in the response that created it. */
  readonly signingSecret: string | null;
}

export interface Webhooks extends Resource<'webhook', WebhookInput, WebhookView> {
  /** Replaces the secret; from now on, no message is signed with the old one. Faults: notFound, forbidden. */
  rotate(principal: Principal, id: number): Promise<WebhookView>;
  /** Queues a test message and returns it. Faults: notFound, conflict if the webhook is not active. */
  test(principal: Principal, id: number): Promise<DeliveryView>;
}

/** Each event writes a record for each webhook. */
const most = 32;

type Made = WebhookInput & { readonly handle: string; readonly secret: Uint8Array };

export function webhooks(context: Dependencies): Webhooks {
  const { store, clock, entropy, vault, notifier } = context;

  async function check({ url, truststore }: Partial<WebhookInput>): Promise<void> {
    if (url !== undefined) {
      const wrong = (detail: string) => new Fault('malformed', detail, { field: 'url' });
      try {
        notifier.check(url);
      } catch (error) {
        throw wrong(toFault(error).detail);
      }
      if (!isAllowedHost((await currentSettings(store)).webhookHosts, url))
        throw wrong('the settings do not allow this host');
    }
    if (truststore === undefined || truststore === null) return;
    const record = await store.get('truststore', truststore);
    if (record?.intendedUsage !== intendedUsage.tls)
      throw new Fault('malformed', 'there is no such truststore for TLS', { field: 'truststore' });
  }

  const collection = resource<'webhook', Made, WebhookView>(context, {
    kind: 'webhook',
    reads: 'webhooks.read',
    writes: 'webhooks.write',
    view: ({ secret: _, handle: __, ...shown }) => ({ ...shown, signingSecret: null }),
    summary: ({ uniqueName, url }) => ({ uniqueName, url }),
    async create({ uniqueName, url, events = [], isActive = true, truststore = null, handle, secret }) {
      await check({ url, truststore });
      if ((await store.count('webhook', [], most)) >= most)
        throw new Fault('conflict', `at most ${most} webhooks are allowed: delete one first`, {
          id: 'too_many_webhooks',
          values: { most },
        });
      const values = {
        createdAt: clock.now(),
        uniqueName,
        url,
        events,
        isActive,
        truststore,
        handle,
        secret,
      };
      return { values };
    },
    async update({ id }, changes) {
      await check(changes);
      return updateWrites('webhook', id, changes);
    },
    remove: async ({ id }) => [{ op: 'delete', kind: 'webhook', id }],
  });

  const find = async (id: number): Promise<Webhook> => {
    const record = await store.get('webhook', id);
    if (!record) throw new Fault('notFound', 'there is no such webhook');
    return record;
  };

  return {
    ...collection,
    async create(principal, input) {
      const handle = newHandle(entropy);
      const { shown, sealed } = newSigningSecret(entropy, vault, handle);
      const view = await collection.create(principal, { ...input, handle, secret: sealed });
      return { ...view, signingSecret: shown };
    },
    async rotate(principal, id) {
      demand(principal, 'webhooks.write');
      const { handle, secret } = await find(id);
      const { shown, sealed } = newSigningSecret(entropy, vault, handle);
      await store.commit([
        { op: 'update', kind: 'webhook', id, where: { secret }, set: { secret: sealed } },
        audit(context, principal.actor, { action: 'webhook.rotate', object: `webhook:${id}` }),
      ]);
      context.configuration.expire();
      return { ...(await collection.read(principal, id)), signingSecret: shown };
    },
    async test(principal, id) {
      demand(principal, 'webhooks.write');
      const { isActive, uniqueName } = await find(id);
      if (!isActive)
        throw new Fault('conflict', 'the webhook is not active: activate it first', {
          id: 'webhook_inactive',
        });
      const data = { webhook: uniqueName, message: 'a test' };
      const [made] = await store.commit([
        {
          op: 'insert',
          kind: 'webhookDelivery',
          values: newDelivery(context, id, testEvent, { object: null, data }),
        },
        audit(context, principal.actor, { action: 'webhook.test', object: `webhook:${id}` }),
      ]);
      const record = await store.get('webhookDelivery', made!);
      if (!record) throw new Fault('notFound', 'there is no such webhook');
      return shownDelivery(record);
    },
  };
}
