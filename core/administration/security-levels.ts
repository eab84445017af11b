import { demand, type Principal } from '../access/principal.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import type { Ports } from '../ports/ports.ts';
import { profileShortcomings } from '../profiles/shortcomings.ts';
import { caShortcoming } from '../security/demands.ts';
import {
  type LevelRules,
  levelNamed,
  levels,
  type SecurityLevel,
  securityLevels,
} from '../security/levels.ts';

/** A security level, and what prevents the service from using it. */
export interface LevelView {
  readonly rules: LevelRules;
  readonly isCurrent: boolean;
  /** The CAs and profiles that violate the level; they have to be changed before the level can be raised. */
  readonly obstacles: readonly Obstacle[];
}

/** Lists all levels, the most lenient first. Faults: forbidden. */
export async function securityLevelViews(
  context: Pick<Ports, 'clock'> & WithConfiguration,
  principal: Principal,
): Promise<readonly LevelView[]> {
  demand(principal, 'settings.read');
  const { security } = await context.configuration.current();
  const views: LevelView[] = [];
  for (const level of securityLevels) {
    const isCurrent = level === security.level;
    views.push({ rules: levels[level], isCurrent, obstacles: await obstacles(context, level) });
  }
  return views;
}

/** A CA or profile that violates a security level. */
export interface Obstacle {
  readonly kind: 'issuingCa' | 'profile';
  readonly id: number;
  readonly uniqueName: string;
  readonly detail: string;
}

/** Returns the active CAs, and the profiles offered by a domain, that violate a level. */
export async function obstacles(
  context: Pick<Ports, 'clock'> & WithConfiguration,
  level: SecurityLevel,
): Promise<readonly Obstacle[]> {
  const rules = levelNamed(level);
  context.configuration.expire();
  const { cas, domains, profile } = await context.configuration.current();
  const found: Obstacle[] = [];
  for (const { record, certificate } of cas) {
    if (!record.isActive) continue;
    const { id, uniqueName } = record;
    const detail = caShortcoming(rules, certificate);
    if (detail) found.push({ kind: 'issuingCa', id, uniqueName, detail });
  }
  const offered = new Set(domains.flatMap(({ profiles }) => profiles.map((one) => one.profile)));
  for (const one of offered) {
    const loaded = profile(one);
    if (!loaded) continue;
    const { id, uniqueName } = loaded.record;
    for (const { pointer, detail } of profileShortcomings(rules, loaded.rules, context.clock.now()))
      found.push({ kind: 'profile', id, uniqueName, detail: `${pointer}: ${detail}` });
  }
  return found;
}
