/** The events that webhooks can subscribe to. */
export const webhookEvents = [
  'approval.waiting',
  'approval.granted',
  'approval.rejected',
  'approval.expired',
  'certificate.issued',
  'certificate.revoked',
  'certificate.released',
  'certificate.expiring',
  'ca.expiring',
  'upstream.failed',
] as const;

export type WebhookEvent = (typeof webhookEvents)[number];

/** The event that an administrator sends to test a webhook. */
export const testEvent = 'webhook.test';

export interface Webhook {
  readonly id: number;
  readonly createdAt: number;
  readonly uniqueName: string;
  readonly url: string;
  /** Empty: all events. */
  readonly events: readonly WebhookEvent[];
  readonly isActive: boolean;
  /** The truststore with the TLS trust anchors; null: the system's trust store. */
  readonly truststore: number | null;
  /** A random name; the sealed secret is bound to it. */
  readonly handle: string;
  /** The signing secret (32 octets), sealed. */
  readonly secret: Uint8Array;
}

export const deliveryStates = ['pending', 'delivered', 'dead'] as const;

export type DeliveryState = (typeof deliveryStates)[number];

export type WebhookData = Readonly<Record<string, string | number | null>>;

/** One message to one webhook, written in the same commit as the event itself. */
export interface WebhookDelivery {
  readonly id: number;
  /** When the event happened. */
  readonly createdAt: number;
  readonly webhook: number;
  /** The message id, the same at every attempt: `msg_…`. */
  readonly message: string;
  readonly event: WebhookEvent | typeof testEvent;
  /** The id of the object of the event: `data.id`. */
  readonly object: number | null;
  readonly data: WebhookData;
  readonly state: DeliveryState;
  readonly attempts: number;
  /** Pending: the time of the next attempt; else the time at which the record is deleted. */
  readonly dueAt: number;
  readonly deliveredAt: number | null;
  /** The HTTP status of the last response. */
  readonly lastStatus: number | null;
  readonly lastError: string | null;
}
