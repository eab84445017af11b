import { Type } from '@sinclair/typebox';
import type { Gateway } from '#core/gateway.ts';
import { deliveryStates, testEvent, webhookEvents } from '#core/records/webhook.ts';
import type { DeliveryView } from '#core/webhooks/deliveries.ts';
import { recordId } from '../collection.ts';
import { recordSchema, shownExample } from '../collection-operations.ts';
import { type Description, timestamp } from '../description.ts';
import { json } from '../errors.ts';
import { dateTime, nullable } from '../fields.ts';
import { equalChoice, equalInteger, equalText, from, until } from '../filters.ts';
import { jsonResponse, type Route } from '../route.ts';
import { idField } from './common-fields.ts';

const shown = { readOnly: true } as const;
const ordered = { readOnly: true, orderable: true } as const;
const events = [...webhookEvents, testEvent];

export const webhookDeliveries: Description<'webhookDelivery', never, DeliveryView> = {
  path: '/api/webhook-deliveries',
  tag: 'webhooks',
  kind: 'webhookDelivery',
  permissions: { read: 'webhooks.read' },
  fields: {
    id: idField,
    created_at: { schema: dateTime('when the event happened'), record: 'createdAt', ...ordered },
    webhook: { schema: Type.Integer(), ...ordered },
    webhook_id: {
      schema: Type.String({ description: 'the header `Webhook-Id`, the same for every attempt' }),
      record: 'message',
      ...shown,
    },
    event: { schema: Type.String({ enum: events }), ...ordered },
    state: {
      schema: Type.String({
        enum: [...deliveryStates],
        description: 'dead: all attempts failed, kept for 30 days; delivered: kept for 7 days',
      }),
      ...ordered,
    },
    attempts: { schema: Type.Integer(), ...ordered },
    next_attempt_at: {
      schema: nullable(dateTime('time of the next attempt, while the message is pending')),
      record: 'dueAt',
      ...ordered,
    },
    delivered_at: {
      schema: nullable(dateTime('when the receiver accepted it')),
      record: 'deliveredAt',
      ...ordered,
    },
    last_status: { schema: nullable(Type.Integer(), 'HTTP status of the last response'), ...shown },
    last_error: { schema: nullable(Type.String(), 'reason for the last failed attempt'), ...shown },
    body: {
      schema: Type.String({ description: 'the exact JSON that is sent' }),
      detailOnly: true,
      ...shown,
    },
  },
  filters: {
    webhook: equalInteger('webhook'),
    state: equalChoice('state', deliveryStates),
    event: equalChoice('event', events),
    webhook_id: equalText('message'),
    from: from('createdAt'),
    to: until('createdAt'),
  },
  toJson: (delivery, detail) => ({
    id: delivery.id,
    created_at: timestamp(delivery.createdAt),
    webhook: delivery.webhook,
    webhook_id: delivery.message,
    event: delivery.event,
    state: delivery.state,
    attempts: delivery.attempts,
    next_attempt_at: delivery.state === 'pending' ? timestamp(delivery.dueAt) : null,
    delivered_at: delivery.deliveredAt === null ? null : timestamp(delivery.deliveredAt),
    last_status: delivery.lastStatus,
    last_error: delivery.lastError,
    ...(detail && { body: delivery.body }),
  }),
  example: {
    id: 12,
    created_at: '2026-03-02T08:15:30.000',
    webhook: 2,
    webhook_id: 'msg_kX3v0QmZt7Yb2LrC9sWeUa1D',
    event: 'certificate.revoked',
    state: 'pending',
    attempts: 1,
    next_attempt_at: '2026-03-02T08:15:35.000',
    delivered_at: null,
    last_status: 503,
    last_error: 'answered 503',
    body: '{"type":"certificate.revoked","timestamp":"2026-03-02T08:15:30.000Z","data":{"id":7}}',
  },
  operations: (gateway) => gateway.webhookDeliveries,
};

/** `POST /api/webhook-deliveries/{id}/redeliver/`. */
export const redeliver = (gateway: Gateway): Route => ({
  method: 'POST',
  path: `${webhookDeliveries.path}/:id/redeliver`,
  operation: {
    id: 'redeliverWebhookDelivery',
    tag: webhookDeliveries.tag,
    summary: 'Redeliver a message',
    description:
      'Sends the message immediately, whatever its state, with the same `Webhook-Id` and a new set of attempts.',
    permission: 'webhooks.write',
    responses: {
      202: jsonResponse(
        'The message, now pending.',
        recordSchema(webhookDeliveries.fields, true, 'WebhookDelivery'),
        shownExample(webhookDeliveries),
      ),
    },
  },
  handle: async (principal, _request, { id }) =>
    json(
      202,
      webhookDeliveries.toJson(await gateway.webhookDeliveries.redeliver(principal, recordId(id)), true),
    ),
});
