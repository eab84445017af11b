import { Type } from '@sinclair/typebox';
import type { Gateway } from '#core/gateway.ts';
import { webhookEvents } from '#core/records/webhook.ts';
import type { WebhookInput, WebhookView } from '#core/webhooks/webhooks.ts';
import { recordId } from '../collection.ts';
import { recordSchema, shownExample } from '../collection-operations.ts';
import { type Description, timestamp } from '../description.ts';
import { json } from '../errors.ts';
import { nullable, reference, text } from '../fields.ts';
import { equalText, isTrue } from '../filters.ts';
import { jsonResponse, type Route } from '../route.ts';
import { createdAtField, idField } from './common-fields.ts';
import { webhookDeliveries } from './webhook-deliveries.ts';

export const webhooks: Description<'webhook', WebhookInput, WebhookView> = {
  path: '/api/webhooks',
  tag: 'webhooks',
  kind: 'webhook',
  permissions: { read: 'webhooks.read', write: 'webhooks.write' },
  fields: {
    id: idField,
    unique_name: { schema: text(255, { min: 1 }), required: true, orderable: true },
    url: {
      schema: text(1000, {
        min: 1,
        description:
          '`https:` or `http:`, without credentials; link-local and metadata addresses and hosts outside the setting `webhook_hosts` are rejected',
      }),
      required: true,
      orderable: true,
    },
    events: {
      schema: Type.Array(Type.Union(webhookEvents.map((event) => Type.Literal(event))), {
        maxItems: webhookEvents.length,
        uniqueItems: true,
        description: 'events to send; empty: all',
      }),
      whenMissing: [],
    },
    is_active: {
      schema: Type.Boolean({
        description: 'an inactive webhook queues no new messages; pending messages are kept',
      }),
      whenMissing: true,
      orderable: true,
    },
    truststore: {
      schema: nullable(
        reference(
          'truststore of usage TLS for the certificate of the receiver; null: the trust anchors of the system',
        ),
      ),
      whenMissing: null,
    },
    signing_secret: {
      schema: nullable(
        Type.String({ description: '`whsec_` and 32 octets in base64 (Standard Webhooks)' }),
        'shown only in the response that creates it, otherwise null',
      ),
      readOnly: true,
    },
    created_at: createdAtField,
  },
  filters: { unique_name: equalText('uniqueName'), is_active: isTrue('isActive') },
  toJson: (webhook) => ({
    id: webhook.id,
    unique_name: webhook.uniqueName,
    url: webhook.url,
    events: webhook.events,
    is_active: webhook.isActive,
    truststore: webhook.truststore,
    signing_secret: webhook.signingSecret,
    created_at: timestamp(webhook.createdAt),
  }),
  example: {
    id: 2,
    unique_name: 'ticketing',
    url: 'https://tickets.example/postern',
    events: ['approval.waiting', 'certificate.expiring'],
    is_active: true,
    truststore: null,
    signing_secret: 'whsec_nq0Yw5rPpXv9m3kUe2sTz8hJb1cLd7fGa6iKoQxRyM4=',
    created_at: '2026-03-02T08:15:30.000',
  },
  conflicts: { create: 'The maximum number of webhooks is reached.' },
  operations: (gateway) => gateway.webhooks,
};

/** `POST /api/webhooks/{id}/rotate/` and `…/test/`. */
export const webhookRoutes = (gateway: Gateway): readonly Route[] => [
  {
    method: 'POST',
    path: `${webhooks.path}/:id/rotate`,
    operation: {
      id: 'rotateWebhook',
      tag: webhooks.tag,
      summary: 'Rotate the signing secret of a webhook',
      description: 'All messages, including pending ones, are signed with the new secret from now on.',
      permission: 'webhooks.write',
      responses: {
        200: jsonResponse(
          'The webhook with its new secret, which is shown only once.',
          recordSchema(webhooks.fields, true, 'Webhook'),
          webhooks.example,
        ),
      },
    },
    handle: async (principal, _request, { id }) =>
      json(200, webhooks.toJson(await gateway.webhooks.rotate(principal, recordId(id)), true)),
  },
  {
    method: 'POST',
    path: `${webhooks.path}/:id/test`,
    operation: {
      id: 'testWebhook',
      tag: webhooks.tag,
      summary: 'Send a test message to a webhook',
      description: 'Queues a message of type `webhook.test`. `/api/webhook-deliveries/` shows its delivery.',
      permission: 'webhooks.write',
      responses: {
        202: jsonResponse(
          'The message, which is sent within two seconds.',
          recordSchema(webhookDeliveries.fields, true, 'WebhookDelivery'),
          shownExample(webhookDeliveries),
        ),
      },
      failures: { 409: 'The webhook is not active.' },
    },
    handle: async (principal, _request, { id }) =>
      json(202, webhookDeliveries.toJson(await gateway.webhooks.test(principal, recordId(id)), true)),
  },
];
