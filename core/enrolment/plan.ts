import { publicUrlsOf } from '../configuration/ca-lookup.ts';
import type { Configuration, LoadedCa, LoadedProfile } from '../configuration/configuration.ts';
import { Fault } from '../fault.ts';
import { demandNoOwnName } from '../issuance/own-names.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import type { ProfileContext, ProfileOutcome } from '../profiles/apply.ts';
import type { ProfileRequest } from '../profiles/template.ts';
import type { Trace } from '../profiles/values.ts';
import type { ApprovalProtocol } from '../records/approval-policy.ts';
import type { Actor } from '../records/audit-event.ts';
import type { Device } from '../records/device.ts';
import type { Domain } from '../records/domain.ts';
import type { RequestIdentity } from '../requester/request-identity.ts';
import { subjectAltNamesOf } from '../x509/certificate.ts';
import { sameGeneralNames } from '../x509/general-name.ts';
import { commonName, emptyName, sameName } from '../x509/name.ts';
import type { VerifiedRequest } from '../x509/request.ts';
import type { WantedKey } from './central-key.ts';
import { demandChange } from './name-change.ts';
import type { Renewed } from './renewed.ts';

/** Who requests which certificate, and by which rules it is issued. Every requester's request becomes such a plan. */
export interface IssuancePlan {
  /** The configuration that the whole request is served under. */
  readonly configuration: Configuration;
  readonly domain: Domain;
  readonly profile: LoadedProfile;
  readonly ca: LoadedCa;
  /** See `RequestIdentity.requester`. */
  readonly requester: string;
  readonly actor: Actor;
  readonly protocol: ApprovalProtocol;
  readonly operation: 'issuance' | 'renewal';
  /** The device that the certificate is recorded for. */
  readonly device: Device | undefined;
  /** What the profile's templates can say of the device, or of the subject of a certificate without a device. */
  readonly holder: ProfileContext['device'];
  /** The name in the request does not count, because the requester cannot know the name that it has here. */
  readonly ignoresName: boolean;
  /** The certificate that was presented, or that is to be renewed. */
  readonly renewed: Renewed | undefined;
  readonly proven: Proven;
  /** The request as the certificate is to be: with the new names where a renewal changes them. */
  readonly requested: ProfileRequest;
  /** A key made here stays in a key store until it is collected; otherwise it leaves with the response. */
  readonly keepsKey: boolean;
}

/** A request whose proof of possession is verified, or the key that is to be made for it. */
export type Proven =
  | { readonly request: VerifiedRequest }
  | { readonly request?: never; readonly wanted: WantedKey };

/** What of a plan decides on the contents of the certificate. */
type Rules = Pick<IssuancePlan, 'ca' | 'domain' | 'device' | 'holder' | 'ignoresName'> & {
  readonly profile: Pick<LoadedProfile, 'compiled'>;
};

/** What the profile makes of a request at a moment. Faults: see `CompiledProfile`. */
export const applyProfile = (
  { settings }: WithSettings,
  { profile, ca, domain, device, holder, ignoresName }: Rules,
  request: ProfileRequest,
  now: number,
  trace?: Trace,
): ProfileOutcome =>
  profile.compiled.apply(
    {
      request: ignoresName ? withoutOtherName(request, device) : request,
      device: holder,
      domain,
      now,
      issuer: ca.certificate,
      urls: publicUrlsOf(settings, ca),
    },
    trace,
  );

/** A common name other than the device's own is left out: a device with an IDevID cannot know what it is called here. */
const withoutOtherName = (request: ProfileRequest, device: Device | undefined): ProfileRequest =>
  commonName(request.subject) === device?.commonName ? request : { ...request, subject: emptyName };

/** What the profile makes of the planned request now. Faults: those of `applyProfile`; badCsr, forbidden, unsupported. */
export function plannedOutcome(
  context: Pick<Ports, 'clock'> & WithSettings,
  plan: IssuancePlan,
): ProfileOutcome {
  const { operation, renewed, proven, requested, ca, keepsKey } = plan;
  const now = context.clock.now();
  const planned = applyProfile(context, plan, requested, now);
  const change = proven.request?.nameChange;
  if (change && renewed) {
    demandSameNames(renewed, applyProfile(context, plan, proven.request, now));
    demandChange(change, renewed, planned);
  } else if (operation === 'renewal') demandSameNames(renewed, planned);
  // `prepareIssuance` checks the names of a request; without one, they are checked before a key is made or anybody approves.
  if (!proven.request) demandNoOwnName(context.settings.serverNames, planned);
  if (!proven.request && !keepsKey && !ca.record.key) {
    throw new Fault('unsupported', 'server-side key generation is not available with an upstream CA');
  }
  return planned;
}

/**
 * RFC 7030 §4.2.2: subject and subjectAltName of a renewal are those of the certificate that it renews. The comparison is with
 * what would be issued: a profile may add a name that the request leaves out, and adds it again.
 */
function demandSameNames(renewed: Renewed | undefined, outcome: ProfileOutcome): void {
  if (!renewed)
    throw new Fault('forbidden', 'a renewal must be authenticated with the certificate to be renewed');
  const { certificate } = renewed;
  if (!sameName(certificate.subject, outcome.subject)) {
    throw new Fault('badCsr', 'the subject differs from that of the certificate to be renewed');
  }
  if (!sameGeneralNames(subjectAltNamesOf(certificate), subjectAltNamesOf(outcome))) {
    throw new Fault('badCsr', 'the subjectAltName differs from that of the certificate to be renewed');
  }
}

/** Returns the digest by which approvals and upstream requests recognise a repeated request. */
export function identityOf(plan: IssuancePlan): RequestIdentity {
  const { requester, protocol, operation, domain, profile, renewed, requested } = plan;
  const { subject, extensions, publicKey } = requested;
  return {
    requester,
    protocol,
    operation,
    domain: domain.id,
    profile: profile.record.id,
    renews: operation === 'renewal' ? (renewed?.record.id ?? null) : null,
    subject,
    extensions,
    key: publicKey.spki.length > 0 ? publicKey : publicKey.type,
  };
}

/** Faults: forbidden for a device of another domain. */
export function demandInDomain({ commonName, domain }: Device, { id, uniqueName }: Domain): void {
  if (domain === id) return;
  throw new Fault('forbidden', `the device "${commonName}" does not belong to the domain "${uniqueName}"`, {
    id: 'device_in_other_domain',
  });
}
