import { unregisteredDevice } from '../ca/own-credentials.ts';
import type { Configuration, LoadedProfile } from '../configuration/configuration.ts';
import { resolveCa, resolveProfile } from '../configuration/target.ts';
import { Fault } from '../fault.ts';
import type { EnrolmentRequest, ReceivedRequest } from '../issuance/enrolment-request.ts';
import { mayOnboard, onboardingCertificate } from '../onboarding/onboarded.ts';
import type { Ports } from '../ports/ports.ts';
import type { ProfileRequest } from '../profiles/template.ts';
import type { StoredCertificate } from '../records/certificate.ts';
import type { Device } from '../records/device.ts';
import { blocked, domainCredentialProfile, requesterActor } from '../requester/admit.ts';
import { requesterKey } from '../requester/request-identity.ts';
import type { Requester } from '../requester/requester.ts';
import { commonName, type Name } from '../x509/name.ts';
import { verifyParsed, verifyPkcs10 } from '../x509/request.ts';
import { requestWithoutKey, type WantedKey, wantedKeyOfCrmf, wantedKeyOfPkcs10 } from './central-key.ts';
import { demandChannelBinding } from './channel-binding.ts';
import { type Entitlement, entitlements, isDomainCredential } from './entitlement.ts';
import { onlyRenewals, renamed } from './name-change.ts';
import { demandInDomain, type IssuancePlan, type Proven } from './plan.ts';
import { type Renewed, renewedCertificate } from './renewed.ts';

type Dependencies = Pick<Ports, 'clock' | 'store'>;

/** The plan of a request that came over an enrolment protocol. */
export interface RequesterPlan extends IssuancePlan {
  /** The certificate onboards its device, if the device still waits for that. */
  readonly onboards: boolean;
  /** The certificate that the device was onboarded with by the same IDevID; the device gets that one again, or none. */
  readonly given: StoredCertificate | undefined;
}

/** Plans what the requester is entitled to. Faults: those of `Gateway.enrol` that concern the request. */
export async function planForRequester(
  context: Dependencies,
  requester: Requester,
  ask: EnrolmentRequest,
): Promise<RequesterPlan> {
  const { configuration, domain, onboarding } = requester;
  const renewed = ask.renews
    ? await renewedCertificate(context, requester, ask.operation, ask.renews)
    : requester.presented;
  const profile = profileFor(configuration, requester, ask, renewed);
  const entitlement = entitlements[requester.credential](requester, ask, profile, renewed);
  if (entitlement === 'nothing') {
    throw new Fault('forbidden', 'these credentials do not permit a certificate of this profile');
  }
  const given = onboarding ? await onboardingCertificate(context, requester) : undefined;
  const proven = verified(requester, ask);
  demandChannelBinding(ask, (proven.request ?? proven.wanted).challengePassword);
  const change = proven.request?.nameChange;
  if (change && entitlement !== 'renewal') throw new Fault('badCsr', onlyRenewals);
  const unchanged = proven.request ?? requestWithoutKey(proven.wanted);
  const requested = change ? renamed(unchanged, change) : unchanged;
  const found = deviceFor(context, requester, entitlement, requested, renewed);
  const device = found instanceof Promise ? await found : found;
  // A registration authority requests certificates for other devices, which `admit` has not checked.
  if (device && device.blockedAt !== null) throw new Fault('forbidden', blocked, { id: 'device_blocked' });
  if (device) demandInDomain(device, domain);
  if (change && !device) {
    throw new Fault(
      'forbidden',
      'the names cannot change: the certificate to be renewed was not issued to a device',
    );
  }
  // Approval policies treat a certificate with other names as a new one.
  const operation = entitlement === 'renewal' && !change ? 'renewal' : 'issuance';
  return {
    configuration,
    domain,
    profile,
    ca: resolveCa(configuration, domain),
    requester: requesterKey(requester),
    actor: requesterActor(requester),
    protocol: requester.target.protocol,
    operation,
    device,
    holder: device ?? (renewed && operation === 'renewal' ? sameHolder(renewed) : undefined),
    ignoresName: onboarding !== undefined,
    renewed,
    proven,
    requested,
    keepsKey: false,
    onboards: entitlement !== 'renewal' && isDomainCredential(profile) && mayOnboard(requester, device),
    given,
  };
}

/** Verifies the proof of possession, for which only a registration authority may vouch (RFC 9483 §5.2.3.2). */
function verified({ credential }: Requester, { request }: EnrolmentRequest): Proven {
  const raVerified = credential === 'registrationAuthority';
  const wanted = wantedOf(request);
  if (!wanted) {
    return {
      request: request.kind === 'pkcs10' ? verifyPkcs10(request.der) : verifyParsed(request, { raVerified }),
    };
  }
  // The registration authority could read the private key of the device.
  if (raVerified) {
    throw new Fault(
      'forbidden',
      'server-side key generation is available only to the device itself, not to a registration authority',
    );
  }
  return { wanted };
}

function wantedOf(request: ReceivedRequest): WantedKey | undefined {
  if (request.kind === 'crmf') return wantedKeyOfCrmf(request);
  return request.keyMadeHere ? wantedKeyOfPkcs10(request.der) : undefined;
}

/** The profile of the path; without one that of the certificate to be renewed, else the domain credential's. */
function profileFor(
  configuration: Configuration,
  { domain, target }: Requester,
  ask: EnrolmentRequest,
  renewed: Renewed | undefined,
): LoadedProfile {
  if (target.profile === undefined && ask.operation === 'renew' && renewed) {
    const profile =
      renewed.record.profile === null ? undefined : configuration.profile(renewed.record.profile);
    if (!profile) throw new Fault('forbidden', 'the profile of the certificate to be renewed was deleted');
    return profile;
  }
  return resolveProfile(configuration, domain, target.profile ?? domainCredentialProfile);
}

/** The device that the certificate is for. */
function deviceFor(
  context: Pick<Ports, 'store'>,
  requester: Requester,
  entitlement: Entitlement,
  request: ProfileRequest,
  renewed: Renewed | undefined,
): Device | undefined | Promise<Device | undefined> {
  if (entitlement === 'onBehalf') return namedDevice(context, requester, request.subject);
  const id = entitlement === 'renewal' ? (renewed?.record.device ?? undefined) : requester.device?.id;
  if (id === undefined || id === requester.device?.id) return requester.device;
  return context.store.get('device', id);
}

/** What the profile knew of the holder when it issued the certificate, which belongs to no device. */
function sameHolder({ certificate }: Renewed): ReturnType<typeof unregisteredDevice> | undefined {
  const name = commonName(certificate.subject);
  return name === undefined ? undefined : unregisteredDevice(name);
}

/**
 * Finds the device that a registration authority requests a certificate for: the device in the registration authority's domain
 * whose name is the common name of the requested subject. Faults: forbidden.
 */
async function namedDevice(
  { store }: Pick<Ports, 'store'>,
  { domain }: Requester,
  subject: Name,
): Promise<Device> {
  const name = commonName(subject);
  const device = name === undefined ? undefined : await store.find('device', { commonName: name });
  if (device?.domain !== domain.id) {
    throw new Fault('forbidden', 'the common name in the subject is not the name of a device in this domain');
  }
  return device;
}
