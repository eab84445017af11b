import { Fault } from '../fault.ts';
import { extension } from '../x509/certificate.ts';
import type { Extension } from '../x509/extension.ts';
import { subjectAltNameExtension } from '../x509/extensions/identity.ts';
import { foldHost, formatGeneralName, type GeneralName, sameGeneralName } from '../x509/general-name.ts';
import { formatIpAddress, parseIpAddress } from '../x509/ip-address.ts';
import { oid } from '../x509/oids.ts';
import { hasHidden, quote } from '../x509/visible.ts';
import { decide } from './decide.ts';
import type { ProfileRules } from './language.ts';
import { attempt, isOid } from './problems.ts';
import { rareKinds } from './rare-names.ts';
import type { Others } from './subject.ts';
import type { Fields, ProfileRequest, Template, Tools } from './template.ts';
import { compileValues, type Trace, templateReader, type ValueRule } from './values.ts';

type NameKind = Exclude<GeneralName['kind'], 'other'>;

/**
 * Decides about the subject alternative names; undefined for none. `critical`: the subject is empty (RFC 5280
 * §4.2.1.6). Faults: badCsr.
 */
type NameRules = (
  request: ProfileRequest,
  critical: boolean,
  from: Fields,
  trace?: Trace,
) => Extension | undefined;

const textKinds = ['dns', 'ip', 'uri', 'email'] as const;
const rareKindNames = ['directory', 'registeredId', 'otherName'] as const;

/**
 * Characters that field values must not bring into a composed name: they would start another part of the URI, or a
 * wildcard.
 */
const delimiters: Partial<Record<NameKind, RegExp>> = { uri: /[:/?#[\]@%]/, dns: /\*/ };

export function compileNames(
  written: ProfileRules['subjectAltName'],
  others: Others,
  tools: Tools,
): NameRules {
  const rules = new Map<NameKind, ValueRule>();
  for (const kind of textKinds) {
    const rule = written?.[kind];
    if (!rule) continue;
    const read = templateReader(tools, true, delimiters[kind]);
    const fits = kind === 'dns' && written.dns?.wildcards ? fitsWildcard : forms[kind];
    rules.set(
      kind,
      compileValues(
        rule,
        { field: fieldOf(kind), ofRequest: true, most: 16, distinct: true, fits, fold: folds[kind], read },
        tools,
      ),
    );
  }
  const rare = rareKinds(written?.otherName?.types ?? []);
  for (const kind of rareKindNames) {
    const rule = written?.[kind];
    if (!rule) continue;
    const { fits, fold, text, show, delimiters, written: asWritten } = rare[kind];
    const readTemplate = templateReader(tools, true, delimiters);
    const read = (value: string, path: string): Template | undefined => {
      const template = readTemplate(value, path);
      return template && asWritten(template);
    };
    rules.set(
      kind,
      compileValues(
        rule,
        { field: fieldOf(kind), ofRequest: true, most: 16, distinct: true, fits, fold, text, show, read },
        tools,
      ),
    );
  }
  if (written?.otherName?.types.some((type) => !isOid(type))) {
    tools.problems.add('subjectAltName.otherName.types', 'has what is not an OID');
  }
  const atLeastOneOf = written?.atLeastOneOf;
  for (const kind of atLeastOneOf ?? []) {
    if (!rules.has(kind) && others !== 'keep') {
      tools.problems.add('subjectAltName.atLeastOneOf', `has ${kind}, for which there is no rule`);
    }
  }
  const waits = !atLeastOneOf && rules.values().every((rule) => rule.waits);
  return (request, critical, from, trace) => {
    const asked = request.subjectAltNames;
    if (waits && asked.length === 0) return undefined;
    const requested = asked.length > 1 ? eachOnce(asked, trace) : asked;
    const names = applyNames(rules, others, requested, from, trace);
    if (atLeastOneOf && !names.some(({ kind }) => atLeastOneOf.includes(kind as NameKind))) {
      throw new Fault(
        'badCsr',
        `subjectAltName: the request must contain at least one of: ${atLeastOneOf.map((kind) => titles[kind]).join(', ')}`,
      );
    }
    if (names.length === 0) return undefined;
    if (names !== asked) return subjectAltNameExtension(names, critical);
    const unchanged = extension(request, oid.subjectAltName);
    return unchanged?.critical === critical ? unchanged : subjectAltNameExtension(names, critical);
  };
}

/** Returns the names without duplicates. */
function eachOnce(names: readonly GeneralName[], trace: Trace | undefined): readonly GeneralName[] {
  const once = names.filter((name, n) => names.findIndex((other) => sameGeneralName(other, name)) === n);
  if (once.length === names.length) return names;
  for (const name of names) {
    if (!once.includes(name))
      trace?.(fieldOf(name.kind), '', `${quote(textOf(name))} is omitted: it occurs twice`);
  }
  return once;
}

/** Returns the requested names themselves if nothing changes. */
function applyNames(
  rules: ReadonlyMap<NameKind, ValueRule>,
  others: Others,
  requested: readonly GeneralName[],
  from: Fields,
  trace: Trace | undefined,
): readonly GeneralName[] {
  const dropped: GeneralName[] = [];
  for (const name of requested) {
    if ((name.kind === 'other' || !rules.has(name.kind)) && !keepOther(name, others, trace))
      dropped.push(name);
  }
  const added: GeneralName[] = [];
  for (const [kind, rule] of rules) {
    const values: string[] = [];
    for (const name of requested) if (name.kind === kind) values.push(textOf(name));
    const decision = decide(rule, values, from, trace);
    if (!decision) continue;
    let n = 0;
    for (const name of requested) {
      if (name.kind === kind && decision.without.includes(n++)) dropped.push(name);
    }
    for (const value of decision.add) added.push(made(kind, value));
  }
  if (dropped.length === 0 && added.length === 0) return requested;
  return [...requested.filter((name) => !dropped.includes(name)), ...added];
}

function keepOther(name: GeneralName, others: Others, trace: Trace | undefined): boolean {
  const field = fieldOf(name.kind);
  if (others === 'drop') {
    trace?.(field, '', `${quote(textOf(name))} is omitted: the profile does not allow it`);
    return false;
  }
  // Nothing here can judge the contents of x400Address and ediPartyName.
  if (others === 'refuse' || name.kind === 'other') {
    throw new Fault('badCsr', `${field}: the profile does not allow ${quote(formatGeneralName(name))}`);
  }
  const wrong = forms[name.kind](textOf(name));
  if (wrong) throw new Fault('badCsr', `${field}: ${quote(textOf(name))} ${wrong}`);
  trace?.(field, textOf(name), 'requested; the profile accepts values without a rule');
  return true;
}

const fieldOf = (kind: GeneralName['kind']): string => `subjectAltName.${kind}`;

function textOf(name: GeneralName): string {
  switch (name.kind) {
    case 'dns':
    case 'uri':
    case 'email':
      return name.value;
    default: {
      const text = formatGeneralName(name);
      return text.slice(text.indexOf(':') + 1);
    }
  }
}

function made(kind: NameKind, value: string): GeneralName {
  switch (kind) {
    case 'dns':
    case 'uri':
    case 'email':
      return { kind, value };
    case 'ip':
      return { kind, value: parseIpAddress(value) };
    default:
      return rareKinds([])[kind].made(value);
  }
}

const titles: Readonly<Record<NameKind, string>> = {
  dns: 'DNS name',
  ip: 'IP address',
  uri: 'URI',
  email: 'email address',
  directory: 'directory name',
  registeredId: 'registered ID',
  otherName: 'other name',
};

/**
 * A host name (RFC 1034 §3.5, RFC 1123 §2.1), the only form that RFC 5280 §4.2.1.6 allows. The last label must not be
 * numeric, because that is an address.
 */
const hostForm =
  /^(?=.{1,253}$)(?!(?:.*\.)?\d+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i;
/** An absolute URI (RFC 3986 §2). RFC 5280 §4.2.1.6 requires a scheme, and a host if there is an authority. */
const uriForm = /^[a-z][a-z0-9+.-]*:(?!\/\/(?:[/?#]|$))[a-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+$/i;
const longestUri = 1024;
/** RFC 5321 §4.1.2 without quoting. */
const localForm = /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}$/i;

const not = (kind: NameKind): string => `is not a valid ${titles[kind]}`;

const forms: Readonly<Record<NameKind, (text: string) => string | undefined>> = {
  dns: (text) => (hostForm.test(text) ? undefined : not('dns')),
  ip: (text) => (ipText(text) === undefined ? not('ip') : undefined),
  uri: (text) => (text.length <= longestUri && uriForm.test(text) ? undefined : not('uri')),
  email: (text) => {
    const at = text.lastIndexOf('@');
    const fits =
      at > 0 && text.length <= 254 && localForm.test(text.slice(0, at)) && hostForm.test(text.slice(at + 1));
    return fits ? undefined : not('email');
  },
  directory: (text) => (text === '' || hasHidden(text) ? not('directory') : undefined),
  registeredId: () => undefined,
  otherName: () => undefined,
};

function fitsWildcard(text: string): string | undefined {
  const host = text.startsWith('*.') ? text.slice(2) : text;
  // A wildcard for a whole top-level domain is never allowed.
  return host !== text && !host.includes('.') ? not('dns') : forms.dns(host);
}

/** Returns whether the text is an absolute URI that a certificate can contain. */
export const isUri = (text: string): boolean => forms.uri(text) === undefined;

/** Returns the canonical text of an IP address, or undefined. */
function ipText(text: string): string | undefined {
  const octets = attempt(() => parseIpAddress(text));
  return octets instanceof Fault ? undefined : formatIpAddress(octets);
}

const folds = {
  dns: (text: string) => text.toLowerCase(),
  ip: (text: string) => ipText(text) ?? text,
  uri: (text: string) => text,
  email: foldHost,
};
