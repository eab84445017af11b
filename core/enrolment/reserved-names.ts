import { serverNames } from '../ca/server-names.ts';
import { Fault } from '../fault.ts';
import type { GatewaySettings } from '../ports/settings.ts';
import type { ProfileOutcome } from '../profiles/apply.ts';
import { extendedKeyUsageOf, subjectAltNamesOf } from '../x509/certificate.ts';
import { formatGeneralName, type GeneralName, sameGeneralName } from '../x509/general-name.ts';
import { commonName } from '../x509/name.ts';
import { oid } from '../x509/oids.ts';

/**
 * A device whose TLS server certificate bore a name of this service would be taken for it by all the others, which would tell it
 * their secrets. Faults: forbidden.
 */
export function demandNotOurs(
  settings: Pick<GatewaySettings, 'serverNames'>,
  outcome: Pick<ProfileOutcome, 'subject' | 'extensions'>,
): void {
  const purposes = extendedKeyUsageOf(outcome);
  if (purposes && !purposes.some(isServers)) return;
  const names = [...subjectAltNamesOf(outcome)];
  // Where there is no DNS name, some clients look here (RFC 6125 §6.4.4).
  const host = commonName(outcome.subject);
  if (host !== undefined) names.push({ kind: 'dns', value: host });
  const ours = serverNames(settings).filter((name) => !isLoopback(name));
  const taken = names.find((name) => ours.some((one) => covers(name, one)));
  if (taken) throw new Fault('forbidden', `${formatGeneralName(taken)} is a name of this service`);
}

const isServers = (purpose: string): boolean =>
  purpose === oid.serverAuth || purpose === oid.anyExtendedKeyUsage;

/** On every machine it means that machine: who reaches this service by it is on this machine already. */
function isLoopback(name: GeneralName): boolean {
  if (name.kind === 'dns') return name.value.toLowerCase() === 'localhost';
  if (name.kind !== 'ip') return false;
  const { value } = name;
  return value.length === 4 ? value[0] === 127 : value.every((octet, n) => octet === (n === 15 ? 1 : 0));
}

function covers(name: GeneralName, ours: GeneralName): boolean {
  if (sameGeneralName(name, ours)) return true;
  if (name.kind !== 'dns' || ours.kind !== 'dns' || !name.value.startsWith('*.')) return false;
  return name.value.slice(1).toLowerCase() === ours.value.slice(ours.value.indexOf('.')).toLowerCase();
}
