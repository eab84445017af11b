import { demand, type Principal, readsOf } from '../access/principal.ts';
import { audit } from '../audit/record.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Page, Query } from '../ports/store.ts';
import type { WebhookDelivery } from '../records/webhook.ts';
import { retried } from '../storage/commit.ts';
import { bodyOf } from './deliver.ts';

export interface DeliveryView extends Omit<WebhookDelivery, 'data' | 'object'> {
  /** The exact body of the message. */
  readonly body: string;
}

export interface WebhookDeliveries {
  list(principal: Principal, query: Query<'webhookDelivery'>): Promise<Page<DeliveryView>>;
  /** Faults: notFound. */
  read(principal: Principal, id: number): Promise<DeliveryView>;
  /** Sends a message again at once, in any state, with a new series of attempts. Faults: notFound. */
  redeliver(principal: Principal, id: number): Promise<DeliveryView>;
}

export const shownDelivery = (delivery: WebhookDelivery): DeliveryView => {
  const { data, object, ...shown } = delivery;
  return { ...shown, body: bodyOf(delivery) };
};

export function webhookDeliveries(context: Pick<Ports, 'clock' | 'log' | 'store'>): WebhookDeliveries {
  const { store, clock } = context;
  const find = async (id: number): Promise<WebhookDelivery> => {
    const record = await store.get('webhookDelivery', id);
    if (!record) throw new Fault('notFound', 'there is no such webhook message');
    return record;
  };
  return {
    async list(principal, query) {
      demand(principal, 'webhooks.read');
      const page = await readsOf(context, principal).list('webhookDelivery', query);
      return { ...page, records: page.records.map(shownDelivery) };
    },
    async read(principal, id) {
      demand(principal, 'webhooks.read');
      return shownDelivery(await find(id));
    },
    async redeliver(principal, id) {
      demand(principal, 'webhooks.write');
      // Retries, because the message may be in delivery.
      await retried(async () => {
        const { state, attempts, dueAt } = await find(id);
        await store.commit([
          {
            op: 'update',
            kind: 'webhookDelivery',
            id,
            where: { state, attempts, dueAt },
            set: { state: 'pending', attempts: 0, dueAt: clock.now(), deliveredAt: null },
          },
          audit(context, principal.actor, {
            action: 'webhookDelivery.redeliver',
            object: `webhookDelivery:${id}`,
          }),
        ]);
      });
      return shownDelivery(await find(id));
    },
  };
}
