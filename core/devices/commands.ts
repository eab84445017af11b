import { demand, type Principal } from '../access/principal.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import { type NoOnboardingConfig, type OnboardingConfig, onboardingStatus } from '../records/device.ts';
import { deviceWith } from './block.ts';
import { openSecret } from './configs.ts';
import { enrolmentLines, lineTitles } from './enrolment-lines.ts';
import { addCustodian, hasSecrets, recordSecretsRead } from './secrets-read.ts';

interface Dependencies extends Pick<Ports, 'clock' | 'store' | 'vault'>, WithConfiguration, WithSettings {}

/** Shell commands by name, and the purpose of each. */
export interface DeviceCommands {
  readonly commands: Readonly<Record<string, string>>;
  readonly titles: Readonly<Record<string, string>>;
}

/** Replaces a secret that the account may not read. */
const hidden = 'SECRET';

/**
 * Returns the commands with which a device obtains and renews its certificate, for each enabled protocol that it may
 * use. Empty for a device without a domain. Shows secrets only to accounts with `devices.secrets`. Faults: forbidden,
 * notFound.
 */
export async function deviceCommands(
  context: Dependencies,
  principal: Principal,
  id: number,
): Promise<DeviceCommands> {
  demand(principal, 'devices.read');
  const { store, settings } = context;
  const device = await deviceWith(context, id);
  const { onboardingConfig, noOnboardingConfig, commonName } = device;
  const onboarding =
    onboardingConfig === null ? undefined : await store.get('onboardingConfig', onboardingConfig);
  const config: OnboardingConfig | NoOnboardingConfig | undefined =
    onboarding ??
    (noOnboardingConfig === null ? undefined : await store.get('noOnboardingConfig', noOnboardingConfig));
  const domain =
    device.domain === null ? undefined : (await context.configuration.current()).domain(device.domain);
  if (!domain) return { commands: {}, titles: {} };
  const maySee = principal.permissions.has('devices.secrets');
  if (maySee && config && hasSecrets(config)) {
    const kind = onboarding ? 'onboardingConfig' : 'noOnboardingConfig';
    await addCustodian(context, principal.actor, kind, [config]);
    await recordSecretsRead(context, principal, `device:${id}`);
  }
  const secret = (field: 'estPassword' | 'cmpSharedSecret'): string | null => {
    const sealed = config?.[field] ?? null;
    return sealed && !maySee ? hidden : openSecret(context, field, sealed);
  };
  const commands = enrolmentLines({
    id,
    commonName,
    domain: domain.uniqueName,
    password: secret('estPassword'),
    sharedSecret: secret('cmpSharedSecret'),
    awaitsIdevid:
      onboarding !== undefined &&
      onboarding.idevidTruststore !== null &&
      onboarding.onboardingStatus === onboardingStatus.pending,
    baseUrl: settings.baseUrl,
    publicUrl: settings.publicUrl,
    protocols: new Set(
      // A device without a configuration renews the certificate that it already has.
      settings.protocols.filter((one) => !config || config.protocols.some((allowed) => allowed === one)),
    ),
  });
  return {
    commands,
    titles: Object.fromEntries(Object.keys(commands).map((name) => [name, lineTitles[name] ?? name])),
  };
}
