import type { WithConfiguration } from '../configuration/configuration.ts';
import { currentSettings } from '../configuration/runtime-settings.ts';
import { Fault, toFault } from '../fault.ts';
import type { Attempt } from '../ports/notifier.ts';
import type { Ports } from '../ports/ports.ts';
import type { Changes, Condition } from '../ports/store.ts';
import type { DeliveryState, Webhook, WebhookDelivery } from '../records/webhook.ts';
import { isDamage } from '../storage/damaged-records.ts';
import { isAllowedHost, openSecret } from './receiver.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'log' | 'notifier' | 'store' | 'vault'>,
    WithConfiguration {}

/** Seconds until the next attempt; after the last one the message is dead: ten attempts in about a day and a half. */
const pauses = [5, 30, 120, 600, 1800, 7200, 18_000, 36_000, 64_800];
/** Milliseconds for which delivered and dead messages are kept. */
const keepDelivered = 7 * 24 * 3_600_000;
const keepDead = 30 * 24 * 3_600_000;

/** The number of concurrent messages to one webhook. */
const atOnce = 4;
const mostDue = 50;
/** After this many failures in a row, a webhook pauses until the next call. */
const mostFailures = 4;
/** Milliseconds; together with an attempt that starts at the end, this is shorter than the lease. */
const longestRun = 4000;
const leaseSeconds = 15;
const lease = 'webhooks';

/** Delivers pending messages: on one instance at a time, independently for each webhook, in no particular order. */
export class Deliveries {
  readonly #context: Dependencies;
  readonly #running = new Map<number, Promise<void>>();
  #holds = false;

  constructor(context: Dependencies) {
    this.#context = context;
  }

  /**
   * Starts to deliver the due messages, without waiting for the result. Call it about every second on every instance:
   * if nothing is due, it costs one query. An attempt that `signal` aborts is not counted.
   */
  async deliver(holder: string, signal: AbortSignal): Promise<void> {
    const { store, configuration } = this.#context;
    const { webhooks } = await configuration.current();
    const idle = webhooks.filter(({ id }) => !this.#running.has(id));
    const due = await this.#withWork(idle);
    if (due.length === 0 && this.#running.size === 0) {
      if (this.#holds) await store.lease(lease, holder, 0);
      this.#holds = false;
      return;
    }
    this.#holds = await store.lease(lease, holder, leaseSeconds);
    if (!this.#holds) return;
    for (const webhook of due) {
      if (this.#running.has(webhook.id)) continue;
      const run = this.#run(webhook, signal).finally(() => this.#running.delete(webhook.id));
      this.#running.set(webhook.id, run);
    }
  }

  /** Resolves when all started deliveries have ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  async #withWork(webhooks: readonly Webhook[]): Promise<readonly Webhook[]> {
    const { store } = this.#context;
    const due = webhooks.map(({ id }) => store.count('webhookDelivery', this.#isDue(id), 1));
    const found = await Promise.all(due);
    return webhooks.filter((_, n) => found[n]! > 0);
  }

  #isDue(webhook: number): readonly Condition<'webhookDelivery'>[] {
    return [
      { field: 'webhook', is: 'equal', value: webhook },
      { field: 'state', is: 'equal', value: 'pending' },
      { field: 'dueAt', is: 'lessOrEqual', value: this.#context.clock.now() },
    ];
  }

  /** Returns the due messages, and gives up those that are damaged. `full`: there may be more. */
  async #due(webhook: Webhook): Promise<{ readonly left: WebhookDelivery[]; readonly full: boolean }> {
    const page = await this.#context.store.list('webhookDelivery', {
      where: this.#isDue(webhook.id),
      order: { field: 'dueAt', descending: false },
      limit: mostDue,
      skipDamaged: true,
    });
    for (const damage of page.damaged ?? []) await this.#giveUp(webhook, damage.id, damage);
    return { left: [...page.records], full: page.next !== undefined };
  }

  /** Ends a message that can never be sent, so that it is in the way of no other. */
  async #giveUp(webhook: Webhook, id: number, cause: unknown): Promise<void> {
    const { store, log, clock } = this.#context;
    log.error('a damaged webhook message is no longer retried', cause, {
      webhook: webhook.uniqueName,
      delivery: id,
    });
    const set = {
      state: 'dead',
      dueAt: clock.now() + keepDead,
      lastError: 'the message is damaged',
    } as const;
    const where = { state: 'pending' } as const;
    await store.commit([{ op: 'update', kind: 'webhookDelivery', id, where, set }]).catch(ignoreConflict);
  }

  /** Never rejects. */
  async #run(webhook: Webhook, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#context;
    const until = clock.now() + longestRun;
    let failures = 0;
    const goesOn = (): boolean => !signal.aborted && failures < mostFailures && clock.now() < until;
    try {
      const send = await this.#sender(webhook, signal);
      for (;;) {
        const { left, full } = await this.#due(webhook);
        const worker = async (): Promise<void> => {
          while (goesOn()) {
            const delivery = left.shift();
            if (!delivery) return;
            try {
              failures = (await send(delivery)) ? 0 : failures + 1;
            } catch (error) {
              if (!isDamage(error)) throw error;
              await this.#giveUp(webhook, delivery.id, error);
            }
          }
        };
        await Promise.all(Array.from({ length: Math.min(atOnce, left.length) }, worker));
        if (!full || !goesOn()) return;
      }
    } catch (error) {
      log.error('a webhook cannot be served', toFault(error), { webhook: webhook.uniqueName });
    }
  }

  /** Returns the function that sends one message and tells whether it was delivered. */
  async #sender(
    webhook: Webhook,
    signal: AbortSignal,
  ): Promise<(delivery: WebhookDelivery) => Promise<boolean>> {
    const { store, vault, notifier, clock } = this.#context;
    const { url, truststore } = webhook;
    const [{ webhookHosts }, trusted] = await Promise.all([
      currentSettings(store),
      truststore === null ? undefined : store.get('truststore', truststore),
    ]);
    const secret = openSecret(vault, webhook);
    const refused: Attempt | undefined = isAllowedHost(webhookHosts, url)
      ? undefined
      : { delivered: false, status: null, detail: 'the settings do not allow this host' };
    return async (delivery) => {
      const { message: id } = delivery;
      const body = bodyOf(delivery);
      const message = {
        url,
        id,
        at: clock.now(),
        body,
        secret,
        ...(trusted && { anchors: trusted.certificates }),
      };
      const attempt = refused ?? (await notifier.post(message, signal));
      // The message may have been delivered; then it is delivered twice.
      if (signal.aborted && !attempt.delivered) return false;
      await this.#record(webhook, delivery, attempt);
      return attempt.delivered;
    };
  }

  async #record(webhook: Webhook, delivery: WebhookDelivery, attempt: Attempt): Promise<void> {
    const { store, log } = this.#context;
    const { id, attempts, dueAt, message, event } = delivery;
    const set = this.#outcome(attempts + 1, attempt);
    try {
      const where = { state: 'pending', attempts, dueAt } as const;
      await store.commit([{ op: 'update', kind: 'webhookDelivery', id, where, set }]);
    } catch (error) {
      // The message was deleted with its webhook, or an administrator sends it again.
      if (error instanceof Fault && error.code === 'conflict') return;
      throw error;
    }
    if (set.state !== 'dead') return;
    const detail = new Fault('unavailable', attempt.detail ?? 'the delivery failed');
    log.error('a webhook message is no longer retried', detail, {
      webhook: webhook.uniqueName,
      message,
      event,
    });
  }

  #outcome(attempts: number, { delivered, status, detail }: Attempt): Changes<'webhookDelivery'> {
    const now = this.#context.clock.now();
    const about = { attempts, lastStatus: status, lastError: detail };
    if (delivered) return { ...about, state: 'delivered', dueAt: now + keepDelivered, deliveredAt: now };
    const pause = pauses[attempts - 1];
    if (pause === undefined) return { ...about, state: 'dead', dueAt: now + keepDead };
    return { ...about, dueAt: now + Math.round(pause * 1000 * this.#jitter()) };
  }

  /** A factor of 0.8 to 1.2, so that messages that failed together are not retried at the same moment. */
  #jitter(): number {
    const [high = 0, low = 0] = this.#context.entropy.bytes(2);
    return 0.8 + (0.4 * (high * 256 + low)) / 65_535;
  }
}

/** Returns the body of a message, the same at every attempt. */
export const bodyOf = ({ event, createdAt, object, data }: WebhookDelivery): string =>
  JSON.stringify({
    type: event,
    timestamp: new Date(createdAt).toISOString(),
    data: { id: object, ...data },
  });

function ignoreConflict(error: unknown): void {
  if (!(error instanceof Fault) || error.code !== 'conflict') throw error;
}

const prunedAtOnce = 1000;
const mostPrunings = 20;

/** Deletes delivered and dead messages after their retention period. Call it on one instance at a time. */
export async function pruneDeliveries(context: Pick<Ports, 'clock' | 'store'>): Promise<void> {
  for (const state of ['delivered', 'dead'] as const) await prune(context, state);
}

async function prune({ store, clock }: Pick<Ports, 'clock' | 'store'>, state: DeliveryState): Promise<void> {
  for (let n = 0; n < mostPrunings; n++) {
    // Damaged messages are deleted as well.
    const { records } = await store.listWithout('webhookDelivery', ['data'], {
      where: [
        { field: 'state', is: 'equal', value: state },
        { field: 'dueAt', is: 'less', value: clock.now() },
      ],
      order: { field: 'dueAt', descending: false },
      limit: prunedAtOnce,
    });
    if (records.length === 0) return;
    try {
      await store.commit(
        records.map(({ id }) => ({ op: 'delete', kind: 'webhookDelivery', id, where: { state } })),
      );
    } catch (error) {
      // A message was sent again, or its webhook deleted, concurrently: the next run deletes the rest.
      if (error instanceof Fault && error.code === 'conflict') return;
      throw error;
    }
    if (records.length < prunedAtOnce) return;
  }
}
