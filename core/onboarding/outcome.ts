import type { Actor } from '../audit/event.ts';
import type { StoredCertificate } from '../ca/stored-certificate.ts';
import { audit, type Context } from '../context.ts';
import { type Device, onboardingStatus } from '../devices/device.ts';
import { requesterActor } from '../enrolment/admit.ts';
import type { Requester } from '../enrolment/requester.ts';
import { Fault } from '../fault.ts';
import type { Write } from '../ports/store.ts';

/** Faults: forbidden, unless the device that came with an IDevID still waits for its domain credential. */
export async function demandAwaited({ store }: Context, { onboarding }: Requester): Promise<void> {
  if (!onboarding) return;
  const config = await store.get('onboardingConfig', onboarding.config);
  const awaited = config?.onboardingStatus === onboardingStatus.pending;
  if (awaited && config.idevidKey === onboarding.key) return;
  throw new Fault('forbidden', 'this device has been onboarded already', {
    hint: 'an administrator can reset its onboarding',
  });
}

const configOf = ({ onboarding }: Requester, device: Device | undefined): number | null =>
  device ? (onboarding?.config ?? device.onboardingConfig) : null;

/** Whether the domain credential of a device may onboard it: else `onboardedWrites` gives none. */
export const mayOnboard = (requester: Requester, device: Device | undefined): boolean =>
  configOf(requester, device) !== null;

/**
 * What has to be in one commit with the domain credential of a device: it is onboarded. With an IDevID, guarded: of two requests one
 * gets a certificate, and the commit of the other fails (Fault conflict).
 */
export async function onboardedWrites(
  context: Context,
  requester: Requester,
  device: Device | undefined,
): Promise<readonly Write[]> {
  const { onboarding, credential, target } = requester;
  const id = configOf(requester, device);
  if (!device || id === null) return [];
  if (!onboarding) {
    const config = await context.store.get('onboardingConfig', id);
    if (config?.onboardingStatus !== onboardingStatus.pending) return [];
  }
  const where = onboarding && { onboardingStatus: onboardingStatus.pending, idevidKey: onboarding.key };
  return [
    {
      op: 'update',
      kind: 'onboardingConfig',
      id,
      ...(where && { where }),
      set: { onboardingStatus: onboardingStatus.onboarded, onboardingProtocol: target.protocol },
    },
    audit(context, requesterActor(requester), {
      action: 'device.onboard',
      object: `device:${device.id}`,
      detail: { protocol: target.protocol, credential },
    }),
  ];
}

/**
 * What has to be in one commit with the revocation of the domain credential that a device was onboarded with by its IDevID, and
 * that it did not take: it may come again.
 */
export async function notOnboardedWrites(
  context: Context,
  { device, profile }: StoredCertificate,
  actor: Actor,
): Promise<readonly Write[]> {
  const { store } = context;
  const record = device === null ? undefined : await store.get('device', device);
  const id = record?.onboardingConfig ?? null;
  const config = id === null ? undefined : await store.get('onboardingConfig', id);
  if (!record || config?.onboardingStatus !== onboardingStatus.onboarded) return [];
  const good = await store.count(
    'certificate',
    [
      { field: 'device', is: 'equal', value: record.id },
      { field: 'profile', is: 'equal', value: profile },
      { field: 'status', is: 'equal', value: 'good' },
    ],
    2,
  );
  // An administrator has reset it in between, and it has another one by now.
  if (good > 1) return [];
  return [
    {
      op: 'update',
      kind: 'onboardingConfig',
      id: config.id,
      set: { onboardingStatus: onboardingStatus.pending, onboardingProtocol: null },
    },
    audit(context, actor, {
      action: 'device.await',
      object: `device:${record.id}`,
      detail: { reason: 'its domain credential was not confirmed' },
    }),
  ];
}
