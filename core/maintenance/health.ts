import { upstreamHealth } from '../administration/configured-issuers.ts';
import { issuingHealth } from '../configuration/ca-ends.ts';
import { configurationHealth, type WithConfiguration } from '../configuration/configuration.ts';
import { currentSettings } from '../configuration/runtime-settings.ts';
import { type Readiness, readiness } from '../health/readiness.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithCircuits } from '../upstream/circuits.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'issuers' | 'keyStores' | 'store'>,
    WithCircuits,
    WithConfiguration {}

/** Checks everything that the service depends on. See `readiness`. */
export const healthOf = (context: Dependencies): (() => Promise<Readiness>) => {
  const { store, clock, configuration, keyStores, issuers } = context;
  return readiness([
    ['store', () => store.health()],
    ['configuration', async () => configurationHealth(await configuration.current())],
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
