import type { Store } from '../ports/store.ts';
import type { Setting } from '../records/setting.ts';
import { type SecurityLevel, securityLevels, usualLevel } from '../security/levels.ts';
import { settingContent } from '../storage/setting-content.ts';

/** What an administrator can change while the service runs, for all instances. */
export interface RuntimeSettings {
  /** How long a user's tokens are good for, in seconds. */
  readonly accessTokenSeconds: number;
  readonly refreshTokenSeconds: number;
  /** Metrics count certificates that run out within this. */
  readonly expiryWarningDays: number;
  /** Health warns of an issuing CA that expires within this. */
  readonly caWarningDays: number;
  /** Rotated log files older than this are deleted; null keeps them until rotation drops them. */
  readonly logRetentionDays: number | null;
  /** Webhooks are told of a certificate so many days before it ends, each time. */
  readonly webhookWarnDays: readonly number[];
  /** Hosts that webhooks may name, `*.example.com` for all below one; none: all hosts. */
  readonly webhookHosts: readonly string[];
  /** What keys, validities and protocols have to come up to. */
  readonly securityLevel: SecurityLevel;
}

const defaults: RuntimeSettings = {
  accessTokenSeconds: 15 * 60,
  refreshTokenSeconds: 24 * 3600,
  expiryWarningDays: 30,
  caWarningDays: 180,
  logRetentionDays: null,
  webhookWarnDays: [30, 7, 1],
  webhookHosts: [],
  securityLevel: usualLevel,
};

export const settingName = 'runtime-settings';

/** The settings that are in force, and what is wrong with their record where it is damaged. */
export interface StoredSettings {
  readonly record: Setting | undefined;
  readonly settings: RuntimeSettings;
  readonly damage:
    | { readonly record: { readonly id: number; readonly uniqueName: string }; readonly cause: unknown }
    | undefined;
}

/**
 * As they stand now: what has not been changed is at its default. While the record is damaged, the defaults apply at the strictest
 * security level and without hosts for webhooks, so that nothing is allowed that the settings forbade.
 */
export async function storedSettings(store: Store): Promise<StoredSettings> {
  const record = await store.find('setting', { name: settingName });
  if (!record) return { record, settings: defaults, damage: undefined };
  try {
    const content = settingContent<Partial<RuntimeSettings>>(record, hasForm);
    return { record, settings: { ...defaults, ...content }, damage: undefined };
  } catch (cause) {
    const damaged = { id: record.id, uniqueName: settingName };
    return { record, settings: strictest, damage: { record: damaged, cause } };
  }
}

export const currentSettings = async (store: Store): Promise<RuntimeSettings> =>
  (await storedSettings(store)).settings;

const strictest: RuntimeSettings = {
  ...defaults,
  securityLevel: securityLevels.at(-1)!,
  webhookHosts: ['none.invalid'],
};

/** Whether every member that is there has the type of its default; a member that only a newer version knows is passed over. */
const hasForm = (content: { readonly [M in keyof RuntimeSettings]?: unknown }): boolean =>
  Object.entries(defaults).every(([name, usual]) => {
    const value = content[name as keyof RuntimeSettings];
    if (value === undefined) return true;
    if (name === 'logRetentionDays') return value === null || typeof value === 'number';
    return typeof value === typeof usual && Array.isArray(value) === Array.isArray(usual);
  });
