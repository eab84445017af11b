/** What other systems can be told of. */
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

/** What is sent when an administrator wants to see whether it arrives. */
export const testEvent = 'webhook.test';

export interface Webhook {
  readonly id: number;
  readonly createdAt: number;
  readonly uniqueName: string;
  readonly url: string;
  /** None: all. */
  readonly events: readonly WebhookEvent[];
  readonly isActive: boolean;
  /** Trust anchors for its TLS; null: those of the system. */
  readonly truststore: number | null;
  /** Random; the seal of the secret is bound to it. */
  readonly handle: string;
  /** Sealed; 32 octets. */
  readonly secret: Uint8Array;
}

export const deliveryStates = ['pending', 'delivered', 'dead'] as const;

export type DeliveryState = (typeof deliveryStates)[number];

export type WebhookData = Readonly<Record<string, string | number | null>>;

/** One message to one webhook, written in the commit of what it tells of. */
export interface WebhookDelivery {
  readonly id: number;
  /** When it happened. */
  readonly createdAt: number;
  readonly webhook: number;
  /** Its name, the same at every attempt: `msg_…`. */
  readonly message: string;
  readonly event: WebhookEvent | typeof testEvent;
  /** The id of what it tells of: `data.id`. */
  readonly object: number | null;
  readonly data: WebhookData;
  readonly state: DeliveryState;
  readonly attempts: number;
  /** Pending: the next attempt; else when it is forgotten. */
  readonly dueAt: number;
  readonly deliveredAt: number | null;
  /** The HTTP status of the last answer. */
  readonly lastStatus: number | null;
  readonly lastError: string | null;
}
