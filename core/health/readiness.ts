import type { Health } from '../ports/platform.ts';

/** The state of everything that the service depends on, by name: `store`, `configuration`, `issuing`, `keys.<name>`, `issuers.<name>`. */
export type HealthChecks = Readonly<Record<string, Health>>;

export interface Readiness {
  /** This instance can store what it issues and sign it. */
  readonly ready: boolean;
  readonly checks: HealthChecks;
}

/**
 * Whether all instances share the problem, so that a load balancer gains nothing by choosing another one: an
 * unreachable upstream CA, a CA that expires soon, a record that cannot be loaded.
 */
const isShared = (name: string): boolean =>
  name === 'configuration' || name === 'issuing' || name.startsWith('issuers.');

/** Runs all checks at the same time. Anybody may ask for the result, so concurrent callers share one run. */
export function readiness(
  checks: readonly (readonly [name: string, check: () => Promise<Health>])[],
): () => Promise<Readiness> {
  let running: Promise<Readiness> | undefined;
  const run = async (): Promise<Readiness> => {
    const states = await Promise.all(
      checks.map(async ([name, check]) => [name, await check().catch(unavailable)] as const),
    );
    const ready = states.every(([name, { ok }]) => ok || isShared(name));
    return { ready, checks: Object.fromEntries(states) };
  };
  return () => {
    running ??= run().finally(() => {
      running = undefined;
    });
    return running;
  };
}

const unavailable = (): Health => ({ ok: false, detail: 'unavailable' });
