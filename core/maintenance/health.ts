import { upstreamHealth } from '../administration/configured-issuers.ts';
import { issuingHealth } from '../configuration/ca-ends.ts';
import { configurationHealth, type WithConfiguration } from '../configuration/configuration.ts';
import { currentSettings } from '../configuration/runtime-settings.ts';
import { type Readiness, readiness } from '../health/readiness.ts';
import type { Health } from '../ports/platform.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithDamagedRecords } from '../storage/damaged-records.ts';
import type { WithCircuits } from '../upstream/circuits.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'issuers' | 'keyStores' | 'store'>,
    WithCircuits,
    WithConfiguration,
    WithDamagedRecords {}

/** Checks everything that the service depends on. See `readiness`. */
export const healthOf = (context: Dependencies): (() => Promise<Readiness>) => {
  const { store, clock, configuration, keyStores, issuers, damagedRecords } = context;
  return readiness([
    ['store', () => store.health()],
    [
      'configuration',
      async () => both(configurationHealth(await configuration.current()), damagedRecords.health()),
    ],
    [
      'issuing',
      async () => {
        const { caWarningDays } = await currentSettings(store);
        return issuingHealth(await configuration.current(), clock.now(), caWarningDays);
      },
    ],
    ...[...keyStores].map(([name, keys]) => [`keys.${name}`, () => keys.health()] as const),
    ...[...issuers].map(
      ([name, issuer]) => [`issuers.${name}`, () => upstreamHealth(context, name, issuer)] as const,
    ),
  ]);
};

const both = (one: Health, other: Health): Health => {
  const details = [one, other].flatMap(({ ok, detail }) => (ok || detail === undefined ? [] : [detail]));
  return details.length === 0 ? { ok: true } : { ok: false, detail: details.join('; ') };
};
