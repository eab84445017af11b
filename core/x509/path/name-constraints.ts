import type { NameConstraints } from '../extensions/name-constraints.ts';
import { formatGeneralName, type GeneralName } from '../general-name.ts';
import type { Budget } from './budget.ts';
import { Refusal } from './failure.ts';
import { isBelow } from './folded-name.ts';

/**
 * Checks name constraints (RFC 5280 §6.1.3 (b) and (c)): every name must be in a permitted subtree of each CA above
 * that has permitted subtrees of its kind, and in no excluded one. Throws a Refusal, also for kinds and forms of names
 * to which constraints cannot be applied.
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

/** Returns the steps of one comparison, which may read every character of the name. */
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
  // RFC 5280 §4.2.1.10: certificates with names to which an unsupported constraint applies must be rejected.
  throw refusal(`constraints on names such as ${formatGeneralName(name)} are not supported`);
}

const longestHost = 253;
const hostForm = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;

/** Returns the host name in lower case. Rejects any other text, because its subtree would be ambiguous. */
function hostName(text: string, of: string): string {
  const host = text.length > longestHost ? '' : text.toLowerCase();
  if (!hostForm.test(host)) throw refusal(`there is no valid host name in ${of}`);
  return host;
}

/**
 * `example.com` contains itself and all names below it, `.example.com` only the names below it; the empty base contains
 * every name.
 */
function dnsLiesIn(name: string, base: string): boolean {
  const host = name.startsWith('*.') ? `*.${hostName(name.slice(2), name)}` : hostName(name, name);
  if (base === '') return true;
  const domain = hostName(base.startsWith('.') ? base.slice(1) : base, base);
  return host.endsWith(`.${domain}`) || host === base.toLowerCase();
}

/**
 * Returns whether a wildcard covers a name in the excluded subtree among others: `*.example.com` covers
 * `a.example.com`.
 */
function mayReach(name: GeneralName, base: GeneralName): boolean {
  if (name.kind !== 'dns' || base.kind !== 'dns' || !name.value.startsWith('*.')) return false;
  const below = base.value.toLowerCase();
  return below.slice(below.indexOf('.') + 1) === name.value.slice(2).toLowerCase();
}

/** The base is a mailbox, a host with all its mailboxes or, with a leading dot, all hosts below it. */
function emailLiesIn(name: string, base: string): boolean {
  const at = name.lastIndexOf('@');
  if (at < 1) throw refusal(`there is no valid host name in ${name}`);
  const host = hostName(name.slice(at + 1), name);
  const baseAt = base.lastIndexOf('@');
  if (baseAt < 0) return hostLiesIn(host, base);
  if (baseAt === 0) throw refusal(`there is no valid mailbox in ${base}`);
  return name.slice(0, at) === base.slice(0, baseAt) && host === hostName(base.slice(baseAt + 1), base);
}

/** `example.com` contains only this host, `.example.com` only the hosts below it. */
function hostLiesIn(host: string, base: string): boolean {
  if (base === '') return true;
  if (!base.startsWith('.')) return host === hostName(base, base);
  return host.endsWith(`.${hostName(base.slice(1), base)}`);
}

/**
 * The authority of a URI (RFC 3986 §3.2), ignoring user and port. Other characters, above all backslashes, are rejected
 * because software interprets them differently.
 */
const authorityForm =
  /^[a-z][a-z0-9+.-]*:\/\/(?:[a-z0-9._~!$&'()*+,;=:%-]*@)?([a-z0-9_.-]*)(?::\d*)?(?:[/?#]|$)/i;

/**
 * Returns the host name of a URI. RFC 5280 §4.2.1.10: a URI without one, for example with an IP address, is rejected.
 */
function hostOfUri(uri: string): string {
  const host = hostName(authorityForm.exec(uri)?.[1] ?? '', uri);
  if (/^(?:\d+|0x[\da-f]*)$/.test(host.slice(host.lastIndexOf('.') + 1)))
    throw refusal(`there is no valid host name in ${uri}`);
  return host;
}

/** `range`: address and mask of RFC 4632. */
function addressLiesIn(address: Uint8Array, range: Uint8Array): boolean {
  const octets = range.length / 2;
  const mask = range.subarray(octets);
  if (!isPrefix(mask)) throw refusal('an IP address constraint has a mask that is not a prefix');
  if (address.length !== 4 && address.length !== 16) throw refusal('an IP address must have 4 or 16 octets');
  return address.length === octets && address.every((octet, i) => ((octet ^ range[i]!) & mask[i]!) === 0);
}

/** Returns whether the mask is a run of ones followed by zeros. */
function isPrefix(mask: Uint8Array): boolean {
  let ended = false;
  for (const octet of mask) {
    if (ended ? octet !== 0 : ![0xff, 0xfe, 0xfc, 0xf8, 0xf0, 0xe0, 0xc0, 0x80, 0].includes(octet))
      return false;
    ended ||= octet !== 0xff;
  }
  return true;
}
