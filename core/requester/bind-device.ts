import { audit, shorten } from '../audit/record.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import { newHandle, type Write } from '../ports/store.ts';
import type { Actor } from '../records/audit-event.ts';
import { type Device, deviceTypes, type OnboardingConfig, onboardingStatus } from '../records/device.ts';
import type { DevidRegistration } from '../records/domain.ts';
import { fingerprint } from '../x509/certificate.ts';
import { formatDistinguishedName } from '../x509/name.ts';
import { deviceNames, type Idevid } from './idevid.ts';

/** Binds a pending device to an IDevID, unless another request changed the device in the meantime. */
export async function bindDevice(
  context: Pick<Ports, 'clock' | 'store'>,
  device: Device,
  { id }: OnboardingConfig,
  idevid: Idevid,
  address: string,
): Promise<void> {
  await commitUnlessChanged(context, [
    {
      op: 'update',
      kind: 'onboardingConfig',
      id,
      where: { idevidKey: null, onboardingStatus: onboardingStatus.pending },
      set: bound(idevid),
    },
    audit(context, idevidActor(idevid, address), {
      action: 'device.meet',
      object: `device:${device.id}`,
      detail: { idevid: fingerprint(idevid.certificate.der) },
    }),
  ]);
}

/** Creates the device of an unknown IDevID, unless another request creates it concurrently. */
export async function createDevice(
  context: Pick<Ports, 'clock' | 'store'>,
  { uniqueName, truststore, domain }: DevidRegistration,
  serialNumber: string,
  idevid: Idevid,
  address: string,
): Promise<void> {
  const createdAt = context.clock.now();
  const commonName = await freeName(context, deviceNames(serialNumber, idevid));
  const config = {
    createdAt,
    protocols: ['cmp', 'est', 'rest'],
    // The device has its IDevID and needs no secret.
    estPassword: null,
    cmpSharedSecret: null,
    onboardingStatus: onboardingStatus.pending,
    onboardingProtocol: null,
    onboardedWith: null,
    custodians: [],
    idevidTruststore: truststore,
    ...bound(idevid),
  } as const;
  const device = {
    createdAt,
    commonName,
    serialNumber,
    deviceType: deviceTypes.generic,
    domain,
    onboardingConfig: newConfig,
    noOnboardingConfig: null,
    blockedAt: null,
    deviceImport: null,
    custodians: [],
  } as const;
  const detail = { commonName, serialNumber, registration: uniqueName };
  await commitUnlessChanged(context, [
    { op: 'insert', kind: 'onboardingConfig', values: config, as: newConfig },
    { op: 'insert', kind: 'device', values: device, as: newDevice },
    audit(
      context,
      idevidActor(idevid, address),
      {
        action: 'device.create',
        object: 'device',
        detail: { ...detail, idevid: fingerprint(idevid.certificate.der) },
      },
      newDevice,
    ),
  ]);
}

const newConfig = newHandle('onboarding configuration');
const newDevice = newHandle('device');

const bound = ({ key, certificate }: Idevid) => ({ idevidKey: key, idevid: certificate.der });

async function freeName({ store }: Pick<Ports, 'store'>, names: readonly string[]): Promise<string> {
  for (const commonName of names) if (!(await store.find('device', { commonName }))) return commonName;
  throw new Fault(
    'conflict',
    'every name that the registration can give the device is already used by another device',
  );
}

const idevidActor = ({ certificate }: Idevid, address: string): Actor => ({
  kind: 'unknown',
  id: null,
  name: shorten(formatDistinguishedName(certificate.subject)),
  address,
});

async function commitUnlessChanged({ store }: Pick<Ports, 'store'>, writes: readonly Write[]): Promise<void> {
  try {
    await store.commit(writes);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'conflict') throw error;
  }
}
