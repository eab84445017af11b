import { custodiansAfter, firstCustodians } from '../access/custody.ts';
import { demand, type Principal, readsOf } from '../access/principal.ts';
import { type Resource, resource, updateWrites } from '../access/resource.ts';
import type { Crls } from '../ca/crls.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import { type Handle, newHandle, type Page, type Write } from '../ports/store.ts';
import type { ChainedEvent } from '../records/audit-event.ts';
import { type Device, deviceTypes } from '../records/device.ts';
import { hasChanged, retried } from '../storage/commit.ts';
import type { WithCircuits } from '../upstream/circuits.ts';
import type { RevocationReason } from '../x509/crl.ts';
import { type Blocking, blockDevice, deviceWith, unblockDevice } from './block.ts';
import { type DeviceCommands, deviceCommands } from './commands.ts';
import { newNoOnboardingConfig, resetOnboarding } from './configs.ts';
import { ownConfiguration, removeDevice } from './remove-device.ts';
import { revokeCertificatesOf } from './revoke-certificates.ts';
import { type DeviceView, deviceViews, newDeviceView } from './state.ts';
import { deviceTimeline } from './timeline.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'issuers' | 'log' | 'store' | 'vault'>,
    WithCircuits,
    WithConfiguration,
    WithSettings {}

export interface DeviceInput {
  readonly commonName: string;
  readonly serialNumber?: string;
  readonly deviceType?: number;
  /** Absent: the default domain. */
  readonly domain?: number | null;
  readonly onboardingConfig?: number | null;
  /** If both this and `onboardingConfig` are absent, a configuration with generated secrets is created. */
  readonly noOnboardingConfig?: number | null;
}

export interface Devices extends Resource<'device', DeviceInput, DeviceView> {
  /** See `resetOnboarding`. Faults: notFound; conflict for a device without an onboarding configuration. */
  resetOnboarding(principal: Principal, id: number): Promise<DeviceView>;
  /** See `blockDevice`. Faults: notFound, conflict. */
  block(principal: Principal, id: number, blocking: Blocking): Promise<DeviceView>;
  /** Faults: notFound, conflict. */
  unblock(principal: Principal, id: number): Promise<DeviceView>;
  /**
   * See `revokeCertificatesOf`. Returns the number of revoked certificates. Faults: notFound, malformed with `field`.
   */
  revokeCertificates(principal: Principal, id: number, reason: RevocationReason): Promise<number>;
  /** See `deviceCommands`. */
  commands(principal: Principal, id: number): Promise<DeviceCommands>;
  /** See `deviceTimeline`. */
  timeline(
    principal: Principal,
    id: number,
    page: { readonly limit: number; readonly cursor?: string },
  ): Promise<Page<ChainedEvent>>;
}

const ownConfig = newHandle('configuration');

export function devices(context: Dependencies, crls: Crls): Devices {
  const collection = resource<'device', DeviceInput, Device>(context, {
    kind: 'device',
    reads: 'devices.read',
    writes: 'devices.write',
    view: (record) => record,
    summary: ({ commonName }) => ({ commonName }),
    async create(input, { actor }) {
      demandOneConfig(input);
      await demandUnshared(context, input.onboardingConfig);
      const before: Write[] = [];
      let noOnboardingConfig: number | null | Handle = input.noOnboardingConfig ?? null;
      if (input.onboardingConfig === undefined && input.noOnboardingConfig === undefined) {
        const values = newNoOnboardingConfig(context, {}, actor);
        before.push({ op: 'insert', kind: 'noOnboardingConfig', values, as: ownConfig });
        noOnboardingConfig = ownConfig;
      }
      return {
        before,
        values: {
          createdAt: context.clock.now(),
          commonName: input.commonName,
          serialNumber: input.serialNumber ?? '',
          deviceType: input.deviceType ?? deviceTypes.generic,
          domain:
            input.domain === undefined ? await defaultDomain(context) : await known(context, input.domain),
          onboardingConfig: input.onboardingConfig ?? null,
          noOnboardingConfig,
          blockedAt: null,
          deviceImport: null,
          custodians: firstCustodians(actor),
        },
      };
    },
    async update(device, changes, { actor }) {
      demandOneConfig({ ...device, ...changes });
      if (changes.domain !== undefined) await known(context, changes.domain);
      const { onboardingConfig, noOnboardingConfig } = changes;
      if (onboardingConfig !== device.onboardingConfig) await demandUnshared(context, onboardingConfig);
      const dropped = {
        onboardingConfig: replaced(device.onboardingConfig, onboardingConfig),
        noOnboardingConfig: replaced(device.noOnboardingConfig, noOnboardingConfig),
      };
      const custodians = Object.keys(changes).length === 0 ? undefined : custodiansAfter(device, actor);
      const set = { ...changes, ...(custodians && { custodians }) };
      const writes = updateWrites('device', device.id, set, {
        onboardingConfig: device.onboardingConfig,
        noOnboardingConfig: device.noOnboardingConfig,
        custodians: device.custodians,
      });
      return [...writes, ...(await ownConfiguration(context, dropped))];
    },
  });
  const view = async (device: Device): Promise<DeviceView> => (await deviceViews(context, [device]))[0]!;
  const again = async (id: number): Promise<DeviceView> => view(await deviceWith(context, id));
  return {
    ...collection,
    async list(principal, query) {
      const page = await collection.list(principal, query);
      return {
        ...page,
        records: await deviceViews(
          { clock: context.clock, store: readsOf(context, principal) },
          page.records,
        ),
      };
    },
    read: async (principal, id) => view(await collection.read(principal, id)),
    // A new device has no certificates yet, so there is nothing to read.
    create: async (principal, input) => newDeviceView(await collection.create(principal, input)),
    // Retries, because two concurrent changes could give the device two kinds of configuration: the later change has to
    // see the earlier one.
    update: async (principal, id, changes) =>
      view(await retried(() => collection.update(principal, id, changes), hasChanged)),
    async remove(principal, id) {
      demand(principal, 'devices.write');
      const cas = await removeDevice(context, id, principal.actor);
      await crls.generateAfterRevocation(cas, principal.actor);
    },
    resetOnboarding: async (principal, id) => view(await resetOnboarding(context, principal, id)),
    async block(principal, id, blocking) {
      await blockDevice(context, crls, principal, id, blocking);
      return again(id);
    },
    async unblock(principal, id) {
      await unblockDevice(context, principal, id);
      return again(id);
    },
    async revokeCertificates(principal, id, reason) {
      demand(principal, 'certificates.revoke');
      await deviceWith(context, id);
      return revokeCertificatesOf(context, crls, principal.actor, id, reason);
    },
    commands: (principal, id) => deviceCommands(context, principal, id),
    timeline: (principal, id, page) => deviceTimeline(context, principal, id, page),
  };
}

function demandOneConfig(device: Pick<DeviceInput, 'onboardingConfig' | 'noOnboardingConfig'>): void {
  if (device.onboardingConfig != null && device.noOnboardingConfig != null) {
    throw new Fault('malformed', 'a device has at most one of onboarding_config and no_onboarding_config', {
      field: 'noOnboardingConfig',
    });
  }
}

const replaced = (present: number | null, wanted: number | null | undefined): number | null =>
  wanted === undefined || wanted === present ? null : present;

/** The configuration records whether its device has been onboarded, so two devices cannot share it. */
async function demandUnshared(
  { store }: Pick<Ports, 'store'>,
  config: number | null | undefined,
): Promise<void> {
  if (config == null || !(await store.find('device', { onboardingConfig: config }))) return;
  throw new Fault('malformed', 'another device uses this onboarding configuration', {
    field: 'onboardingConfig',
  });
}

async function defaultDomain(context: WithConfiguration & WithSettings): Promise<number | null> {
  const configuration = await context.configuration.current();
  return configuration.domainNamed(context.settings.defaultDomain)?.id ?? null;
}

async function known(context: Pick<Ports, 'store'>, domain: number | null): Promise<number | null> {
  if (domain !== null && !(await context.store.get('domain', domain))) {
    throw new Fault('malformed', 'there is no such domain', { field: 'domain' });
  }
  return domain;
}
