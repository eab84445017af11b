import type { Ports } from '../ports/ports.ts';
import type { Handle, Values, Write } from '../ports/store.ts';
import type { Webhook, WebhookData, WebhookDelivery, WebhookEvent } from '../records/webhook.ts';

export interface Notice {
  /** The record that the event concerns. */
  readonly object: number | Handle | null;
  readonly data: WebhookData;
}

const nothing: readonly Write[] = [];

/**
 * Returns the writes that queue an event for `webhooks` (the active ones: `Configuration.webhooks`). They belong into
 * the same commit as the event. If no webhook subscribes to the event, there are no writes, and `tell` is not called.
 */
export function notify(
  context: Pick<Ports, 'clock' | 'entropy'>,
  webhooks: readonly Webhook[],
  event: WebhookEvent,
  tell: () => Notice,
): readonly Write[] {
  if (webhooks.length === 0) return nothing;
  const wanted = webhooks.filter(({ events }) => events.length === 0 || events.includes(event));
  if (wanted.length === 0) return nothing;
  const notice = tell();
  return wanted.map(({ id }) => ({
    op: 'insert',
    kind: 'webhookDelivery',
    values: newDelivery(context, id, event, notice),
  }));
}

export const newDelivery = (
  { clock, entropy }: Pick<Ports, 'clock' | 'entropy'>,
  webhook: number,
  event: WebhookDelivery['event'],
  { object, data }: Notice,
): Values<'webhookDelivery'> => {
  const now = clock.now();
  return {
    createdAt: now,
    webhook,
    message: `msg_${Buffer.from(entropy.bytes(18)).toString('base64url')}`,
    event,
    object,
    data,
    state: 'pending',
    attempts: 0,
    dueAt: now,
    deliveredAt: null,
    lastStatus: null,
    lastError: null,
  };
};
