import type { Principal } from '../access/principal.ts';
import { audit } from '../audit/record.ts';
import type { Ports } from '../ports/ports.ts';
import type { NoOnboardingConfig } from '../records/device.ts';

type ConfigKind = 'onboardingConfig' | 'noOnboardingConfig';

type Dependencies = Pick<Ports, 'clock' | 'store'>;

const mostIds = 100;

/**
 * Records in the audit trail that somebody is about to see the secrets of `object`. To be awaited before they are shown: whoever has
 * read them can act as the device. Faults: those of a commit.
 */
export async function recordSecretsRead(
  context: Dependencies,
  { actor }: Principal,
  object: string,
  detail: Readonly<Record<string, string | number>> = {},
): Promise<void> {
  await context.store.commit([audit(context, actor, { action: 'device.readSecrets', object, detail })]);
}

export const hasSecrets = ({ estPassword, cmpSharedSecret }: NoOnboardingConfig): boolean =>
  estPassword !== null || cmpSharedSecret !== null;

/** The same for configurations, if the reader sees any secret of them: one event for all of them. */
export async function recordConfigsRead(
  context: Dependencies,
  principal: Principal,
  kind: ConfigKind,
  configs: readonly (NoOnboardingConfig & { readonly id: number })[],
): Promise<void> {
  if (!principal.permissions.has('devices.secrets')) return;
  const ids = configs.filter(hasSecrets).map(({ id }) => id);
  const [id] = ids;
  if (id === undefined) return;
  if (ids.length === 1) {
    const device = await context.store.find('device', { [kind]: id });
    return recordSecretsRead(context, principal, device ? `device:${device.id}` : `${kind}:${id}`);
  }
  const shown = ids.slice(0, mostIds).join(' ');
  const configurations = ids.length > mostIds ? `${shown} …` : shown;
  await recordSecretsRead(context, principal, kind, { count: ids.length, configurations });
}
