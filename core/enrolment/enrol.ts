import { clear, isUsed } from '../approvals/clearance.ts';
import { usedWrites } from '../approvals/transitions.ts';
import { standIn } from '../ca/own-credentials.ts';
import { publicUrls } from '../ca/urls.ts';
import type { Configuration, LoadedProfile } from '../configuration.ts';
import { audit, brief, type Context, recordRefusal } from '../context.ts';
import { sameBytes } from '../der/bytes.ts';
import type { Device } from '../devices/device.ts';
import { Fault, toFault } from '../fault.ts';
import { demandAwaited, onboardedWrites } from '../onboarding/outcome.ts';
import type { Write } from '../ports/store.ts';
import type { ProfileOutcome } from '../profiles/apply.ts';
import type { ProfileRequest } from '../profiles/request.ts';
import { demandOpener, exchangeWrite, isNext, memory, refusedExchange } from '../transactions/record.ts';
import { order } from '../upstream/order.ts';
import { type Certificate, parseCertificate, subjectAltNamesOf } from '../x509/certificate.ts';
import { sameGeneralNames } from '../x509/general-name.ts';
import { commonName, emptyName, sameName } from '../x509/name.ts';
import { type VerifiedRequest, verifyCertReqMsg, verifyPkcs10 } from '../x509/request.ts';
import { domainCredentialProfile, requesterActor } from './admit.ts';
import { namedDevice } from './behalf.ts';
import { makeKey, unmade, type WantedKey, wantedKey } from './central-key.ts';
import { requestDigest, requesterKey } from './identity.ts';
import type { Ask, Issuance, IssuanceExchange, Outcome } from './outcome.ts';
import { petitionFor } from './petition.ts';
import { type Renewed, renewedCertificate } from './renewed.ts';
import type { CredentialKind, Requester } from './requester.ts';
import { demandNotOurs } from './reserved-names.ts';
import { resolveCa, resolveProfile } from './target.ts';

/** Do it. See `Gateway.enrol`. Every refusal is audited. */
export async function enrol(context: Context, requester: Requester, ask: Ask): Promise<Outcome> {
  try {
    if (ask.exchange) demandOpener(requester, ask.exchange);
    return await certify(context, requester, ask);
  } catch (thrown) {
    const error = ask.exchange ? refusedExchange(thrown, ask.exchange) : thrown;
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

async function certify(context: Context, requester: Requester, ask: Ask): Promise<Outcome> {
  const { domain, target } = requester;
  const configuration = await context.configuration.current();
  const renewed = await renewedCertificate(context, configuration, requester, ask);
  const profile = profileFor(configuration, requester, ask, renewed);
  const entitlement = entitlements[requester.credential](requester, ask, profile, renewed);
  if (entitlement === 'nothing') {
    throw new Fault('forbidden', 'these credentials do not entitle to a certificate of this profile');
  }
  await demandAwaited(context, requester);
  const proven = verified(requester, ask);
  const requested = proven.request ?? unmade(proven.wanted);
  const device = await holderOf(context, requester, entitlement, requested, renewed);
  const ca = resolveCa(configuration, domain);
  const { settings, clock } = context;
  const applied = (wish: ProfileRequest, now: number): ProfileOutcome =>
    profile.compiled.apply({
      request: requester.onboarding ? nameless(wish, device) : wish,
      device: device ?? (renewed && entitlement === 'renewal' ? namesake(renewed) : undefined),
      domain,
      now,
      issuer: ca.certificate,
      urls: publicUrls(settings, ca.record.id),
    });
  const planned = applied(requested, clock.now());
  if (entitlement === 'renewal') demandSameNames(renewed, planned);
  demandNotOurs(settings, planned);
  const { exchange } = ask;
  const { key: local } = ca.record;
  if (!proven.request && !local) {
    throw new Fault('unsupported', 'keys are not made here for an upstream CA');
  }
  const operation = entitlement === 'renewal' ? 'renewal' : 'issuance';
  const { protocol } = target;
  const matter = { operation, protocol, domain, profile: profile.record, device } as const;
  const actor = requesterActor(requester);
  const clearance = await clear(context, configuration, matter, () =>
    petitionFor({
      requester: requesterKey(requester),
      actor,
      request: ask.request,
      matter,
      profile,
      renews: entitlement === 'renewal' ? (renewed?.record.id ?? null) : null,
      requested,
      ca,
      outcomeAt: (now) => applied(requested, now),
      goesOn: exchange?.follows !== undefined,
      remembers: exchange !== undefined,
    }),
  );
  if (clearance.kind === 'pending') return clearance;
  if (clearance.kind === 'given') {
    const { ca: issuer, der } = clearance.certificate;
    const { chain } = configuration.ca(issuer) ?? ca;
    return {
      kind: 'issued',
      certificate: der,
      chain,
      modified: !isAsRequested(requested, parseCertificate(der)),
    };
  }
  const { approval } = clearance;
  // Not before it is known that there will be a certificate for it.
  const made = proven.request ? undefined : await makeKey(context, proven.wanted);
  const { request, privateKey } = made ?? { request: proven.request!, privateKey: undefined };
  const outcome = made ? applied(request, clock.now()) : planned;
  const modified = local !== null && !isAsRequested(request, outcome);
  const issuanceOf = (certificate: Uint8Array, chain: readonly Uint8Array[]): Issuance => ({
    kind: 'issued',
    certificate,
    chain,
    modified: local ? modified : !isAsRequested(request, parseCertificate(certificate)),
    privateKey,
  });
  const onboards = entitlement !== 'renewal' && isDomainCredential(profile);
  const onboarded = onboards ? await onboardedWrites(context, requester, device) : [];
  const ordered = await order(context, {
    ca,
    outcome,
    subjectKey: request.publicKey,
    request,
    device: device?.id ?? null,
    domain: domain.id,
    profile: profile.record.id,
    profileName: profile.record.uniqueName,
    protocol,
    actor,
    operation: ask.operation,
    renews: renewed?.certificate.der,
    digest: local ? undefined : digestOf(requester, ask, profile, renewed, request),
    alongside: async (der) => {
      const issuance = issuanceOf(der, ca.chain);
      return [
        ...onboarded,
        ...(exchange ? await answered(context, requester, exchange, issuance) : []),
        ...(approval ? usedWrites(context, actor, approval, { ref: 0 }) : []),
      ];
    },
  }).catch(async (error: unknown) => {
    // Of two requests of a device that is to be onboarded the other one was first.
    if (toFault(error).code !== 'conflict') throw error;
    await demandAwaited(context, requester);
    if (approval && (await isUsed(context, approval)) && (await isNext(context, exchange))) return undefined;
    throw error;
  });
  // Who asks the same, at another instance, has come for it at this moment: the answer is as if this had come later.
  if (!ordered) return certify(context, requester, ask);
  return 'kind' in ordered ? ordered : issuanceOf(ordered.certificate, ordered.chain);
}

/** See `requestDigest`. */
const digestOf = (
  requester: Requester,
  { operation }: Ask,
  { record: { id: profile } }: LoadedProfile,
  renewed: Renewed | undefined,
  { subject, extensions, publicKey }: VerifiedRequest,
): string =>
  requestDigest({
    requester: requesterKey(requester),
    protocol: requester.target.protocol,
    operation,
    domain: requester.domain.id,
    profile,
    renews: renewed?.record.id ?? null,
    subject,
    extensions,
    key: publicKey,
  });

/**
 * A device that comes with an IDevID cannot know what it is called here: another name than its own says nothing, and is passed over.
 */
function nameless(request: ProfileRequest, device: Device | undefined): ProfileRequest {
  return commonName(request.subject) === device?.commonName ? request : { ...request, subject: emptyName };
}

/** Proof of possession; only a registration authority may vouch for it (RFC 9483 §5.2.3.2). Or the wish for a key made here. */
function verified(
  { credential }: Requester,
  { request }: Ask,
): { readonly request: VerifiedRequest } | { readonly request?: never; readonly wanted: WantedKey } {
  const raVerified = credential === 'registrationAuthority';
  if (request.kind === 'pkcs10') return { request: verifyPkcs10(request.der) };
  const wanted = wantedKey(request.der);
  if (!wanted) return { request: verifyCertReqMsg(request.der, { raVerified }) };
  // A key that is encrypted to somebody else than its owner is not its owner's alone.
  if (raVerified) throw new Fault('forbidden', 'keys are made only for who asks for itself');
  return { wanted };
}

/** The exchange as it is recorded with the certificate. That is the first write of its commit. */
async function answered(
  context: Context,
  requester: Requester,
  exchange: IssuanceExchange,
  issuance: Issuance,
): Promise<readonly Write[]> {
  const { confirmWithin } = exchange;
  const answer = await exchange.answer(issuance);
  const progress = {
    state: confirmWithin === undefined ? 'done' : 'waiting',
    lasts: confirmWithin ?? memory,
    certificate: { ref: 0 },
  } as const;
  return [exchangeWrite(context, requester, exchange, answer, progress)];
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

/** `onBehalf`: a certificate for a device that the request names. */
type Entitlement = 'certificate' | 'onBehalf' | 'renewal' | 'nothing';

/** What each kind of credential entitles to: the one table, for all protocols. */
const entitlements: Record<
  CredentialKind,
  (requester: Requester, ask: Ask, profile: LoadedProfile, renewed: Renewed | undefined) => Entitlement
> = {
  // A secret stands for a device that has no certificate yet; it renews nothing.
  password: (_requester, ask) => (ask.operation === 'enrol' ? 'certificate' : 'nothing'),
  // For onboarding, and for nothing else.
  idevid: (_requester, ask, profile) =>
    ask.operation === 'enrol' && isDomainCredential(profile) ? 'certificate' : 'nothing',
  // A second domain credential is a renewal of the first, whatever the operation is called.
  domainCredential: (_requester, ask, profile, renewed) =>
    isOwnProfile(renewed, profile) ? 'renewal' : ask.operation === 'enrol' ? 'certificate' : 'nothing',
  issuedCertificate: (_requester, ask, profile, renewed) =>
    ask.operation === 'renew' && isOwnProfile(renewed, profile) ? 'renewal' : 'nothing',
  // For the devices of its domain; its own certificate too it only renews.
  registrationAuthority: (_requester, ask, profile, renewed) =>
    ask.operation === 'enrol' ? 'onBehalf' : isOwnProfile(renewed, profile) ? 'renewal' : 'nothing',
};

const isDomainCredential = ({ record }: LoadedProfile): boolean =>
  record.uniqueName === domainCredentialProfile;

const isOwnProfile = (renewed: Renewed | undefined, profile: LoadedProfile): boolean =>
  renewed?.record.profile === profile.record.id;

/** The device that the certificate is for. */
async function holderOf(
  context: Context,
  requester: Requester,
  entitlement: Entitlement,
  request: ProfileRequest,
  renewed: Renewed | undefined,
): Promise<Device | undefined> {
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

/** Whether nothing that was asked for is missing or other. */
function isAsRequested(
  request: ProfileRequest,
  outcome: Pick<Certificate, 'subject' | 'extensions'>,
): boolean {
  return (
    sameName(request.subject, outcome.subject) &&
    request.extensions.every((wanted) =>
      outcome.extensions.some(({ oid, value }) => oid === wanted.oid && sameBytes(value, wanted.value)),
    )
  );
}
