import type { WithThrottle } from '../accounts/throttle.ts';
import type { Attempt } from '../accounts/throttle-subjects.ts';
import { audit, recordRefusal, shorten } from '../audit/record.ts';
import type { WithRefusalBudget } from '../audit/refusal-budget.ts';
import { findIssued } from '../configuration/ca-lookup.ts';
import type { Configuration, WithConfiguration } from '../configuration/configuration.ts';
import { resolveDomain } from '../configuration/target.ts';
import { hasExpired } from '../der/time.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import type { DeviceSecret } from '../ports/store.ts';
import type { Actor } from '../records/audit-event.ts';
import type { Device } from '../records/device.ts';
import type { Domain } from '../records/domain.ts';
import { sameSecret, secretContext } from '../security/secrets.ts';
import { type Certificate, extendedKeyUsageOf, keyUsageOf, parseCertificate } from '../x509/certificate.ts';
import { formatDistinguishedName } from '../x509/name.ts';
import { oid } from '../x509/oids.ts';
import { type Evidence, evidenceShortcoming, type Target } from './evidence.ts';
import { identifyDevice, isRefusal } from './idevid-device.ts';
import type { CredentialKind, Requester } from './requester.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'log' | 'store' | 'vault'>,
    WithConfiguration,
    WithRefusalBudget,
    WithSettings,
    WithThrottle {}

/** The profile whose certificates are the domain credentials of devices. */
export const domainCredentialProfile = 'domain_credential';

export const blocked = 'the device is blocked';

/** Authenticates a requester; see `Gateway.admit`. Refusals are audited. */
export function admit(context: Dependencies, evidence: Evidence, target: Target): Promise<Requester> {
  const configuration = context.configuration.current();
  // The configuration is nearly always cached, which saves a promise on every request.
  return configuration instanceof Promise
    ? admitOnceLoaded(context, configuration, evidence, target)
    : admitUnder(context, configuration, evidence, target);
}

const admitOnceLoaded = async (
  context: Dependencies,
  configuration: Promise<Configuration>,
  evidence: Evidence,
  target: Target,
): Promise<Requester> => admitUnder(context, await configuration, evidence, target);

function admitUnder(
  context: Dependencies,
  configuration: Configuration,
  evidence: Evidence,
  target: Target,
): Promise<Requester> {
  const { address } = evidence;
  let domain: Domain;
  try {
    domain = resolveDomain(configuration, target.domain, context.settings.defaultDomain);
  } catch (fault) {
    return rejectUnknown(context, address, target, shorten(target.domain ?? ''), 'no such domain', fault);
  }
  const { uniqueName } = domain;
  const shortcoming = evidenceShortcoming(configuration.security, target.protocol, evidence);
  if (shortcoming) {
    return rejectUnknown(
      context,
      address,
      target,
      uniqueName,
      shortcoming,
      new Fault('forbidden', shortcoming),
    );
  }
  switch (evidence.kind) {
    case 'none': {
      const fault = new Fault('unauthenticated', 'credentials or a client certificate are required');
      return rejectUnknown(context, address, target, uniqueName, 'no credentials', fault);
    }
    case 'password':
      return admitSecret(context, configuration, evidence.username, 'estPassword', evidence, target, domain);
    case 'mac':
      return admitSecret(
        context,
        configuration,
        evidence.reference,
        'cmpSharedSecret',
        evidence,
        target,
        domain,
      );
    case 'certificate':
    case 'signature':
      return admitCertificate(context, configuration, evidence, target, domain);
  }
}

/** Rejects a requester of whom only the address is known. */
async function rejectUnknown(
  context: Dependencies,
  address: string,
  target: Target,
  domain: string,
  reason: string,
  fault: unknown,
): Promise<never> {
  await refused(context, unknownActor(address), target, domain, reason);
  throw fault;
}

/** Authenticates a device by its name or id and a secret of its configuration. */
async function admitSecret(
  context: Dependencies,
  configuration: Configuration,
  name: string,
  field: DeviceSecret,
  evidence: Extract<Evidence, { kind: 'password' | 'mac' }>,
  target: Target,
  domain: Domain,
): Promise<Requester> {
  const { address } = evidence;
  const attempt: Attempt = { realm: 'device', name, address };
  const checked = context.throttle.check(attempt);
  const standing = checked instanceof Promise ? await checked : checked;
  const login = await context.store.deviceLogin(name, field);
  const allowed = login?.protocols?.includes(target.protocol);
  const sealed = allowed ? login?.secret : undefined;
  const expected = sealed && context.vault.open(sealed, secretContext[field]);
  // The comparison always runs, so that an unknown name takes as long as a wrong secret.
  const secret = expected ?? randomSecret(context);
  const right =
    evidence.kind === 'mac' ? await evidence.verify(secret) : sameSecret(evidence.password, secret);
  context.throttle.recheck(attempt, standing);
  if (!login || !expected || !right) {
    await context.throttle.failed(attempt);
    const actor = { ...unknownActor(address), name: shorten(name) };
    await refused(context, actor, target, domain.uniqueName, 'wrong credentials');
    throw new Fault('unauthenticated', wrongSecret[field]);
  }
  const { device } = login;
  if (device.domain !== domain.id) {
    await refused(context, deviceActor(device, address), target, domain.uniqueName, 'another domain');
    throw new Fault('forbidden', 'this device does not belong to the domain', {
      id: 'device_in_other_domain',
    });
  }
  if (device.blockedAt !== null) await refuseBlocked(context, device, address, target, domain);
  context.throttle.signedIn(attempt);
  return {
    configuration,
    device,
    domain,
    target,
    credential: 'password',
    presented: undefined,
    onboarding: undefined,
    address,
  } as Requester;
}

const wrongSecret = {
  estPassword: 'wrong user name or password',
  cmpSharedSecret: 'wrong reference or shared secret',
} as const;

async function admitCertificate(
  context: Dependencies,
  configuration: Configuration,
  evidence: Extract<Evidence, { kind: 'certificate' | 'signature' }>,
  target: Target,
  domain: Domain,
): Promise<Requester> {
  const { address } = evidence;
  const refuse = async (reason: string, name: string): Promise<never> => {
    const actor = { ...unknownActor(address), name: shorten(name) };
    await refused(context, actor, target, domain.uniqueName, reason);
    throw new Fault('unauthenticated', `the client certificate is not accepted: ${reason}`);
  };
  const certificate = parsed(evidence.certificates[0]);
  if (!certificate) return refuse('it cannot be read', '');
  const name = formatDistinguishedName(certificate.subject);
  const record = await findIssued(context.store, configuration, certificate);
  if (!record) return admitIdevid(context, configuration, evidence, target, domain, certificate);
  const now = context.clock.now();
  if (hasExpired(certificate.notAfter, now)) return refuse('it has expired', name);
  if (now < certificate.notBefore) return refuse('it is not valid yet', name);
  if (record.status !== 'good') return refuse('it has been revoked', name);
  // RFC 9483 §1.6. TLS checks this in a handshake.
  const usage = evidence.kind === 'signature' ? keyUsageOf(certificate) : undefined;
  if (usage && !usage.includes('digitalSignature')) return refuse('its key may not sign messages', name);
  const device = record.device === null ? undefined : await context.store.get('device', record.device);
  if (record.device !== null && !device) return refuse('its device was deleted', name);
  if (record.domain !== domain.id || (device && device.domain !== domain.id)) {
    const actor = device ? deviceActor(device, address) : { ...unknownActor(address), name: shorten(name) };
    await refused(context, actor, target, domain.uniqueName, 'another domain');
    throw new Fault('forbidden', 'the client certificate belongs to another domain');
  }
  if (device && device.blockedAt !== null) await refuseBlocked(context, device, address, target, domain);
  const profile = record.profile === null ? undefined : configuration.profile(record.profile);
  const credential: CredentialKind = !device
    ? 'issuedCertificate'
    : extendedKeyUsageOf(certificate)?.includes(oid.cmcRa)
      ? 'registrationAuthority'
      : profile?.record.uniqueName === domainCredentialProfile
        ? 'domainCredential'
        : 'issuedCertificate';
  const presented = { record, certificate };
  return {
    configuration,
    device,
    domain,
    target,
    credential,
    presented,
    onboarding: undefined,
    address,
  } as Requester;
}

/** The requester has proved to be the device, so it may learn that the device is blocked. */
async function refuseBlocked(
  context: Dependencies,
  device: Device,
  address: string,
  target: Target,
  { uniqueName }: Domain,
): Promise<never> {
  await refused(context, deviceActor(device, address), target, uniqueName, blocked);
  throw new Fault('forbidden', blocked, { id: 'device_blocked' });
}

/** Authenticates a device by a certificate that this gateway did not issue, which may be an IDevID. */
async function admitIdevid(
  context: Dependencies,
  configuration: Configuration,
  { certificates, address }: Extract<Evidence, { kind: 'certificate' | 'signature' }>,
  target: Target,
  domain: Domain,
  certificate: Certificate,
): Promise<Requester> {
  const result = await identifyDevice(context, configuration, {
    certificate,
    intermediates: certificates.slice(1).flatMap((der) => parsed(der) ?? []),
    address,
    protocol: target.protocol,
    domain: target.domain === undefined ? undefined : domain,
  });
  if (isRefusal(result)) {
    const { code, reason, device } = result;
    const name = shorten(formatDistinguishedName(certificate.subject));
    const actor = device ? deviceActor(device, address) : { ...unknownActor(address), name };
    await refused(context, actor, target, domain.uniqueName, reason);
    throw new Fault(code, `the client certificate is not accepted: ${shorten(reason)}`);
  }
  return {
    ...result,
    configuration,
    target,
    credential: 'idevid',
    presented: undefined,
    address,
  } as Requester;
}

function parsed(der: Uint8Array | undefined): Certificate | undefined {
  try {
    return der && parseCertificate(der);
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

/** A refusal by an adapter, before any use case was called. */
export interface OutrightRefusal {
  readonly target: Target;
  readonly address: string;
  readonly reason: string;
  /** The requester, if it was admitted. */
  readonly requester?: Requester | undefined;
}

/** See `Gateway.refused`. */
export async function refusedOutright(
  context: Dependencies,
  { target, address, reason, requester }: OutrightRefusal,
): Promise<void> {
  const actor = requester ? requesterActor(requester) : unknownActor(address);
  const domain = requester?.domain.uniqueName ?? target.domain ?? context.settings.defaultDomain;
  await refused(context, actor, target, shorten(domain), reason);
}

const deviceActor = (device: Device, address: string): Actor => ({
  kind: 'device',
  id: device.id,
  name: device.commonName,
  address,
});

const unknownActor = (address: string): Actor => ({ kind: 'unknown', id: null, name: '', address });

/** Returns the requester as the actor of an audit event. */
export function requesterActor({ device, presented, address }: Requester): Actor {
  if (device) return deviceActor(device, address);
  return { kind: 'unknown', id: null, name: shorten(presented?.record.subject ?? ''), address };
}

async function refused(
  context: Dependencies,
  actor: Actor,
  target: Target,
  domain: string,
  reason: string,
): Promise<void> {
  const unrecorded = context.refusals.take(actor.address);
  if (unrecorded === undefined) return;
  await recordRefusal(
    context,
    audit(context, actor, {
      action: 'enrolment.admit',
      object: `domain:${domain}`,
      outcome: 'refused',
      detail: { protocol: target.protocol, reason: shorten(reason), ...(unrecorded > 0 && { unrecorded }) },
    }),
  );
}

const randomSecret = (context: Pick<Ports, 'entropy'>): Uint8Array => context.entropy.bytes(32);
