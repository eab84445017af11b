import { createHash } from 'node:crypto';
import { accountKey } from '../approvals/approvals.ts';
import { clear } from '../approvals/clearance.ts';
import { usedWrites } from '../approvals/transitions.ts';
import { requestFor, standIn } from '../ca/own-credentials.ts';
import { publicUrls } from '../configuration/ca-lookup.ts';
import type {
  Configuration,
  LoadedCa,
  LoadedProfile,
  WithConfiguration,
} from '../configuration/configuration.ts';
import { resolveCa, resolveDomain } from '../configuration/target.ts';
import { atField, Fault } from '../fault.ts';
import { type Issued, issuedCertificate, rehearse } from '../issuance/issue.ts';
import type { Deferral } from '../issuance/outcome.ts';
import { demandNoOwnName } from '../issuance/own-names.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import type { Write } from '../ports/store.ts';
import type { ProfileOutcome } from '../profiles/apply.ts';
import type { ProfileRequest } from '../profiles/template.ts';
import type { Actor } from '../records/audit-event.ts';
import type { KeyReference } from '../records/credential.ts';
import type { Domain } from '../records/domain.ts';
import { type RequestIdentity, requestDigest } from '../requester/request-identity.ts';
import { generateKey, keyStoreThat, withNewKey } from '../signing/key-stores.ts';
import type { WithCircuits } from '../upstream/circuits.ts';
import { order, resume, type UpstreamCommission } from '../upstream/order.ts';
import type { KeyType } from '../x509/algorithm.ts';
import { demandUnfactored } from '../x509/factorable-rsa.ts';
import { attribute, buildName, commonName } from '../x509/name.ts';
import { type VerifiedRequest, verifyPkcs10 } from '../x509/request.ts';
import { petitionFor } from './approval-request.ts';
import { unmade } from './central-key.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'issuers' | 'keyStores' | 'log' | 'store'>,
    WithCircuits,
    WithConfiguration,
    WithSettings {}

export interface CertificateInput {
  /** Of the certificate's subject when it is issued; from then on the inventory name. */
  readonly commonName: string;
  /** Default: the default domain. */
  readonly domain?: number;
  /** Default: `tls_client`, where the domain offers it. */
  readonly profile?: number;
  /** A PKCS#10 request, DER. Without one the key is made here, and waits to be fetched. */
  readonly csr?: Uint8Array;
  /** Of a key that is made here; default: P-256. */
  readonly keyType?: KeyType;
}

const usualProfile = 'tls_client';

/**
 * What an administrator asks for without a device; the certificate's id, or that it waits for approval: the same asked again
 * after that gets it. Faults: malformed with `field`, forbidden, unavailable.
 */
export async function issueByName(
  context: Dependencies,
  input: CertificateInput,
  actor: Actor,
): Promise<number | Deferral> {
  const { csr } = input;
  if (csr) {
    if (input.keyType) throw new Fault('malformed', 'the request has a key', { field: 'keyType' });
    try {
      const request = verifyPkcs10(csr);
      await demandUnfactored(request.publicKey);
      const plan = await planFor(context, input, commonName(request.subject));
      const clearance = await cleared(context, plan, request, request, actor);
      if (clearance.kind === 'pending') return clearance;
      const digest = digestOf(actor, plan, request, request.publicKey);
      return await certify(context, input, plan, request, { alongside: clearance.used, digest }, actor);
    } catch (error) {
      throw atField(error, 'csr');
    }
  }
  const keyStore = keyStoreThat(
    context,
    'export',
    'no key store is configured that hands out keys: add one with plugin = "keyfile"',
  );
  const type = input.keyType ?? 'p-256';
  try {
    const name = certifiedName(input.commonName);
    const plan = await planFor(context, input, name);
    const subject = buildName([[attribute('CN', name)]]);
    const clearance = await cleared(
      context,
      plan,
      unmade({ subject, extensions: [], type }),
      undefined,
      actor,
    );
    if (clearance.kind === 'pending') return clearance;
    const digest = digestOf(actor, plan, { subject, extensions: [] }, type);
    const { ca } = plan;
    const upstream = !ca.record.key;
    const alongside = clearance.used;
    const before = upstream && (await resume(context, { ca, alongside: () => alongside }, digest));
    if (before) return idOf(before);
    const key = await generateKey(keyStore, type, name);
    return await withNewKey(keyStore, key, async () => {
      const request = await requestFor(keyStore.keys, key, name, []);
      const reference = { store: keyStore.name, id: key.id };
      const more = upstream
        ? { alongside, digest, purpose: { kind: 'key', key: reference } as const }
        : { alongside: [heldKey(context, reference), ...alongside], digest };
      return certify(context, input, plan, request, more, actor);
    });
  } catch (error) {
    const aboutKey = error instanceof Fault && error.code === 'badAlgorithm';
    throw atField(error, aboutKey ? 'keyType' : 'commonName');
  }
}

/** What a common name holds (ub-common-name, RFC 5280 appendix A.1). */
const longestCommonName = 64;

/** The common name for an inventory name. Two long names that begin alike do not become one. */
function certifiedName(inventoryName: string): string {
  const characters = [...inventoryName];
  if (characters.length <= longestCommonName) return inventoryName;
  const digest = createHash('sha256').update(inventoryName).digest('hex').slice(0, 16);
  return `${characters.slice(0, longestCommonName - digest.length - 1).join('')}-${digest}`;
}

interface Plan {
  readonly configuration: Configuration;
  readonly domain: Domain;
  readonly profile: LoadedProfile;
  readonly ca: LoadedCa;
  applied(request: ProfileRequest, now: number): ProfileOutcome;
}

/** `name`: what the profile is to take for the device's name: that which is asked for. */
async function planFor(
  context: WithConfiguration & WithSettings,
  input: CertificateInput,
  name: string | undefined,
): Promise<Plan> {
  const configuration = await context.configuration.current();
  const domain = domainOf(context, configuration, input.domain);
  const profile = profileOf(configuration, domain, input.profile);
  const ca = resolveCa(configuration, domain);
  const applied: Plan['applied'] = (request, now) =>
    profile.compiled.apply({
      request,
      device: name === undefined ? undefined : standIn(name),
      domain,
      now,
      issuer: ca.certificate,
      urls: publicUrls(context.settings, ca.record.id),
    });
  return { configuration, domain, profile, ca, applied };
}

/** The writes that mark an approval as used, where there had to be one. */
async function cleared(
  context: Dependencies,
  { configuration, domain, profile, ca, applied }: Plan,
  requested: ProfileRequest,
  csr: VerifiedRequest | undefined,
  actor: Actor,
): Promise<Deferral | { readonly kind: 'cleared'; readonly used: readonly Write[] }> {
  const matter = {
    operation: 'issuance',
    protocol: 'management',
    domain,
    profile: profile.record,
    device: undefined,
  } as const;
  // What does not fit the profile is not worth anybody's time.
  const planned = applied(requested, context.clock.now());
  if (!csr) demandNoOwnName(context.settings.serverNames, planned);
  const { subject, extensions, publicKey } = requested;
  const identity = {
    requester: accountKey(actor) ?? `${actor.kind}:${actor.name}`,
    protocol: matter.protocol,
    operation: matter.operation,
    domain: domain.id,
    profile: profile.record.id,
    renews: null,
    subject,
    extensions,
    key: csr ? publicKey : publicKey.type,
  };
  const clearance = await clear(context, configuration, matter, () =>
    petitionFor({
      identity,
      actor,
      request: csr ? { kind: 'pkcs10', der: csr.der } : null,
      requested,
      ca,
      outcomeAt: (now) => applied(requested, now),
      rehearse(outcome) {
        if (csr) rehearse(context, configuration, { ca, outcome, subjectKey: csr.publicKey, request: csr });
      },
      goesOn: false,
      remembers: true,
    }),
  );
  if (clearance.kind === 'pending') return clearance;
  const approval = clearance.kind === 'cleared' ? clearance.approval : undefined;
  return { kind: 'cleared', used: approval ? usedWrites(context, actor, approval, issuedCertificate) : [] };
}

async function certify(
  context: Dependencies,
  { commonName: inventoryName }: CertificateInput,
  { ca, domain, profile: { record }, applied }: Plan,
  request: VerifiedRequest,
  {
    alongside,
    ...more
  }: Pick<UpstreamCommission, 'digest' | 'purpose'> & { readonly alongside: readonly Write[] },
  actor: Actor,
): Promise<number | Deferral> {
  const made = await order(context, {
    ca,
    outcome: applied(request, context.clock.now()),
    subjectKey: request.publicKey,
    request,
    device: null,
    domain: domain.id,
    profile: record.id,
    profileName: record.uniqueName,
    protocol: 'management',
    actor,
    inventoryName,
    operation: 'enrol',
    renews: undefined,
    ...more,
    alongside: () => alongside,
  });
  return idOf(made);
}

const idOf = (made: Issued | Deferral): number | Deferral => ('kind' in made ? made : made.id);

/** By which the same is known again while an upstream CA decides. */
const digestOf = (
  actor: Actor,
  { domain, profile }: Plan,
  { subject, extensions }: Pick<ProfileRequest, 'subject' | 'extensions'>,
  key: RequestIdentity['key'],
): string =>
  requestDigest({
    requester: accountKey(actor) ?? `${actor.kind}:${actor.name}`,
    protocol: 'management',
    operation: 'enrol',
    domain: domain.id,
    profile: profile.record.id,
    renews: null,
    subject,
    extensions,
    key,
  });

/** The key waits to be fetched with its certificate. */
const heldKey = ({ clock }: Pick<Ports, 'clock'>, key: KeyReference): Write => ({
  op: 'insert',
  kind: 'certificateKey',
  values: { createdAt: clock.now(), certificate: issuedCertificate, key },
});

function domainOf(context: WithSettings, configuration: Configuration, id: number | undefined): Domain {
  if (id === undefined) return resolveDomain(configuration, undefined, context.settings.defaultDomain);
  const domain = configuration.domain(id);
  if (!domain) throw new Fault('malformed', 'there is no such domain', { field: 'domain' });
  return domain;
}

/** Only what the domain offers. Faults: malformed with field `certProfile`. */
function profileOf(
  configuration: Configuration,
  { uniqueName, profiles }: Domain,
  id: number | undefined,
): LoadedProfile {
  const offered = profiles.flatMap(({ profile }) => configuration.profile(profile) ?? []);
  const wanted =
    id === undefined
      ? (offered.find(({ record }) => record.uniqueName === usualProfile) ?? offered[0])
      : offered.find(({ record }) => record.id === id);
  if (wanted) return wanted;
  const detail =
    id === undefined || configuration.profile(id)
      ? `the domain ${uniqueName} does not offer ${id === undefined ? 'any profile' : 'this profile'}`
      : 'there is no such certificate profile';
  throw new Fault('malformed', detail, { field: 'certProfile' });
}
