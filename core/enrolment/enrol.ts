import { type Issued, issue } from '../ca/issuance.ts';
import { publicUrls } from '../ca/urls.ts';
import type { Configuration, LoadedProfile } from '../configuration.ts';
import { audit, brief, type Context, recordRefusal } from '../context.ts';
import { Fault, toFault } from '../fault.ts';
import type { ProfileOutcome } from '../profiles/apply.ts';
import { subjectAltNamesOf } from '../x509/certificate.ts';
import { type GeneralName, sameGeneralName } from '../x509/general-name.ts';
import { sameName } from '../x509/name.ts';
import { verifyPkcs10 } from '../x509/request.ts';
import { domainCredentialProfile, requesterActor } from './admit.ts';
import type { Ask, Outcome } from './outcome.ts';
import type { CredentialKind, Requester } from './requester.ts';
import { resolveCa, resolveProfile } from './target.ts';

/** Do it. See `Gateway.enrol`. Every refusal is audited. */
export async function enrol(context: Context, requester: Requester, ask: Ask): Promise<Outcome> {
  try {
    const { certificate, chain } = await certify(context, requester, ask);
    return { kind: 'issued', certificate, chain };
  } catch (error) {
    const { code, detail } = toFault(error);
    const ours = code === 'internal' || code === 'unavailable';
    await recordRefusal(
      context,

      audit(context, requesterActor(requester), {
        action: ask.operation === 'renew' ? 'enrolment.renew' : 'enrolment.enrol',
        object: `domain:${requester.domain.uniqueName}`,
        outcome: ours ? 'failed' : 'refused',
        detail: { protocol: requester.target.protocol, code, reason: brief(detail) },
      }),
    );
    throw error;
  }
}

async function certify(context: Context, requester: Requester, ask: Ask): Promise<Issued> {
  const { domain, device, target } = requester;
  const configuration = await context.configuration.current();
  const profile = profileFor(configuration, requester, ask);
  const entitlement = entitlements[requester.credential](requester, ask, profile);
  if (entitlement === 'nothing') {
    throw new Fault('forbidden', 'these credentials do not entitle to a certificate of this profile');
  }
  const request = verifyPkcs10(ask.request.der);
  const ca = resolveCa(configuration, domain);
  const { settings, clock } = context;
  const outcome = profile.compiled.apply({
    request,
    device,
    domain,
    now: clock.now(),
    issuer: ca.certificate,
    urls: publicUrls(settings, ca.record.id),
  });
  if (entitlement === 'renewal') demandSameNames(requester, outcome);
  return issue(context, {
    ca,
    outcome,
    subjectKey: request.publicKey,
    request,
    device: device?.id ?? null,
    domain: domain.id,
    profile: profile.record.id,
    profileName: profile.record.uniqueName,
    protocol: target.protocol,
    actor: requesterActor(requester),
  });
}

/** The profile of the path; without one that of the certificate to be renewed, else the domain credential's. */
function profileFor(
  configuration: Configuration,
  { domain, target, presented }: Requester,
  ask: Ask,
): LoadedProfile {
  if (target.profile === undefined && ask.operation === 'renew' && presented) {
    const profile =
      presented.record.profile === null ? undefined : configuration.profile(presented.record.profile);
    if (!profile) throw new Fault('forbidden', 'the profile of this certificate is gone');
    return profile;
  }
  return resolveProfile(configuration, domain, target.profile ?? domainCredentialProfile);
}

type Entitlement = 'certificate' | 'renewal' | 'nothing';

/** What each kind of credential entitles to: the one table, for all protocols. */
const entitlements: Record<
  CredentialKind,
  (requester: Requester, ask: Ask, profile: LoadedProfile) => Entitlement
> = {
  // A secret stands for a device that has no certificate yet; it renews nothing.
  password: (_requester, ask) => (ask.operation === 'enrol' ? 'certificate' : 'nothing'),
  // A second domain credential is a renewal of the first, whatever the operation is called.
  domainCredential: (requester, ask, profile) =>
    isOwnProfile(requester, profile) ? 'renewal' : ask.operation === 'enrol' ? 'certificate' : 'nothing',
  issuedCertificate: (requester, ask, profile) =>
    ask.operation === 'renew' && isOwnProfile(requester, profile) ? 'renewal' : 'nothing',
};

const isOwnProfile = ({ presented }: Requester, profile: LoadedProfile): boolean =>
  presented?.record.profile === profile.record.id;

/**
 * RFC 7030 §4.2.2: subject and subjectAltName of a renewal are those of the certificate that it renews. What is compared is
 * what would be issued: a profile may add a name that the request leaves out, and adds it again.
 */
function demandSameNames({ presented }: Requester, outcome: ProfileOutcome): void {
  if (!presented) throw new Fault('forbidden', 'a renewal needs the certificate that it renews');
  const { certificate } = presented;
  if (!sameName(certificate.subject, outcome.subject)) {
    throw new Fault('badCsr', 'the subject is not that of the certificate to be renewed');
  }
  if (!sameNames(subjectAltNamesOf(certificate), subjectAltNamesOf(outcome))) {
    throw new Fault('badCsr', 'the subjectAltName is not that of the certificate to be renewed');
  }
}

const sameNames = (a: readonly GeneralName[], b: readonly GeneralName[]): boolean =>
  a.length === b.length &&
  a.every((name) => b.some((other) => sameGeneralName(name, other))) &&
  b.every((name) => a.some((other) => sameGeneralName(name, other)));
