import type { Store } from '../ports/store.ts';
import type { Setting } from '../records/setting.ts';
import { type SecurityLevel, securityLevels, usualLevel } from '../security/levels.ts';
import { settingContent } from '../storage/setting-content.ts';

/** Settings that an administrator can change at run time, for all instances. */
export interface RuntimeSettings {
  /** The lifetime of a user's tokens, in seconds. */
  readonly accessTokenSeconds: number;
  readonly refreshTokenSeconds: number;
  /** Metrics count certificates that expire within this time. */
  readonly expiryWarningDays: number;
  /** Health warns about an issuing CA that expires within this time. */
  readonly caWarningDays: number;
  /** Rotated log files older than this are deleted; null keeps them until rotation drops them. */
  readonly logRetentionDays: number | null;
  /** Webhooks are notified of a certificate this many days before it expires, once for each number. */
  readonly webhookWarnDays: readonly number[];
  /** Hosts that webhooks may use, `*.example.com` for all names below it; empty: all hosts. */
  readonly webhookHosts: readonly string[];
  /** The security level for keys, validity periods and protocols. */
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

/** The settings in force, and the damage of their record, if any. */
export interface StoredSettings {
  readonly record: Setting | undefined;
  readonly settings: RuntimeSettings;
  readonly damage:
    | { readonly record: { readonly id: number; readonly uniqueName: string }; readonly cause: unknown }
    | undefined;
}

/**
 * Returns the current settings, with defaults for those never changed. While the record is damaged, the defaults apply
 * at the strictest security level and without webhook hosts, so that nothing is permitted that the settings prohibited.
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

/** Returns whether every member has the type of its default; members that only a newer version knows are ignored. */
const hasForm = (content: { readonly [M in keyof RuntimeSettings]?: unknown }): boolean =>
  Object.entries(defaults).every(([name, usual]) => {
    const value = content[name as keyof RuntimeSettings];
    if (value === undefined) return true;
    if (name === 'logRetentionDays') return value === null || typeof value === 'number';
    return typeof value === typeof usual && Array.isArray(value) === Array.isArray(usual);
  });
