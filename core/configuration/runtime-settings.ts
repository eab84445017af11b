import type { Setting, Store } from '../ports/store.ts';
import { type SecurityLevel, usualLevel } from '../security/levels.ts';
import { settingContent } from '../storage/setting-content.ts';

/** What an administrator can change while the service runs, for all instances. */
export interface RuntimeSettings {
  /** How long a user's tokens are good for, in seconds. */
  readonly accessTokenSeconds: number;
  readonly refreshTokenSeconds: number;
  /** Metrics count certificates that run out within this. */
  readonly expiryWarningDays: number;
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
  logRetentionDays: null,
  webhookWarnDays: [30, 7, 1],
  webhookHosts: [],
  securityLevel: usualLevel,
};

export const settingName = 'runtime-settings';
/** As they stand now: what has not been changed is at its default. */
export async function currentSettings(store: Store): Promise<RuntimeSettings> {
  return decodeSettings(await store.find('setting', { name: settingName }));
}

export const decodeSettings = (setting: Setting | undefined): RuntimeSettings => ({
  ...defaults,
  ...(setting && settingContent<Partial<RuntimeSettings>>(setting)),
});
