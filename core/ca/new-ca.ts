import type { LoadedCa, WithConfiguration } from '../configuration/configuration.ts';
import { hasExpired } from '../der/time.ts';
import { atField, Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import { addDuration, parseDuration } from '../profiles/duration.ts';
import { everyRecord } from '../storage/every-record.ts';
import type { KeyType } from '../x509/algorithm.ts';
import { hasRoom } from '../x509/ca-chain.ts';
import { attribute, buildName, type Name, parseDistinguishedName } from '../x509/name.ts';

interface Dependencies extends Pick<Ports, 'clock' | 'store'>, WithConfiguration {}

const year = 365.25 * 24 * 3_600_000;
const longestLifetime = 100 * year;

interface CaDefaults {
  readonly keyType: KeyType;
  /** Milliseconds. */
  readonly lifetime: number;
}

const root: CaDefaults = { keyType: 'p-384', lifetime: 20 * year };
const below: CaDefaults = { keyType: 'p-256', lifetime: 10 * year };

/** Returns the default values of a new CA. */
export const caDefaults = (isRoot: boolean): CaDefaults => (isRoot ? root : below);

/**
 * Builds the subject from an RFC 4514 name or a common name; without either, makes a name that no other installation
 * has. Faults: malformed with `field`.
 */
export function caSubject(
  { entropy }: Pick<Ports, 'entropy'>,
  isRoot: boolean,
  given: { readonly subject?: string; readonly commonName?: string },
): Name {
  const { subject, commonName } = given;
  if (subject !== undefined) {
    if (commonName !== undefined) {
      throw new Fault('malformed', 'send either subject or common_name, not both', { field: 'subject' });
    }
    return nameAt('subject', () => parseDistinguishedName(subject));
  }
  if (commonName !== undefined) return nameAt('commonName', () => buildName([[attribute('CN', commonName)]]));
  const mark = Buffer.from(entropy.bytes(4)).toString('hex').toUpperCase();
  const kind = isRoot ? 'Root' : 'Issuing';
  return buildName([[attribute('O', 'Postern')], [attribute('CN', `Postern ${kind} CA ${mark}`)]]);
}

function nameAt(field: string, read: () => Name): Name {
  try {
    return read();
  } catch (error) {
    throw atField(error, field);
  }
}

/**
 * Parses the validity period, an ISO 8601 duration, into milliseconds from a given time. Faults: malformed with field
 * `validity`.
 */
export function caLifetime(validity: string | undefined, isRoot: boolean, now: number): number {
  if (validity === undefined) return caDefaults(isRoot).lifetime;
  const duration = parseDuration(validity);
  const lifetime = duration && addDuration(now, duration) - now;
  if (lifetime !== undefined && lifetime <= longestLifetime) return lifetime;
  throw new Fault('malformed', 'this must be an ISO 8601 duration such as P10Y, at most 100 years', {
    field: 'validity',
  });
}

/** Returns the CA that signs a new CA; without an id, the newest suitable root. Faults: malformed with `field`. */
export async function parentCa(
  context: Dependencies,
  id: number | undefined,
  field: string,
): Promise<LoadedCa> {
  context.configuration.expire();
  const configuration = await context.configuration.current();
  const now = context.clock.now();
  if (id === undefined) {
    const { records } = await everyRecord(context.store, 'issuingCa');
    const roots = records.filter(({ chain }) => chain.length === 0);
    const fit = roots.flatMap(({ id }) => configuration.ca(id) ?? []).find((ca) => !unfit(ca, now));
    if (!fit)
      throw new Fault('malformed', 'no root CA can sign another CA: add one, or name a parent CA', { field });
    return fit;
  }
  const parent = configuration.ca(id);
  const why = parent ? unfit(parent, now) : 'there is no such issuing CA';
  if (!parent || why) throw new Fault('malformed', why ?? '', { field });
  return parent;
}

/** Returns why a CA cannot sign another CA, or undefined. */
function unfit({ record, certificate, above }: LoadedCa, now: number): string | undefined {
  if (!record.key) return 'Postern does not hold the key of this CA';
  if (!record.isActive) return 'this CA is not active';
  if (hasExpired(certificate.notAfter, now)) return 'this CA has expired';
  if (!hasRoom([certificate, ...above], 1)) return 'pathLenConstraint of this CA allows no CA below it';
  return undefined;
}
