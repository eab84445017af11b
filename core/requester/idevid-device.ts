import type { Configuration } from '../configuration/configuration.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import {
  type Device,
  type EnrolmentProtocol,
  type OnboardingConfig,
  onboardingStatus,
} from '../records/device.ts';
import type { Domain } from '../records/domain.ts';
import { basicConstraintsOf, type Certificate, keyUsageOf, parseCertificate } from '../x509/certificate.ts';
import { bindDevice, createDevice } from './bind-device.ts';
import { type Idevid, readIdevid } from './idevid.ts';
import { type Trust, trustIn } from './idevid-trust.ts';

/** The device of an IDevID, with the onboarding configuration that is bound to the IDevID. */
export interface IdentifiedDevice {
  readonly device: Device;
  readonly domain: Domain;
  readonly onboarding: Onboarding;
}

export interface Onboarding {
  readonly config: number;
  /** See `OnboardingConfig.idevidKey`. */
  readonly key: string;
}

/** A certificate that this gateway did not issue, whose holder has proved possession of the key. */
export interface PresentedCertificate {
  readonly certificate: Certificate;
  /** Unverified, in any order. */
  readonly intermediates: readonly Certificate[];
  readonly address: string;
  readonly protocol: EnrolmentProtocol;
  /** The domain that the request names; undefined: any domain that accepts the device. */
  readonly domain: Domain | undefined;
}

/** Why a certificate is rejected. `unauthenticated`: it is not trusted; `forbidden`: it is, but not allowed here. */
export interface IdevidRefusal {
  readonly code: 'unauthenticated' | 'forbidden';
  readonly reason: string;
  readonly device?: Device;
}

const unauthenticated = (reason: string): IdevidRefusal => ({ code: 'unauthenticated', reason });
const forbidden = (reason: string, device?: Device): IdevidRefusal => ({
  code: 'forbidden',
  reason,
  ...(device && { device }),
});

export const isRefusal = (result: IdentifiedDevice | IdevidRefusal): result is IdevidRefusal =>
  'reason' in result;

/**
 * Finds the device of a manufacturer's certificate (IEEE 802.1AR), in this order: the device that the certificate is bound to; a device
 * that an administrator registered with its serial number and truststore; a new device, by the matching registration. Of several
 * matching registrations, the oldest (lowest id) counts, because patterns have no order of specificity. From then on the device is
 * bound to the public key in the certificate. What the device may do is decided later.
 */
export async function identifyDevice(
  context: Pick<Ports, 'clock' | 'store'>,
  configuration: Configuration,
  presented: PresentedCertificate,
): Promise<IdentifiedDevice | IdevidRefusal> {
  const { certificate, intermediates } = presented;
  const idevid = readIdevid(certificate);
  if (!idevid)
    return unauthenticated('this gateway did not issue it, and without a serial number it is no IDevID');
  const trust = trustIn(configuration, certificate, intermediates, context.clock.now());
  for (let n = 0; n < tries; n++) {
    const bound = await context.store.find('onboardingConfig', { idevidKey: idevid.key });
    const result = bound
      ? await boundDevice(context, configuration, presented, idevid, trust, bound)
      : await bindOrCreate(context, configuration, presented, idevid, trust);
    if (result) return result;
  }
  throw new Fault('unavailable', 'the device was modified concurrently; try again', { retryAfter: 5 });
}

const tries = 5;

/** Checks the device that the IDevID is bound to. */
async function boundDevice(
  context: Pick<Ports, 'store'>,
  configuration: Configuration,
  presented: PresentedCertificate,
  idevid: Idevid,
  trust: Trust,
  config: OnboardingConfig,
): Promise<IdentifiedDevice | IdevidRefusal> {
  const { records } = await context.store.list('device', {
    where: [{ field: 'onboardingConfig', is: 'equal', value: config.id }],
    limit: 2,
  });
  const [device, another] = records;
  if (!device || another)
    return forbidden('its onboarding configuration does not belong to exactly one device');
  if (config.idevidTruststore === null)
    return unauthenticated('its onboarding configuration names no truststore');
  const untrusted = demandIdevid(idevid, trust.of(config.idevidTruststore));
  if (untrusted) return untrusted;
  // A key that is used in several devices identifies none of them.
  const own = config.idevid && readIdevid(parseCertificate(config.idevid));
  if (!own?.serialNumbers.some((number) => idevid.serialNumbers.includes(number))) {
    return forbidden('its key belongs to another device', device);
  }
  return admitted(configuration, presented, device, config, idevid);
}

/** Binds or creates a device. Returns undefined when a device may now be bound, here or by a concurrent request: search again. */
async function bindOrCreate(
  context: Pick<Ports, 'clock' | 'store'>,
  configuration: Configuration,
  presented: PresentedCertificate,
  idevid: Idevid,
  trust: Trust,
): Promise<IdentifiedDevice | IdevidRefusal | undefined> {
  const { domain } = presented;
  const expected = await expectedDevices(context, idevid);
  const registrations = configuration.registrations.filter(
    ({ record }) => domain === undefined || record.domain === domain.id,
  );
  const truststores = [
    ...expected.map(({ truststore }) => truststore),
    ...registrations.map(({ record }) => record.truststore),
  ];
  if (truststores.length === 0) return unauthenticated('this gateway did not issue it');
  const untrusted = demandIdevid(idevid, trust.ofAny(truststores));
  if (untrusted) return untrusted;

  const namesakes = expected.filter(({ truststore }) => trust.of(truststore).ok);
  const pending = namesakes.find(({ config }) => isPending(config));
  if (pending) {
    const { device, config } = pending;
    const result = admitted(configuration, presented, device, config, idevid);
    if (isRefusal(result)) return result;
    await bindDevice(context, device, config, idevid, presented.address);
    return undefined;
  }
  const [namesake] = namesakes;
  if (namesake)
    return forbidden('the device with its serial number is bound to another IDevID', namesake.device);

  for (const { record, matches } of registrations) {
    const serialNumber = idevid.serialNumbers.find(matches);
    if (serialNumber === undefined || !trust.of(record.truststore).ok) continue;
    await createDevice(context, record, serialNumber, idevid, presented.address);
    return undefined;
  }
  return forbidden('no DevID registration matches its serial number');
}

/** A device that expects an IDevID with this serial number, or is bound to one. */
interface Expected {
  readonly device: Device;
  readonly config: OnboardingConfig;
  readonly truststore: number;
}

const isPending = (config: OnboardingConfig): boolean =>
  config.idevidKey === null && config.onboardingStatus === onboardingStatus.pending;

async function expectedDevices(
  { store }: Pick<Ports, 'store'>,
  { serialNumbers }: Idevid,
): Promise<readonly Expected[]> {
  const { records: devices } = await store.list('device', {
    where: [{ field: 'serialNumber', is: 'oneOf', value: serialNumbers }],
    order: { field: 'id', descending: false },
    limit: 1000,
  });
  const ids = devices.flatMap(({ onboardingConfig }) => onboardingConfig ?? []);
  if (ids.length === 0) return [];
  const { records } = await store.list('onboardingConfig', {
    where: [{ field: 'id', is: 'oneOf', value: ids }],
    limit: 1000,
  });
  const configs = new Map(records.map((config) => [config.id, config]));
  return devices.flatMap((device) => {
    const config = configs.get(device.onboardingConfig ?? 0);
    const truststore = config?.idevidTruststore ?? null;
    return config && truststore !== null ? [{ device, config, truststore }] : [];
  });
}

/** Returns why the certificate is not accepted; undefined when it is an IDevID that the truststore trusts. */
function demandIdevid({ certificate }: Idevid, path: ReturnType<Trust['of']>): IdevidRefusal | undefined {
  if (!path.ok) return unauthenticated(words[path.reason] ?? path.detail);
  if (basicConstraintsOf(certificate)?.ca) return unauthenticated('it is the certificate of a CA');
  const usage = keyUsageOf(certificate);
  if (usage && !usage.includes('digitalSignature')) return unauthenticated('its key may not sign messages');
  return undefined;
}

const words: Partial<Record<Extract<ReturnType<Trust['of']>, { ok: false }>['reason'], string>> = {
  unknownIssuer: 'this gateway did not issue it, and no truststore trusts its issuer',
};

function admitted(
  configuration: Configuration,
  presented: PresentedCertificate,
  device: Device,
  config: OnboardingConfig,
  { key }: Idevid,
): IdentifiedDevice | IdevidRefusal {
  if (device.blockedAt !== null) return forbidden('its device is blocked', device);
  const domain = device.domain === null ? undefined : configuration.domain(device.domain);
  if (!domain) return forbidden('its device belongs to no domain', device);
  if (presented.domain && presented.domain.id !== domain.id) return forbidden('another domain', device);
  if (!config.protocols.includes(presented.protocol)) {
    return forbidden(`its device may not use ${presented.protocol}`, device);
  }
  return { device, domain, onboarding: { config: config.id, key } };
}
