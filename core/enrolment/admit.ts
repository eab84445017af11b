import { createHash, timingSafeEqual } from 'node:crypto';
import type { Actor } from '../audit/event.ts';
import { findIssued } from '../ca/issued.ts';
import type { Configuration } from '../configuration.ts';
import { audit, brief, type Context, recordRefusal } from '../context.ts';
import type { Device } from '../devices/device.ts';
import { secretContext } from '../devices/secrets.ts';
import type { Domain } from '../domains/domain.ts';
import { Fault } from '../fault.ts';
import { evidenceShortcoming } from '../security/admission.ts';
import { type Certificate, extendedKeyUsageOf, keyUsageOf, parseCertificate } from '../x509/certificate.ts';
import { formatDistinguishedName } from '../x509/name.ts';
import { oid } from '../x509/oids.ts';
import type { Evidence, Target } from './evidence.ts';
import type { CredentialKind, Requester } from './requester.ts';
import { resolveDomain } from './target.ts';

/** The profile whose certificates stand for the device itself. */
export const domainCredentialProfile = 'domain_credential';

/** Who is it? See `Gateway.admit`. Whoever brought evidence and is refused is in the audit trail. */
export async function admit(context: Context, evidence: Evidence, target: Target): Promise<Requester> {
  const configuration = await context.configuration.current();
  const domain = resolveDomain(configuration, target.domain, context.settings.defaultDomain);
  const shortcoming = evidenceShortcoming(configuration.security, target.protocol, evidence);
  if (shortcoming) {
    const actor: Actor = { kind: 'unknown', id: null, name: '', address: evidence.address };
    await refused(context, actor, target, domain, shortcoming);
    throw new Fault('forbidden', shortcoming);
  }
  switch (evidence.kind) {
    case 'none':
      throw new Fault('unauthenticated', 'credentials or a client certificate are needed');
    case 'password':
      return admitSecret(context, evidence.username, 'estPassword', evidence, target, domain);
    case 'mac':
      return admitSecret(context, evidence.reference, 'cmpSharedSecret', evidence, target, domain);
    case 'certificate':
    case 'signature':
      return admitCertificate(context, configuration, evidence, target, domain);
  }
}

/** A device by its name, or id, and a secret of its configuration. */
async function admitSecret(
  context: Context,
  name: string,
  field: 'estPassword' | 'cmpSharedSecret',
  evidence: Extract<Evidence, { kind: 'password' | 'mac' }>,
  target: Target,
  domain: Domain,
): Promise<Requester> {
  const { address } = evidence;
  context.throttle.check(name, address);
  const login = await context.store.deviceLogin(name);
  const allowed = login?.config?.protocols.some((protocol) => protocol === target.protocol);
  const sealed = allowed ? login?.config?.[field] : undefined;
  const expected = sealed && context.vault.open(sealed, secretContext[field]);
  // Always compared, so that an unknown name takes as long as a wrong secret.
  const secret = expected ?? unguessable(context);
  const right =
    evidence.kind === 'mac'
      ? await evidence.verify(secret)
      : sameSecret(Buffer.from(evidence.password), secret);
  if (!login || !expected || !right) {
    await context.throttle.failed(name, address);
    const actor: Actor = { kind: 'unknown', id: null, name: brief(name), address };
    await refused(context, actor, target, domain, 'wrong credentials');
    throw new Fault('unauthenticated', wrongSecret[field]);
  }
  const { device } = login;
  if (device.domain !== domain.id) {
    await refused(context, deviceActor(device, address), target, domain, 'another domain');
    throw new Fault('forbidden', 'this device does not belong to the domain');
  }
  return { device, domain, target, credential: 'password', presented: undefined, address } as Requester;
}

const wrongSecret = {
  estPassword: 'wrong user name or password',
  cmpSharedSecret: 'wrong reference or shared secret',
} as const;

async function admitCertificate(
  context: Context,
  configuration: Configuration,
  evidence: Extract<Evidence, { kind: 'certificate' | 'signature' }>,
  target: Target,
  domain: Domain,
): Promise<Requester> {
  const { address } = evidence;
  const refuse = async (reason: string, name: string): Promise<never> => {
    await refused(context, { kind: 'unknown', id: null, name: brief(name), address }, target, domain, reason);
    throw new Fault('unauthenticated', `the client certificate is not accepted: ${reason}`);
  };
  const certificate = parsed(evidence.certificates[0]);
  if (!certificate) return refuse('it cannot be read', '');
  const name = formatDistinguishedName(certificate.subject);
  const record = await findIssued(context.store, configuration, certificate);
  if (!record) return refuse('it is not one of ours', name);
  const now = context.clock.now();
  if (now > certificate.notAfter) return refuse('it has expired', name);
  if (now < certificate.notBefore) return refuse('it is not valid yet', name);
  if (record.status !== 'good') return refuse('it has been revoked', name);
  // RFC 9483 §1.6. In a handshake TLS sees to it.
  const usage = evidence.kind === 'signature' ? keyUsageOf(certificate) : undefined;
  if (usage && !usage.includes('digitalSignature')) return refuse('its key may not sign messages', name);
  const device = record.device === null ? undefined : await context.store.get('device', record.device);
  if (record.device !== null && !device) return refuse('its device is gone', name);
  if (record.domain !== domain.id || (device && device.domain !== domain.id)) {
    const actor = device
      ? deviceActor(device, address)
      : { kind: 'unknown' as const, id: null, name: brief(name), address };
    await refused(context, actor, target, domain, 'another domain');
    throw new Fault('forbidden', 'the client certificate belongs to another domain');
  }
  const profile = record.profile === null ? undefined : configuration.profile(record.profile);
  const credential: CredentialKind = !device
    ? 'issuedCertificate'
    : extendedKeyUsageOf(certificate)?.includes(oid.cmcRa)
      ? 'registrationAuthority'
      : profile?.record.uniqueName === domainCredentialProfile
        ? 'domainCredential'
        : 'issuedCertificate';
  return { device, domain, target, credential, presented: { record, certificate }, address } as Requester;
}

function parsed(der: Uint8Array | undefined): Certificate | undefined {
  try {
    return der && parseCertificate(der);
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

const deviceActor = (device: Device, address: string): Actor => ({
  kind: 'device',
  id: device.id,
  name: device.commonName,
  address,
});

/** Who a requester is, for the audit record. */
export function requesterActor({ device, presented, address }: Requester): Actor {
  if (device) return deviceActor(device, address);
  return { kind: 'unknown', id: null, name: brief(presented?.record.subject ?? ''), address };
}

async function refused(
  context: Context,
  actor: Actor,
  target: Target,
  domain: Domain,
  reason: string,
): Promise<void> {
  const unrecorded = context.refusals.take(actor.address);
  if (unrecorded === undefined) return;
  await recordRefusal(
    context,
    audit(context, actor, {
      action: 'enrolment.admit',
      object: `domain:${domain.uniqueName}`,
      outcome: 'refused',
      detail: { protocol: target.protocol, reason, ...(unrecorded > 0 && { unrecorded }) },
    }),
  );
}

const digest = (secret: Uint8Array): Uint8Array => createHash('sha256').update(secret).digest();

/** In constant time for secrets of any length. */
function sameSecret(a: Uint8Array, b: Uint8Array): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

const unguessable = (context: Context): Uint8Array => context.entropy.bytes(32);
