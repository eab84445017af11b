import type { Health } from '../ports/platform.ts';

/** The state of everything that the service depends on, by name: `store`, `configuration`, `issuing`, `keys.<name>`, `issuers.<name>`. */
export type HealthChecks = Readonly<Record<string, Health>>;

export interface Readiness {
  /** This instance can store what it issues and sign it. */
  readonly ready: boolean;
  readonly checks: HealthChecks;
}

/**
 * An unreachable upstream CA, a CA near its end or a record that cannot be loaded is so for every gateway: no reason to send devices to
 * another one.
 */
const isShared = (name: string): boolean =>
  name === 'configuration' || name === 'issuing' || name.startsWith('issuers.');

/**
 * Checks everything at once. Callers that come while that is under way share it: anybody may ask, and however many do, no part is
 * asked more than once at a time.
 */
export function readiness(
  checks: readonly (readonly [name: string, check: () => Promise<Health>])[],
): () => Promise<Readiness> {
  let running: Promise<Readiness> | undefined;
  const look = async (): Promise<Readiness> => {
    const states = await Promise.all(
      checks.map(async ([name, check]) => [name, await check().catch(outOfReach)] as const),
    );
    const ready = states.every(([name, { ok }]) => ok || isShared(name));
    return { ready, checks: Object.fromEntries(states) };
  };
  return () => {
    running ??= look().finally(() => {
      running = undefined;
    });
    return running;
  };
}

const outOfReach = (): Health => ({ ok: false, detail: 'out of reach' });
