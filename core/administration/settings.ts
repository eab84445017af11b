import { demand, type Principal } from '../access/principal.ts';
import { audit, shorten } from '../audit/record.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import {
  currentSettings,
  type RuntimeSettings,
  settingName,
  storedSettings,
} from '../configuration/runtime-settings.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';

import { isStricter, type SecurityLevel } from '../security/levels.ts';
import { settingWrite } from '../storage/setting-content.ts';
import { isHostPattern } from '../webhooks/receiver.ts';
import { type LevelView, obstacles, securityLevelViews } from './security-levels.ts';

interface Dependencies extends Pick<Ports, 'clock' | 'store'>, WithConfiguration {}

const tries = 5;

export interface RuntimeSettingsUse {
  /** Lists the security levels with the obstacles to each. Faults: forbidden. */
  levels(principal: Principal): Promise<readonly LevelView[]>;
  read(principal: Principal): Promise<RuntimeSettings>;
  /**
   * Changes only the members of `changes`. Faults: malformed with `field`; conflict if a CA or profile violates a
   * stricter level.
   */
  change(principal: Principal, changes: Partial<RuntimeSettings>): Promise<RuntimeSettings>;
}

export function runtimeSettings(context: Dependencies): RuntimeSettingsUse {
  const { store } = context;

  async function change(principal: Principal, changes: Partial<RuntimeSettings>): Promise<RuntimeSettings> {
    const { record: setting, settings: before } = await storedSettings(store);
    const next = { ...before, ...changes };
    if (next.refreshTokenSeconds < next.accessTokenSeconds) {
      throw new Fault('malformed', 'a refresh token must be valid at least as long as an access token', {
        field: 'refreshTokenSeconds',
      });
    }
    const wrong = next.webhookHosts.find((host) => !isHostPattern(host));
    if (wrong !== undefined) {
      throw new Fault(
        'malformed',
        `${shorten(wrong)}: this must be a host name, or \`*.\` followed by a host name`,
        {
          field: 'webhookHosts',
        },
      );
    }
    if (isStricter(next.securityLevel, before.securityLevel)) await demandNoObstacles(next.securityLevel);
    const value = Buffer.from(JSON.stringify(next));
    const write = settingWrite(settingName, setting, value, false);
    const detail = Object.fromEntries(
      Object.entries(changes).map(([name, value]) => [
        name,
        typeof value === 'object' && value !== null ? shorten(value.join(' ')) : value,
      ]),
    );
    await store.commit([
      write,
      audit(context, principal.actor, { action: 'settings.update', object: 'settings', detail }),
    ]);
    context.configuration.expire();
    return next;
  }

  /** A CA or profile created concurrently is checked against the new level when it issues. */
  async function demandNoObstacles(level: SecurityLevel): Promise<void> {
    const found = await obstacles(context, level);
    if (found.length === 0) return;
    const shown = found.slice(0, 5).map(({ uniqueName, detail }) => `${uniqueName}: ${detail}`);
    const more = found.length > shown.length ? `; and ${found.length - shown.length} more` : '';
    throw new Fault('conflict', `the security level ${level} cannot be set yet: ${shown.join('; ')}${more}`, {
      id: 'security_level_not_met',
      values: { level },
      hint: 'replace or deactivate these CAs, and change these profiles or remove them from their domains; GET /api/settings/security-levels/ lists them all',
    });
  }

  return {
    levels: (principal) => securityLevelViews(context, principal),
    async read(principal) {
      demand(principal, 'settings.read');
      return currentSettings(store);
    },
    async change(principal, changes) {
      demand(principal, 'settings.write');
      for (let n = 1; ; n++) {
        try {
          return await change(principal, changes);
        } catch (error) {
          if (!(error instanceof Fault) || error.code !== 'conflict' || n >= tries) throw error;
        }
      }
    },
  };
}
