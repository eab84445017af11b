import { standIn } from '../ca/own-credentials.ts';
import { publicUrlsOf } from '../configuration/ca-lookup.ts';
import type {
  Configuration,
  LoadedCa,
  LoadedProfile,
  WithConfiguration,
} from '../configuration/configuration.ts';
import { resolveCa, resolveProfile } from '../configuration/target.ts';
import { Fault } from '../fault.ts';
import type { Ask, Requested } from '../issuance/outcome.ts';
import { demandNoOwnName } from '../issuance/own-names.ts';
import { mayOnboard, onboardedWith } from '../onboarding/onboarded.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import type { ProfileOutcome } from '../profiles/apply.ts';
import type { ProfileRequest } from '../profiles/template.ts';
import type { StoredCertificate } from '../records/certificate.ts';
import type { Device } from '../records/device.ts';
import { blocked, domainCredentialProfile } from '../requester/admit.ts';
import type { Requester } from '../requester/requester.ts';
import { subjectAltNamesOf } from '../x509/certificate.ts';
import { demandUnfactored } from '../x509/factorable-rsa.ts';
import { sameGeneralNames } from '../x509/general-name.ts';
import { commonName, emptyName, sameName } from '../x509/name.ts';
import { type VerifiedRequest, verifyParsed, verifyPkcs10 } from '../x509/request.ts';
import { namedDevice } from './behalf.ts';
import { unmade, type WantedKey, wantedInstead, wantedKey } from './central-key.ts';
import { demandChannelBinding } from './channel-binding.ts';
import { type Entitlement, entitlements, isDomainCredential } from './entitlement.ts';
import { demandChange, onlyRenewals, renamed } from './name-change.ts';
import { type Renewed, renewedCertificate } from './renewed.ts';

interface Dependencies extends Pick<Ports, 'clock' | 'store'>, WithConfiguration {}

/** What a requester is entitled to. */
export interface Plan {
  readonly configuration: Configuration;
  readonly profile: LoadedProfile;
  readonly ca: LoadedCa;
  /** The device that the certificate is for. */
  readonly device: Device | undefined;
  readonly operation: 'issuance' | 'renewal';
  /** The certificate that was presented, or that is to be renewed. */
  readonly renewed: Renewed | undefined;
  /** It is the credential that onboards its device, if that is to be onboarded. */
  readonly onboards: boolean;
  /** What its device was onboarded with by the same IDevID: that again, or nothing. */
  readonly given: StoredCertificate | undefined;
  /** The request, or the key that is to be made for it. */
  readonly proven: Proven;
  /** As the certificate is to be: with the names that a renewal asks for instead of its own. */
  readonly requested: ProfileRequest;
}

type Proven =
  | { readonly request: VerifiedRequest }
  | { readonly request?: never; readonly wanted: WantedKey };

/** Faults: those of `Gateway.enrol` that are the request's, but for those of `plannedOutcome`. */
export async function planFor(context: Dependencies, requester: Requester, ask: Ask): Promise<Plan> {
  const { domain } = requester;
  const current = context.configuration.current();
  const configuration = current instanceof Promise ? await current : current;
  const renewed = ask.renews
    ? await renewedCertificate(context, configuration, requester, ask.operation, ask.renews)
    : requester.presented;
  const profile = profileFor(configuration, requester, ask, renewed);
  const entitlement = entitlements[requester.credential](requester, ask, profile, renewed);
  if (entitlement === 'nothing') {
    throw new Fault('forbidden', 'these credentials do not entitle to a certificate of this profile');
  }
  const given = requester.onboarding ? await onboardedWith(context, requester) : undefined;
  const proven = verified(requester, ask);
  // Before anybody has to approve it.
  const examined = proven.request && demandUnfactored(proven.request.publicKey);
  if (examined) await examined;
  demandChannelBinding(ask, (proven.request ?? proven.wanted).challengePassword);
  const change = proven.request?.nameChange;
  if (change && entitlement !== 'renewal') throw new Fault('badCsr', onlyRenewals);
  const unchanged = proven.request ?? unmade(proven.wanted);
  const requested = change ? renamed(unchanged, change) : unchanged;
  const holder = holderOf(context, requester, entitlement, requested, renewed);
  const device = holder instanceof Promise ? await holder : holder;
  // Who asks may be a registration authority.
  if (device && device.blockedAt !== null) throw new Fault('forbidden', blocked);
  if (device && device.domain !== domain.id) {
    throw new Fault('forbidden', 'the device of the certificate belongs to another domain by now');
  }
  if (change && !device) {
    throw new Fault('forbidden', 'a certificate that was issued to no device keeps its names');
  }
  return {
    configuration,
    profile,
    ca: resolveCa(configuration, domain),
    device,
    // Other names are a matter for whoever decides on new certificates.
    operation: entitlement === 'renewal' && !change ? 'renewal' : 'issuance',
    renewed,
    onboards: entitlement !== 'renewal' && isDomainCredential(profile) && mayOnboard(requester, device),
    given,
    proven,
    requested,
  };
}

/** What the profile makes of a request at a moment. Faults: see `CompiledProfile`. */
export function outcomeAt(
  { settings }: WithSettings,
  { domain, onboarding }: Requester,
  { profile, ca, device, operation, renewed }: Plan,
  request: ProfileRequest,
  now: number,
): ProfileOutcome {
  return profile.compiled.apply({
    request: onboarding ? nameless(request, device) : request,
    device: device ?? (renewed && operation === 'renewal' ? namesake(renewed) : undefined),
    domain,
    now,
    issuer: ca.certificate,
    urls: publicUrlsOf(settings, ca),
  });
}

/** What the profile makes of the request that there is, now. Faults: those of `Gateway.enrol` that are the request's. */
export function plannedOutcome(
  context: Pick<Ports, 'clock'> & WithSettings,
  requester: Requester,
  plan: Plan,
): ProfileOutcome {
  const { operation, renewed, proven, requested, ca } = plan;
  const now = context.clock.now();
  const planned = outcomeAt(context, requester, plan, requested, now);
  const change = proven.request?.nameChange;
  if (change && renewed) {
    demandSameNames(renewed, outcomeAt(context, requester, plan, proven.request, now));
    demandChange(change, renewed, planned);
  } else if (operation === 'renewal') demandSameNames(renewed, planned);
  // Before anybody has to approve it, and before a key is made. With a request at hand, the rehearsal says so.
  if (!proven.request) demandNoOwnName(context.settings.serverNames, planned);
  if (!proven.request && !ca.record.key) {
    throw new Fault('unsupported', 'keys are not made here for an upstream CA');
  }
  return planned;
}

/**
 * A device that comes with an IDevID cannot know what it is called here: another name than its own says nothing, and is passed over.
 */
function nameless(request: ProfileRequest, device: Device | undefined): ProfileRequest {
  return commonName(request.subject) === device?.commonName ? request : { ...request, subject: emptyName };
}

/** Proof of possession; only a registration authority may vouch for it (RFC 9483 §5.2.3.2). Or the wish for a key made here. */
function verified({ credential }: Requester, { request }: Ask): Proven {
  const raVerified = credential === 'registrationAuthority';
  const wanted = wantedOf(request);
  if (!wanted) {
    return {
      request: request.kind === 'pkcs10' ? verifyPkcs10(request.der) : verifyParsed(request, { raVerified }),
    };
  }
  // A key that somebody else than its owner can read is not its owner's alone.
  if (raVerified) throw new Fault('forbidden', 'keys are made only for who asks for itself');
  return { wanted };
}

function wantedOf(request: Requested): WantedKey | undefined {
  if (request.kind === 'crmf') return wantedKey(request);
  return request.keyMadeHere ? wantedInstead(request.der) : undefined;
}

/** The profile of the path; without one that of the certificate to be renewed, else the domain credential's. */
function profileFor(
  configuration: Configuration,
  { domain, target }: Requester,
  ask: Ask,
  renewed: Renewed | undefined,
): LoadedProfile {
  if (target.profile === undefined && ask.operation === 'renew' && renewed) {
    const profile =
      renewed.record.profile === null ? undefined : configuration.profile(renewed.record.profile);
    if (!profile) throw new Fault('forbidden', 'the profile of this certificate is gone');
    return profile;
  }
  return resolveProfile(configuration, domain, target.profile ?? domainCredentialProfile);
}

/** The device that the certificate is for. */
function holderOf(
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

/** What the profile was told of the holder when a certificate without a device was issued. */
function namesake({ certificate }: Renewed): ReturnType<typeof standIn> | undefined {
  const name = commonName(certificate.subject);
  return name === undefined ? undefined : standIn(name);
}

/**
 * RFC 7030 §4.2.2: subject and subjectAltName of a renewal are those of the certificate that it renews. What is compared is
 * what would be issued: a profile may add a name that the request leaves out, and adds it again.
 */
function demandSameNames(renewed: Renewed | undefined, outcome: ProfileOutcome): void {
  if (!renewed) throw new Fault('forbidden', 'a renewal needs the certificate that it renews');
  const { certificate } = renewed;
  if (!sameName(certificate.subject, outcome.subject)) {
    throw new Fault('badCsr', 'the subject is not that of the certificate to be renewed');
  }
  if (!sameGeneralNames(subjectAltNamesOf(certificate), subjectAltNamesOf(outcome))) {
    throw new Fault('badCsr', 'the subjectAltName is not that of the certificate to be renewed');
  }
}
