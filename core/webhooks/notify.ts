import type { Ports } from '../ports/ports.ts';
import type { Handle, Values, Write } from '../ports/store.ts';
import type { Webhook, WebhookData, WebhookDelivery, WebhookEvent } from '../records/webhook.ts';

export interface Notice {
  /** The record that it tells of. */
  readonly object: number | Handle | null;
  readonly data: WebhookData;
}

const nothing: readonly Write[] = [];

/**
 * Writes that have `webhooks` (the active ones: `Configuration.webhooks`) told of an event. They belong into the commit of what
 * they tell of. Nobody wants to know: no writes, and `tell` is not called.
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
