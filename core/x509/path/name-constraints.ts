import type { NameConstraints } from '../extensions/name-constraints.ts';
import { formatGeneralName, type GeneralName } from '../general-name.ts';
import type { Budget } from './budget.ts';
import { Refusal } from './failure.ts';
import { isBelow } from './folded-name.ts';

/**
 * RFC 5280 §6.1.3 (b) and (c): every name lies in a permitted subtree of each CA above that has some of its kind, and
 * in no excluded one. Throws a Refusal, also for kinds of names, and forms, that constraints cannot be applied to.
 */
export function checkNames(
  names: readonly GeneralName[],
  constraints: readonly NameConstraints[],
  budget: Budget,
): void {
  for (const { permitted, excluded } of constraints) {
    for (const name of names) {
      budget.steps((permitted.length + excluded.length) * weight(name));
      const allowed = permitted.filter((base) => sameKind(name, base));
      if (allowed.length > 0 && !allowed.some((base) => liesIn(name, base))) {
        throw refusal(`${formatGeneralName(name)} is not among the permitted names`);
      }
      const forbidden = excluded.find(
        (base) => sameKind(name, base) && (liesIn(name, base) || mayReach(name, base)),
      );
      if (forbidden)
        throw refusal(`${formatGeneralName(name)} is excluded by ${formatGeneralName(forbidden)}`);
    }
  }
}

/** Steps of a comparison with one constraint, which may look at each character of the name. */
const weight = ({ value }: GeneralName): number =>
  typeof value === 'string' ? 1 + Math.floor(value.length / charactersPerStep) : 1;
const charactersPerStep = 256;

const refusal = (detail: string): Refusal => new Refusal('nameConstraints', detail);

function sameKind(name: GeneralName, base: GeneralName): boolean {
  if (name.kind === 'otherName') return base.kind === 'otherName' && name.type === base.type;
  if (name.kind === 'other') return base.kind === 'other' && name.tag === base.tag;
  return name.kind === base.kind;
}

/** Both of the same kind. */
function liesIn(name: GeneralName, base: GeneralName): boolean {
  if (name.kind === 'dns' && base.kind === 'dns') return dnsLiesIn(name.value, base.value);
  if (name.kind === 'email' && base.kind === 'email') return emailLiesIn(name.value, base.value);
  if (name.kind === 'uri' && base.kind === 'uri') return hostLiesIn(hostOfUri(name.value), base.value);
  if (name.kind === 'ip' && base.kind === 'ip') return addressLiesIn(name.value, base.value);
  if (name.kind === 'directory' && base.kind === 'directory') return isBelow(name.value, base.value);
  // RFC 5280 §4.2.1.10: a constraint that is not processed refuses the certificates it bears on.
  throw refusal(`constraints on names such as ${formatGeneralName(name)} are not supported`);
}

const longestHost = 253;
const hostForm = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;

/** In lower case. Whatever is not plainly a host name is refused: there is no telling where it lies. */
function hostName(text: string, of: string): string {
  const host = text.length > longestHost ? '' : text.toLowerCase();
  if (!hostForm.test(host)) throw refusal(`no host name can be made out in ${of}`);
  return host;
}

/** `example.com` holds itself and what is below, `.example.com` only what is below, nothing at all every name. */
function dnsLiesIn(name: string, base: string): boolean {
  const host = name.startsWith('*.') ? `*.${hostName(name.slice(2), name)}` : hostName(name, name);
  if (base === '') return true;
  const domain = hostName(base.startsWith('.') ? base.slice(1) : base, base);
  return host.endsWith(`.${domain}`) || host === base.toLowerCase();
}

/** Whether a wildcard stands for a name in the excluded subtree, next to others: `*.example.com` and `a.example.com`. */
function mayReach(name: GeneralName, base: GeneralName): boolean {
  if (name.kind !== 'dns' || base.kind !== 'dns' || !name.value.startsWith('*.')) return false;
  const below = base.value.toLowerCase();
  return below.slice(below.indexOf('.') + 1) === name.value.slice(2).toLowerCase();
}

/** A mailbox, a host with all mailboxes at it, or with a leading dot all hosts below. */
function emailLiesIn(name: string, base: string): boolean {
  const at = name.lastIndexOf('@');
  if (at < 1) throw refusal(`no host name can be made out in ${name}`);
  const host = hostName(name.slice(at + 1), name);
  const baseAt = base.lastIndexOf('@');
  if (baseAt < 0) return hostLiesIn(host, base);
  if (baseAt === 0) throw refusal(`no mailbox can be made out in ${base}`);
  return name.slice(0, at) === base.slice(0, baseAt) && host === hostName(base.slice(baseAt + 1), base);
}

/** `example.com` holds this host alone, `.example.com` only what is below. */
function hostLiesIn(host: string, base: string): boolean {
  if (base === '') return true;
  if (!base.startsWith('.')) return host === hostName(base, base);
  return host.endsWith(`.${hostName(base.slice(1), base)}`);
}

/** RFC 3986 §3.2, user and port passed over. What else stands there, a backslash above all, others read differently. */
const authorityForm =
  /^[a-z][a-z0-9+.-]*:\/\/(?:[a-z0-9._~!$&'()*+,;=:%-]*@)?([a-z0-9_.-]*)(?::\d*)?(?:[/?#]|$)/i;

/** RFC 5280 §4.2.1.10: a URI without a host name, with an IP address for example, cannot be judged and is refused. */
function hostOfUri(uri: string): string {
  const host = hostName(authorityForm.exec(uri)?.[1] ?? '', uri);
  if (/^(?:\d+|0x[\da-f]*)$/.test(host.slice(host.lastIndexOf('.') + 1)))
    throw refusal(`no host name can be made out in ${uri}`);
  return host;
}

/** `range`: address and mask of RFC 4632. */
function addressLiesIn(address: Uint8Array, range: Uint8Array): boolean {
  const octets = range.length / 2;
  const mask = range.subarray(octets);
  if (!isPrefix(mask)) throw refusal('an IP address constraint has a mask that is no prefix');
  if (address.length !== 4 && address.length !== 16)
    throw refusal('an IP address is neither 4 nor 16 octets long');
  return address.length === octets && address.every((octet, i) => ((octet ^ range[i]!) & mask[i]!) === 0);
}

/** Ones, then zeros. */
function isPrefix(mask: Uint8Array): boolean {
  let ended = false;
  for (const octet of mask) {
    if (ended ? octet !== 0 : ![0xff, 0xfe, 0xfc, 0xf8, 0xf0, 0xe0, 0xc0, 0x80, 0].includes(octet))
      return false;
    ended ||= octet !== 0xff;
  }
  return true;
}
