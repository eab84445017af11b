import type { Gateway } from '#core/gateway.ts';
import type { Log } from '#core/ports/platform.ts';

/** Logs what keeps the gateway from being ready, once when it begins and once when it ends. To be called every now and then. */
export function watchReadiness(gateway: Pick<Gateway, 'readiness'>, log: Log): () => Promise<void> {
  let failing: ReadonlyMap<string, string> = new Map();
  return async () => {
    const { checks } = await gateway.readiness();
    const now = new Map(
      Object.entries(checks).flatMap(([part, { ok, detail = 'not available' }]) =>
        ok ? [] : [[part, detail] as const],
      ),
    );
    for (const [part, detail] of now)
      if (failing.get(part) !== detail) log.warn('health check failing', { part, detail });
    for (const part of failing.keys()) if (!now.has(part)) log.info('health check recovered', { part });
    failing = now;
  };
}
