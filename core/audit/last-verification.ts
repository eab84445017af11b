import type { Clock } from '../ports/platform.ts';
import type { Store } from '../ports/store.ts';
import { settingContent, settingWrite } from '../storage/setting-content.ts';

/** The result of the last verification of the audit trail, by any instance or command. */
export interface LastVerification {
  /** Ms since 1970. */
  readonly at: number;
  readonly isIntact: boolean;
}

const name = 'audit-verification';

/** Returns undefined before the first verification. Faults: internal if the setting is damaged. */
export async function lastVerification(store: Store): Promise<LastVerification | undefined> {
  const setting = await store.find('setting', { name });
  return (
    setting &&
    settingContent<LastVerification>(
      setting,
      ({ at, isIntact }) => Number.isSafeInteger(at) && typeof isIntact === 'boolean',
    )
  );
}

/** Stores the result of a verification. Faults: conflict if another one ended at the same moment. */
export async function recordVerification(store: Store, clock: Clock, isIntact: boolean): Promise<void> {
  const result: LastVerification = { at: clock.now(), isIntact };
  const setting = await store.find('setting', { name });
  await store.commit([settingWrite(name, setting, Buffer.from(JSON.stringify(result)), true)]);
}
