import { demand, type Principal } from '../access/principal.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import type { Ports } from '../ports/ports.ts';
import { type LevelRules, levels, securityLevels } from '../security/levels.ts';
import { type Obstacle, obstacles } from './obstacles.ts';

/** A security level, and how the service stands to it. */
export interface LevelView {
  readonly rules: LevelRules;
  readonly isCurrent: boolean;
  /** What falls short of it: has to go before the service can be raised to it. */
  readonly obstacles: readonly Obstacle[];
}

/** All levels, the most lenient first. Faults: forbidden. */
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
