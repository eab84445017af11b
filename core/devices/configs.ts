import { custodiansAfter, firstCustodians, type InCustody } from '../access/custody.ts';
import { demand, type Principal } from '../access/principal.ts';
import { type Resource, type ResourceRules, resource, updateWrites } from '../access/resource.ts';
import { demandIdevidTruststore } from '../administration/idevid-truststore.ts';
import { audit } from '../audit/record.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Kind } from '../ports/store.ts';
import type { Actor } from '../records/audit-event.ts';
import {
  type Device,
  type EnrolmentProtocol,
  type NoOnboardingConfig,
  type OnboardingConfig,
  onboardingStatus,
} from '../records/device.ts';
import { newSecret, secretContext } from '../security/secrets.ts';
import { hasChanged, retried } from '../storage/commit.ts';
import { recordConfigsRead } from './secrets-read.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'log' | 'store' | 'vault'>,
    WithConfiguration {}

/** The writable fields. An absent secret is generated; null means no secret. */
export interface NoOnboardingInput {
  readonly protocols?: readonly EnrolmentProtocol[];
  readonly estPassword?: string | null;
  readonly cmpSharedSecret?: string | null;
}

export interface OnboardingInput extends NoOnboardingInput {
  readonly onboardingStatus?: number;
  readonly onboardingProtocol?: EnrolmentProtocol | null;
  readonly idevidTruststore?: number | null;
}

/** The plain secret for accounts with the permission `devices.secrets`; null for others and if there is none. */
export interface NoOnboardingView
  extends Omit<NoOnboardingConfig, 'estPassword' | 'cmpSharedSecret' | 'custodians'> {
  readonly estPassword: string | null;
  readonly cmpSharedSecret: string | null;
}

export interface OnboardingView
  extends Omit<
    OnboardingConfig,
    'estPassword' | 'cmpSharedSecret' | 'custodians' | 'idevidKey' | 'onboardedWith'
  > {
  readonly estPassword: string | null;
  readonly cmpSharedSecret: string | null;
}

const secretFields = ['estPassword', 'cmpSharedSecret'] as const;
const allProtocols: readonly EnrolmentProtocol[] = ['cmp', 'est', 'rest'];

/** Returns the values of a new configuration, with generated secrets where none are given. */
export function newNoOnboardingConfig(
  context: Dependencies,
  input: NoOnboardingInput,
  actor: Actor,
): Omit<NoOnboardingConfig, 'id'> {
  const secret = (field: (typeof secretFields)[number]): Uint8Array | null => {
    const given = input[field];
    return given === null ? null : seal(context, field, given ?? newSecret(context.entropy));
  };
  return {
    createdAt: context.clock.now(),
    protocols: input.protocols ?? allProtocols,
    estPassword: secret('estPassword'),
    cmpSharedSecret: secret('cmpSharedSecret'),
    custodians: firstCustodians(actor),
  };
}

/** Returns the plain secret, or null if there is none. */
export function openSecret(
  context: Pick<Ports, 'vault'>,
  field: (typeof secretFields)[number],
  sealed: Uint8Array | null,
): string | null {
  return sealed && Buffer.from(context.vault.open(sealed, secretContext[field])).toString('utf8');
}

function seal(
  context: Pick<Ports, 'vault'>,
  field: (typeof secretFields)[number],
  secret: string,
): Uint8Array {
  return context.vault.seal(Buffer.from(secret, 'utf8'), secretContext[field]);
}

/** Seals the plain secrets in `changes` and leaves the rest unchanged. */
function sealed(context: Pick<Ports, 'vault'>, changes: Partial<OnboardingInput>): object {
  const set: Record<string, unknown> = { ...changes };
  for (const field of secretFields) {
    const given = changes[field];
    if (given !== undefined) set[field] = given === null ? null : seal(context, field, given);
  }
  return set;
}

/**
 * Returns the writes of a change that makes the account a custodian. Of two concurrent changes, the second includes the
 * first.
 */
const changeWrites = (
  kind: 'noOnboardingConfig' | 'onboardingConfig',
  { id, ...present }: InCustody & { readonly id: number },
  set: object,
  { actor }: Principal,
) => {
  const custodians = Object.keys(set).length === 0 ? undefined : custodiansAfter(present, actor);
  return custodians === undefined
    ? updateWrites(kind, id, set)
    : updateWrites(kind, id, { ...set, custodians }, { custodians: present.custodians });
};

function shown<C extends NoOnboardingConfig>(context: Pick<Ports, 'vault'>, config: C, principal: Principal) {
  const mayRead = principal.permissions.has('devices.secrets');
  return {
    ...config,
    estPassword: mayRead ? openSecret(context, 'estPassword', config.estPassword) : null,
    cmpSharedSecret: mayRead ? openSecret(context, 'cmpSharedSecret', config.cmpSharedSecret) : null,
  };
}

/**
 * Checks the permission to set secrets, because a person who sets a secret can act as the device. Faults: forbidden.
 */
function demandForSecrets(principal: Principal, input: Partial<NoOnboardingInput>): void {
  if (secretFields.some((field) => typeof input[field] === 'string')) demand(principal, 'devices.secrets');
}

/**
 * Accounts that may not read secrets see null for each secret; if they send null back, the secret stays unchanged.
 * Faults: forbidden.
 */
function permitted<I extends Partial<NoOnboardingInput>>(principal: Principal, changes: I): Partial<I> {
  demandForSecrets(principal, changes);
  if (principal.permissions.has('devices.secrets')) return changes;
  const { estPassword: _, cmpSharedSecret: __, ...others } = changes;
  return others as Partial<I>;
}

async function demandTruststore(
  context: Pick<Ports, 'store'>,
  { idevidTruststore }: Partial<OnboardingInput>,
): Promise<void> {
  if (idevidTruststore != null) await demandIdevidTruststore(context, idevidTruststore, 'idevidTruststore');
}

/** A device that onboards again may have another IDevID, for example after a part was replaced. */
export const notOnboarded = {
  onboardingStatus: onboardingStatus.pending,
  onboardingProtocol: null,
  idevid: null,
  idevidKey: null,
  onboardedWith: null,
} as const;

const common = { reads: 'devices.read', writes: 'devices.write', summary: () => ({}) } as const;

/** An update begins anew when another account has become a custodian meanwhile. */
const changingAgain = <K extends Kind, Input, View>(
  collection: Resource<K, Input, View>,
): Resource<K, Input, View> => ({
  ...collection,
  update: (principal, id, changes) => retried(() => collection.update(principal, id, changes), hasChanged),
});

export function noOnboardingConfigs(
  context: Dependencies,
): Resource<'noOnboardingConfig', NoOnboardingInput, NoOnboardingView> {
  const rules: ResourceRules<'noOnboardingConfig', NoOnboardingInput, NoOnboardingView> = {
    ...common,
    kind: 'noOnboardingConfig',
    view: (record, principal) => shown(context, record, principal),
    disclose: (records, principal) => recordConfigsRead(context, principal, 'noOnboardingConfig', records),
    async create(input, principal) {
      demandForSecrets(principal, input);
      const values = newNoOnboardingConfig(context, input, principal.actor);
      return { values };
    },
    update: async (config, changes, principal) =>
      changeWrites('noOnboardingConfig', config, sealed(context, permitted(principal, changes)), principal),
    remove: async ({ id }) => [{ op: 'delete', kind: 'noOnboardingConfig', id }],
  };
  return changingAgain(resource(context, rules));
}

export function onboardingConfigs(
  context: Dependencies,
): Resource<'onboardingConfig', OnboardingInput, OnboardingView> {
  const rules: ResourceRules<'onboardingConfig', OnboardingInput, OnboardingView> = {
    ...common,
    kind: 'onboardingConfig',
    view: (record, principal) => shown(context, record, principal),
    disclose: (records, principal) => recordConfigsRead(context, principal, 'onboardingConfig', records),
    async create(input, principal) {
      demandForSecrets(principal, input);
      await demandTruststore(context, input);
      const values = {
        ...newNoOnboardingConfig(context, input, principal.actor),
        ...notOnboarded,
        onboardingStatus: input.onboardingStatus ?? onboardingStatus.pending,
        onboardingProtocol: input.onboardingProtocol ?? null,
        idevidTruststore: input.idevidTruststore ?? null,
      };
      return { values };
    },
    async update(config, input, principal) {
      const changes = permitted(principal, input);
      await demandTruststore(context, changes);
      const { pending } = onboardingStatus;
      const again = changes.onboardingStatus === pending && config.onboardingStatus !== pending;
      const set = again ? { ...notOnboarded, ...changes } : changes;
      return changeWrites('onboardingConfig', config, sealed(context, set), principal);
    },
    remove: async ({ id }) => [{ op: 'delete', kind: 'onboardingConfig', id }],
  };
  return changingAgain(resource(context, rules));
}

/**
 * Lets a device onboard again, with any IDevID of its truststore that has its serial number. Its certificates stay as
 * they are. Faults: forbidden, notFound, conflict.
 */
export async function resetOnboarding(
  context: Pick<Ports, 'clock' | 'store'>,
  principal: Principal,
  id: number,
): Promise<Device> {
  demand(principal, 'devices.write');
  // Another account may become a custodian meanwhile.
  return retried(async () => {
    const device = await context.store.get('device', id);
    if (!device) throw new Fault('notFound', 'there is no such device');
    const { onboardingConfig, custodians: present } = device;
    if (onboardingConfig === null)
      throw new Fault('conflict', 'the device has no onboarding configuration', {
        id: 'no_onboarding_config',
      });
    const custodians = custodiansAfter(device, principal.actor);
    await context.store.commit([
      { op: 'update', kind: 'onboardingConfig', id: onboardingConfig, set: notOnboarded },
      ...(custodians
        ? [{ op: 'update', kind: 'device', id, where: { custodians: present }, set: { custodians } } as const]
        : []),
      audit(context, principal.actor, { action: 'device.resetOnboarding', object: `device:${id}` }),
    ]);
    return device;
  });
}
