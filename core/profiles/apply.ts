import { Fault } from '../fault.ts';
import type { Patterns } from '../ports/platform.ts';
import type { Certificate } from '../x509/certificate.ts';
import type { Extension } from '../x509/extension.ts';
import type { Name } from '../x509/name.ts';
import { compileExtensions } from './extensions.ts';
import { compileKeys } from './keys.ts';
import type { ProfileRules } from './language.ts';
import type { Urls } from './locations.ts';
import { compileNames } from './names.ts';
import { Problems } from './problems.ts';
import { compileSubject } from './subject.ts';
import type { Device, ProfileRequest } from './template.ts';
import { compileValidity } from './validity.ts';
import type { Trace } from './values.ts';

/** The input of a profile. */
export interface ProfileContext {
  readonly request: ProfileRequest;
  /** Undefined if the service issues for itself. */
  readonly device: Device | undefined;
  readonly domain: { readonly uniqueName: string };
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The CA's own certificate. */
  readonly issuer: Certificate;
  readonly urls: Urls;
}

/** One line of the explanation of a result: the value and the reason for it. An empty value was omitted. */
export interface Explanation {
  readonly field: string;
  readonly value: string;
  readonly because: string;
}

/** The contents of the certificate. */
export interface ProfileOutcome {
  readonly subject: Name;
  /** All of them, in a fixed order, key identifiers included. */
  readonly extensions: readonly Extension[];
  /** Milliseconds since 1970, whole seconds. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** The certificate has no expiry of its own; it expires only with the CA. */
  readonly endless: boolean;
  /** Computes the explanations. */
  explain(): readonly Explanation[];
}

export interface CompiledProfile {
  /**
   * Applies the profile. A request for the subject and names of an outcome yields the same outcome (RFC 7030 §4.2.2).
   * Faults: badCsr with the field for a request that does not fit; badAlgorithm for a key that is not allowed; conflict
   * if the CA or the profile has expired; malformed for a requested extension that cannot be read. `trace` receives
   * each field with its reason, as far as the profile gets.
   */
  apply(context: ProfileContext, trace?: Trace): ProfileOutcome;
}

/**
 * Compiles rules that match the schema, once for each version of the rules. Faults: malformed, as parseProfileRules.
 */
export function compileProfile(rules: ProfileRules, patterns: Patterns): CompiledProfile {
  const problems = new Problems(rules);
  const tools = { patterns, problems };
  const { subject: subjectOthers = 'refuse', subjectAltName: nameOthers = 'refuse' } = rules.others ?? {};
  const extensions = rules.extensions ?? {};
  const ca = extensions.basicConstraints?.ca ?? false;

  const checkKey = compileKeys(rules.keys, tools);
  const decideSubject = compileSubject(rules.subject, subjectOthers, tools);
  const decideNames = compileNames(rules.subjectAltName, nameOthers, tools);
  const decideExtensions = compileExtensions(extensions, rules.others?.extensions ?? 'refuse', tools);
  const decideValidity = compileValidity(rules.validity, tools);
  problems.settle();

  const apply = (context: ProfileContext, trace?: Trace): ProfileOutcome => {
    const { request, device, domain, now, issuer, urls } = context;
    checkKey(request.publicKey.type, trace);
    const subject = decideSubject(request.subject, { device, domain, request: undefined }, trace);
    const from = { device, domain, request: subject };
    const nameless = subject.rdns.length === 0;
    const subjectAltName = decideNames(request, nameless, from, trace);
    // RFC 5280 §4.1.2.6
    if (nameless && ca) throw new Fault('badCsr', 'subject: a CA certificate must have a subject');
    if (nameless && !subjectAltName) {
      throw new Fault('badCsr', 'subject: the request must contain a subject or a subject alternative name');
    }
    const extensions = decideExtensions(request, issuer, urls, from, subjectAltName, trace);
    const { notBefore, notAfter, endless } = decideValidity(now, issuer, trace);
    return { subject, extensions, notBefore, notAfter, endless, explain: () => explain(context) };
  };
  const explain = (context: ProfileContext): readonly Explanation[] => {
    const explanations: Explanation[] = [];
    apply(context, (field, value, because) => explanations.push({ field, value, because }));
    return explanations;
  };
  return { apply };
}
