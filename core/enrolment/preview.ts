import { demand, type Principal } from '../access/principal.ts';
import type { LoadedCa, WithConfiguration } from '../configuration/configuration.ts';
import { demandOffered, resolveCa } from '../configuration/target.ts';
import { Fault } from '../fault.ts';
import { demandActive, draftIssuance } from '../issuance/issue.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import { type CompiledProfile, compileProfile, type Explanation } from '../profiles/apply.ts';
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
import { type VerifiedRequest, verifyPkcs10 } from '../x509/request.ts';
import { applyProfile, demandInDomain } from './plan.ts';
import { chosenDomain, holderNamed } from './plan-for-account.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'patterns' | 'store'>,
    WithConfiguration,
    WithSettings {}

export interface PreviewInput {
  /** PKCS#10, DER. */
  readonly csr: Uint8Array;
  /** The device that the certificate would be for. Without one, the name in the request counts, as for an administrator's request. */
  readonly device?: number;
  /** Default: the device's domain, or else the default domain. */
  readonly domain?: number;
  /** Unsaved rules that replace those of the profile. */
  readonly rules?: unknown;
}

/** The check that would reject the request. */
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
  /** A JSON pointer into the rules, or a field of the profile such as `subject.CN`, or null. */
  readonly where: string | null;
  readonly detail: string;
}

/** The certificate that a request would result in. Nothing of it is stored. */
export interface Preview {
  /** Undefined for rules that belong to no stored profile. */
  readonly profile: { readonly id: number; readonly uniqueName: string } | undefined;
  readonly domain: Domain;
  /** The names of the profile in enrolment URLs of the domain. */
  readonly offeredAs: readonly string[];
  readonly device: Device | undefined;
  readonly issuingCa: LoadedCa['record'] | undefined;
  readonly securityLevel: SecurityLevel;
  /** Undefined when the request cannot be read, or its signature is wrong. */
  readonly request: VerifiedRequest | undefined;
  /** Undefined when the profile rejects the request. */
  readonly certificate: CertificateTemplate | undefined;
  readonly explanations: readonly Explanation[];
  /** Empty: the certificate would be issued, unless a policy demands approval. */
  readonly objections: readonly Objection[];
}

/**
 * Runs the checks of an enrolment up to the signature and collects their objections. No serial number is used and nothing is stored.
 * `id`: the id of the profile; undefined for unsaved rules alone. Faults: forbidden, notFound; malformed with `field`.
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
  const domain = chosenDomain(context, configuration, input.domain ?? device?.domain ?? undefined);

  const objections: Objection[] = [];
  const object = (by: Objector, { code, detail, problems }: Fault): void => {
    for (const problem of problems ?? [{ pointer: placeIn(by, detail), detail }])
      objections.push({ by, code, where: problem.pointer, detail: problem.detail });
  };
  /** Returns the result of `run`, or undefined if it throws a Fault, which becomes an objection. */
  const tried = <T>(by: Objector, run: () => T): T | undefined => {
    const result = attempt(run);
    if (!(result instanceof Fault)) return result;
    object(by, result);
    return undefined;
  };

  const { security } = configuration;
  const now = context.clock.now();
  const { rules, compiled } = tried('rules', () => compiledRules(context, unsaved ?? record?.profile)) ?? {};
  // A stored profile may allow more than the level does, because each certificate is checked against the level.
  const unfit = rules && unsaved !== undefined ? profileShortcomings(security, rules, now) : [];
  for (const { pointer, detail } of unfit)
    objections.push({ by: 'rules', code: 'conflict', where: pointer, detail });

  if (record) tried('domain', () => demandOffered(domain, record.id));
  if (device) tried('domain', () => demandInDomain(device, domain));
  const ca = tried('issuingCa', () => resolveCa(configuration, domain));
  if (ca) tried('issuingCa', () => demandActive(ca));

  const request = tried('request', () => verifyPkcs10(csr));
  const explanations: Explanation[] = [];
  let certificate: CertificateTemplate | undefined;
  if (request && compiled && ca) {
    const holder = device ?? holderNamed(commonName(request.subject));
    const plan = { profile: { compiled }, ca, domain, device, holder, ignoresName: false };
    const outcome = tried('profile', () =>
      applyProfile(context, plan, request, now, (field, value, because) =>
        explanations.push({ field, value, because }),
      ),
    );
    if (outcome) {
      const subjectKey = request.publicKey;
      const draft = draftIssuance(context, configuration, { ca, outcome, subjectKey, request });
      if (draft.ownName) object('names', draft.ownName);
      for (const finding of draft.findings) object('lint', new Fault('badCsr', finding));
      for (const one of draft.shortcomings) object('securityLevel', faultOf(one));
      certificate = draft.template;
    }
  }
  return {
    profile: record,
    domain,
    offeredAs: domain.profiles.flatMap(({ profile, alias }) =>
      profile === record?.id ? [alias ?? record.uniqueName] : [],
    ),
    device,
    issuingCa: ca?.record,
    securityLevel: security.level,
    request,
    certificate,
    explanations,
    objections,
  };
}

function compiledRules(
  { patterns }: Pick<Ports, 'patterns'>,
  written: unknown,
): { readonly rules: ProfileRules; readonly compiled: CompiledProfile } {
  const rules = parseProfileRules(written, patterns);
  return { rules, compiled: compileProfile(rules, patterns) };
}

/** A Fault of a profile starts with the name of the field. */
const placeIn = (by: Objector, detail: string): string | null =>
  by === 'profile'
    ? (/^((?:keys|validity|subject|subjectAltName|extensions)(?:\.[\w.]+)?): /.exec(detail)?.[1] ?? null)
    : null;
