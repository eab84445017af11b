import { demand, type Principal } from '../access/principal.ts';
import { standIn } from '../ca/own-credentials.ts';
import { publicUrls } from '../configuration/ca-lookup.ts';
import type { Configuration, LoadedCa, WithConfiguration } from '../configuration/configuration.ts';
import { resolveDomain } from '../configuration/target.ts';
import { Fault } from '../fault.ts';
import { demandNoOwnName } from '../issuance/own-names.ts';
import { draft } from '../issuance/prepare.ts';
import { newSerial } from '../issuance/serial.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import {
  type CompiledProfile,
  compileProfile,
  type Explanation,
  type ProfileOutcome,
} from '../profiles/apply.ts';
import type { ProfileRules } from '../profiles/language.ts';
import { parseProfileRules } from '../profiles/parse.ts';
import { attempt } from '../profiles/problems.ts';
import { profileShortcomings } from '../profiles/shortcomings.ts';
import type { Device } from '../records/device.ts';
import type { Domain } from '../records/domain.ts';
import { faultOf } from '../security/demands.ts';
import type { SecurityLevel } from '../security/levels.ts';
import type { CertificateTemplate } from '../x509/certificate.ts';
import { commonName } from '../x509/name.ts';
import { readPublicKey } from '../x509/public-key.ts';
import { type VerifiedRequest, verifyPkcs10 } from '../x509/request.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'patterns' | 'store'>,
    WithConfiguration,
    WithSettings {}

export interface PreviewInput {
  /** PKCS#10, DER. */
  readonly csr: Uint8Array;
  /** For which device it would be; without one, for the name in the request, as an administrator may ask for a certificate. */
  readonly device?: number;
  /** Default: the device's domain, or else the default domain. */
  readonly domain?: number;
  /** Rules that are not stored, in place of those of the profile. */
  readonly rules?: unknown;
}

/** What would say no. */
export type Objector =
  | 'rules'
  | 'domain'
  | 'issuingCa'
  | 'request'
  | 'profile'
  | 'names'
  | 'lint'
  | 'securityLevel';

export interface Objection {
  readonly by: Objector;
  readonly code: Fault['code'];
  /** Of the rules a JSON pointer, of the profile `subject.CN`, else null. */
  readonly where: string | null;
  readonly detail: string;
}

/** What would come of a request. Nothing of it is kept. */
export interface Preview {
  /** Undefined for rules that belong to no stored profile. */
  readonly profile: { readonly id: number; readonly uniqueName: string } | undefined;
  readonly domain: Domain;
  /** By which names paths find the profile in the domain. */
  readonly offeredAs: readonly string[];
  readonly device: Device | undefined;
  readonly issuingCa: LoadedCa['record'] | undefined;
  readonly securityLevel: SecurityLevel;
  /** Undefined when it cannot be read, or proves nothing. */
  readonly request: VerifiedRequest | undefined;
  /** Undefined when the profile makes none of the request. */
  readonly certificate: CertificateTemplate | undefined;
  readonly explanations: readonly Explanation[];
  /** Empty: it would be issued, unless an approval is needed. */
  readonly objections: readonly Objection[];
}

/**
 * Goes the way of an enrolment up to the signature, past every refusal that leaves anything to go on with. No serial number is
 * used and nothing stored. `id`: of the profile; undefined for rules alone. Faults: forbidden, notFound; malformed with `field`.
 */
export async function preview(
  context: Dependencies,
  principal: Principal,
  id: number | undefined,
  { csr, rules: unsaved, ...input }: PreviewInput,
): Promise<Preview> {
  demand(principal, 'profiles.read');
  if (input.device !== undefined) demand(principal, 'devices.read');
  if (input.domain !== undefined) demand(principal, 'domains.read');
  const configuration = await context.configuration.current();
  const record = id === undefined ? undefined : await context.store.get('profile', id);
  if (id !== undefined && !record) throw new Fault('notFound', 'there is no such certificate profile');
  const device = input.device === undefined ? undefined : await context.store.get('device', input.device);
  if (input.device !== undefined && !device)
    throw new Fault('malformed', 'there is no such device', { field: 'device' });
  const domain = domainOf(context, configuration, input.domain, device);

  const objections: Objection[] = [];
  const object = (by: Objector, { code, detail, problems }: Fault): void => {
    for (const problem of problems ?? [{ pointer: placeIn(by, detail), detail }])
      objections.push({ by, code, where: problem.pointer, detail: problem.detail });
  };
  /** What `run` gives; undefined where it objects. */
  const tried = <T>(by: Objector, run: () => T): T | undefined => {
    const result = attempt(run);
    if (!(result instanceof Fault)) return result;
    object(by, result);
    return undefined;
  };

  const { security } = configuration;
  const now = context.clock.now();
  const { rules, compiled } = tried('rules', () => compiledRules(context, unsaved ?? record?.profile)) ?? {};
  // What is stored may say more than it gives: each certificate is held against the level.
  const unfit = rules && unsaved !== undefined ? profileShortcomings(security, rules, now) : [];
  for (const { pointer, detail } of unfit)
    objections.push({ by: 'rules', code: 'conflict', where: pointer, detail });

  const offers = domain.profiles.filter(({ profile }) => profile === id);
  if (record && offers.length === 0)
    object('domain', new Fault('forbidden', `the domain ${domain.uniqueName} does not offer this profile`));
  if (device && device.domain !== domain.id)
    object('domain', new Fault('forbidden', 'this device does not belong to the domain'));
  const ca = domain.issuingCa === null ? undefined : configuration.ca(domain.issuingCa);
  if (!ca) object('issuingCa', new Fault('unavailable', `the domain ${domain.uniqueName} has no issuing CA`));
  else if (!ca.record.isActive) object('issuingCa', new Fault('unavailable', 'the issuing CA is not active'));

  const request = tried('request', () => verifyPkcs10(csr));
  const explanations: Explanation[] = [];
  let certificate: CertificateTemplate | undefined;
  if (request && compiled && ca) {
    const outcome = tried('profile', () => {
      const name = commonName(request.subject);
      const holder = device ?? (name === undefined ? undefined : standIn(name));
      const urls = publicUrls(context.settings, ca.record.id);
      return compiled.apply(
        { request, device: holder, domain, now, issuer: ca.certificate, urls },
        (field, value, because) => explanations.push({ field, value, because }),
      );
    });
    if (outcome) tried('names', () => demandNoOwnName(context.settings.serverNames, outcome));
    if (outcome) certificate = drafted(context, configuration, ca, request, outcome, object);
  }
  return {
    profile: record,
    domain,
    offeredAs: offers.map(({ alias }) => alias ?? record!.uniqueName),
    device,
    issuingCa: ca?.record,
    securityLevel: security.level,
    request,
    certificate,
    explanations,
    objections,
  };
}

function domainOf(
  context: WithSettings,
  configuration: Configuration,
  id: number | undefined,
  device: Device | undefined,
): Domain {
  const wanted = id ?? device?.domain ?? undefined;
  if (wanted === undefined) return resolveDomain(configuration, undefined, context.settings.defaultDomain);
  const domain = configuration.domain(wanted);
  if (!domain) throw new Fault('malformed', 'there is no such domain', { field: 'domain' });
  return domain;
}

function compiledRules(
  { patterns }: Pick<Ports, 'patterns'>,
  written: unknown,
): { readonly rules: ProfileRules; readonly compiled: CompiledProfile } {
  const rules = parseProfileRules(written, patterns);
  return { rules, compiled: compileProfile(rules, patterns) };
}

/** Its serial number is thrown away: nobody has recorded it. */
function drafted(
  context: Pick<Ports, 'clock' | 'entropy'>,
  { security }: Configuration,
  ca: LoadedCa,
  request: VerifiedRequest,
  outcome: ProfileOutcome,
  object: (by: Objector, fault: Fault) => void,
): CertificateTemplate {
  const { template, findings, shortcomings } = draft({
    outcome,
    subjectKey: request.publicKey,
    serial: newSerial(context.clock, context.entropy),
    issuerName: ca.certificate.subject,
    issuerKey: readPublicKey(ca.certificate.spki).type,
    issuer: ca.certificate,
    above: ca.above,
    security,
  });
  for (const finding of findings) object('lint', new Fault('badCsr', finding));
  for (const one of shortcomings) object('securityLevel', faultOf(one));
  return template;
}

/** Profiles begin what they say with the field that it is about. */
const placeIn = (by: Objector, detail: string): string | null =>
  by === 'profile'
    ? (/^((?:keys|validity|subject|subjectAltName|extensions)(?:\.[\w.]+)?): /.exec(detail)?.[1] ?? null)
    : null;
