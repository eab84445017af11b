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
import { createdAtField, idField } from './common.ts';
import { webhookDeliveries } from './webhook-deliveries.ts';

export const webhooks: Description<'webhook', WebhookInput, WebhookView> = {
  path: '/api/webhooks',
  tag: 'webhooks',
  kind: 'webhook',
  permissions: { read: 'webhooks.read', write: 'webhooks.write' },
  fields: {
    id: idField,
    unique_name: { schema: text(255, { least: 1 }), required: true, orderable: true },
    url: {
      schema: text(1000, {
        least: 1,
        description:
          '`https:` or `http:`, without credentials; link-local and metadata addresses are refused, and hosts that the setting `webhook_hosts` does not have',
      }),
      required: true,
      orderable: true,
    },
    events: {
      schema: Type.Array(Type.Union(webhookEvents.map((event) => Type.Literal(event))), {
        maxItems: webhookEvents.length,
        uniqueItems: true,
        description: 'what it is told of; none: all',
      }),
      whenMissing: [],
    },
    is_active: {
      schema: Type.Boolean({
        description: 'while it is not, nothing new is noted for it, and what waits stays where it is',
      }),
      whenMissing: true,
      orderable: true,
    },
    truststore: {
      schema: nullable(
        reference('of usage TLS: who may vouch for its TLS certificate; null: whom the system trusts'),
      ),
      whenMissing: null,
    },
    signing_secret: {
      schema: nullable(
        Type.String({ description: '`whsec_` and 32 octets in base64 (Standard Webhooks)' }),
        'in the answer to what made it, and null ever after',
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
  conflicts: { create: 'There are as many webhooks as there can be.' },
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
      summary: 'Make another signing secret for a webhook',
      description: 'Nothing is signed with the old one from then on, what waits to be sent included.',
      permission: 'webhooks.write',
      responses: {
        200: jsonResponse(
          'The webhook with its new secret, which is not shown again.',
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
      description:
        'The message, of type `webhook.test`, goes the way of all others; what has become of it is read at `/api/webhook-deliveries/`.',
      permission: 'webhooks.write',
      responses: {
        202: jsonResponse(
          'The message, which is sent within a second or two.',
          recordSchema(webhookDeliveries.fields, true, 'WebhookDelivery'),
          shownExample(webhookDeliveries),
        ),
      },
      failures: { 409: 'It is not active.' },
    },
    handle: async (principal, _request, { id }) =>
      json(202, webhookDeliveries.toJson(await gateway.webhooks.test(principal, recordId(id)), true)),
  },
];
