import { audit } from '../audit/record.ts';
import type { LoadedProfile } from '../configuration/configuration.ts';
import { sameBytes } from '../der/bytes.ts';
import { hasExpired } from '../der/time.ts';
import { Fault } from '../fault.ts';
import type { IssuanceExchange } from '../issuance/enrolment-request.ts';
import { issuedCertificate } from '../issuance/issue.ts';
import type { Ports } from '../ports/ports.ts';
import type { Write } from '../ports/store.ts';
import type { ProfileOutcome } from '../profiles/apply.ts';
import type { ProfileRequest } from '../profiles/template.ts';
import type { Actor } from '../records/audit-event.ts';
import type { StoredCertificate } from '../records/certificate.ts';
import { type Device, onboardingStatus } from '../records/device.ts';
import { requesterActor } from '../requester/admit.ts';
import type { Requester } from '../requester/requester.ts';
import { responseRetention } from '../transactions/record.ts';
import { parseCertificate, subjectAltNamesOf } from '../x509/certificate.ts';
import { sameGeneralNames } from '../x509/general-name.ts';
import { sameName } from '../x509/name.ts';

const onboardedAlready = (): Fault =>
  new Fault('forbidden', 'this device has been onboarded already', {
    id: 'already_onboarded',
    hint: 'an administrator can reset its onboarding',
  });

/**
 * Returns the certificate that the device was onboarded with by the same IDevID, while the device may request it again, because the
 * response may have been lost. Returns undefined for a pending device and for a requester without an IDevID. Faults: forbidden for a
 * device that has been onboarded otherwise.
 */
export async function onboardingCertificate(
  { store, clock }: Pick<Ports, 'clock' | 'store'>,
  { onboarding }: Requester,
): Promise<StoredCertificate | undefined> {
  if (!onboarding) return undefined;
  const config = await store.get('onboardingConfig', onboarding.config);
  if (config?.idevidKey !== onboarding.key) throw onboardedAlready();
  if (config.onboardingStatus === onboardingStatus.pending) return undefined;
  const { onboardedWith: id } = config;
  const given = id === null ? undefined : await store.get('certificate', id);
  const now = clock.now();
  if (
    given?.status !== 'good' ||
    hasExpired(given.notValidAfter, now) ||
    now >= given.createdAt + responseRetention
  ) {
    throw onboardedAlready();
  }
  return given;
}

/** Faults: forbidden, unless the request is for the same certificate as `given` and expects no confirmation. */
export function demandSameCertificate(
  given: StoredCertificate,
  { domain }: Requester,
  { record: profile }: LoadedProfile,
  { publicKey }: ProfileRequest,
  { subject, extensions }: ProfileOutcome,
  exchange: IssuanceExchange | undefined,
): void {
  const certificate = parseCertificate(given.der);
  const same =
    given.domain === domain.id &&
    given.profile === profile.id &&
    sameBytes(certificate.spki, publicKey.spki) &&
    sameName(certificate.subject, subject) &&
    sameGeneralNames(subjectAltNamesOf(certificate), subjectAltNamesOf({ extensions }));
  if (!same || isToBeConfirmed(exchange)) throw onboardedAlready();
}

/** A certificate that is not confirmed is revoked, and the device can be onboarded again. */
const isToBeConfirmed = (exchange: IssuanceExchange | undefined): boolean =>
  exchange?.confirmWithin !== undefined;

const configOf = ({ onboarding }: Requester, device: Device | undefined): number | null =>
  device ? (onboarding?.config ?? device.onboardingConfig) : null;

/** Whether a domain credential can onboard the device; if not, `onboardedWrites` returns no writes. */
export const mayOnboard = (requester: Requester, device: Device | undefined): boolean =>
  configOf(requester, device) !== null;

/**
 * Returns the writes that onboard a device, for the commit that records its domain credential. With an IDevID they are guarded: of two
 * requests one gets a certificate, and the commit of the other fails (Fault conflict).
 */
export async function onboardedWrites(
  context: Pick<Ports, 'clock' | 'store'>,
  requester: Requester,
  device: Device | undefined,
  exchange: IssuanceExchange | undefined,
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
      set: {
        onboardingStatus: onboardingStatus.onboarded,
        onboardingProtocol: target.protocol,
        onboardedWith: onboarding && !isToBeConfirmed(exchange) ? issuedCertificate : null,
      },
    },
    audit(context, requesterActor(requester), {
      action: 'device.onboard',
      object: `device:${device.id}`,
      detail: { protocol: target.protocol, credential },
    }),
  ];
}

/**
 * Returns the writes that make a device pending again, for the commit that revokes the unconfirmed domain credential that the device
 * was onboarded with.
 */
export async function notOnboardedWrites(
  context: Pick<Ports, 'clock' | 'store'>,
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
  // An administrator reset the device in the meantime, and it has another domain credential.
  if (good > 1) return [];
  return [
    {
      op: 'update',
      kind: 'onboardingConfig',
      id: config.id,
      set: { onboardingStatus: onboardingStatus.pending, onboardingProtocol: null, onboardedWith: null },
    },
    audit(context, actor, {
      action: 'device.await',
      object: `device:${record.id}`,
      detail: { reason: 'the device did not confirm its domain credential' },
    }),
  ];
}
