import type { Principal } from '../../access/principal.ts';
import type { WithConfiguration } from '../../configuration/configuration.ts';
import type { Ports } from '../../ports/ports.ts';
import type { Page } from '../../ports/store.ts';
import type { NoOnboardingConfig } from '../../records/device.ts';
import { openSecret } from '../configs.ts';
import { addCustodian } from '../secrets-read.ts';

interface Dependencies extends Pick<Ports, 'clock' | 'store' | 'vault'>, WithConfiguration {}

/** An imported device with its plain secrets; null for a missing secret. */
export interface ImportedDevice {
  readonly id: number;
  readonly commonName: string;
  readonly serialNumber: string;
  readonly domain: string | null;
  readonly estPassword: string | null;
  readonly cmpSharedSecret: string | null;
}

const perPage = 500;

/** Lists devices by id. The account becomes a custodian of each. Faults: malformed for an invalid cursor. */
export async function importedDevices(
  context: Dependencies,
  { actor }: Principal,
  deviceImport: number,
  cursor: string | undefined,
): Promise<Page<ImportedDevice>> {
  const { store } = context;
  const configuration = await context.configuration.current();
  const { records, next } = await store.list('device', {
    where: [{ field: 'deviceImport', is: 'equal', value: deviceImport }],
    order: { field: 'id', descending: false },
    limit: perPage,
    ...(cursor !== undefined && { cursor }),
  });
  const configs = async (
    kind: 'onboardingConfig' | 'noOnboardingConfig',
  ): Promise<ReadonlyMap<number, NoOnboardingConfig>> => {
    const value = records.flatMap((device) => device[kind] ?? []);
    const found = await store.list(kind, { where: [{ field: 'id', is: 'oneOf', value }], limit: perPage });
    await addCustodian(context, actor, kind, found.records);
    return new Map(found.records.map((config) => [config.id, config]));
  };
  const [onboarding, plain] = [await configs('onboardingConfig'), await configs('noOnboardingConfig')];
  return {
    records: records.map(({ id, commonName, serialNumber, domain, onboardingConfig, noOnboardingConfig }) => {
      const config = onboarding.get(onboardingConfig ?? 0) ?? plain.get(noOnboardingConfig ?? 0);
      const secret = (field: 'estPassword' | 'cmpSharedSecret') =>
        openSecret(context, field, config?.[field] ?? null);
      return {
        id,
        commonName,
        serialNumber,
        domain: domain === null ? null : (configuration.domain(domain)?.uniqueName ?? null),
        estPassword: secret('estPassword'),
        cmpSharedSecret: secret('cmpSharedSecret'),
      };
    }),
    ...(next !== undefined && { next }),
  };
}
