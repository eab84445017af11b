import { createHmac } from 'node:crypto';
import type { Message } from '#core/ports/notifier.ts';

/** Standard Webhooks 1.0.0: HMAC-SHA256 over id, time (seconds) and body, each after a full stop. */
export function signedHeaders({ id, at, body, secret }: Message): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(at / 1000));
  const mac = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${mac}` };
}
