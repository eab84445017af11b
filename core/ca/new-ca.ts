import type { LoadedCa } from '../configuration.ts';
import type { Context } from '../context.ts';
import { atField, Fault } from '../fault.ts';
import { addDuration, parseDuration } from '../profiles/duration.ts';
import type { KeyType } from '../x509/algorithm.ts';
import { basicConstraintsOf } from '../x509/certificate.ts';
import { attribute, buildName, type Name, parseDistinguishedName } from '../x509/name.ts';

const year = 365.25 * 24 * 3_600_000;
const longestLifetime = 100 * year;

interface CaDefaults {
  readonly keyType: KeyType;
  /** Milliseconds. */
  readonly lifetime: number;
}

const root: CaDefaults = { keyType: 'p-384', lifetime: 20 * year };
const below: CaDefaults = { keyType: 'p-256', lifetime: 10 * year };

/** What a CA is like when nobody says otherwise. */
export const caDefaults = (isRoot: boolean): CaDefaults => (isRoot ? root : below);

/**
 * From a subject (RFC 4514) or a common name; from neither, a name that no other installation has. Faults: malformed with
 * `field`.
 */
export function caSubject(
  { entropy }: Pick<Context, 'entropy'>,
  isRoot: boolean,
  given: { readonly subject?: string; readonly commonName?: string },
): Name {
  const { subject, commonName } = given;
  if (subject !== undefined) {
    if (commonName !== undefined) {
      throw new Fault('malformed', 'either subject or common_name is given', { field: 'subject' });
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

/** An ISO 8601 duration from a moment on, in milliseconds. Faults: malformed with field `validity`. */
export function caLifetime(validity: string | undefined, isRoot: boolean, now: number): number {
  if (validity === undefined) return caDefaults(isRoot).lifetime;
  const duration = parseDuration(validity);
  const lifetime = duration && addDuration(now, duration) - now;
  if (lifetime !== undefined && lifetime <= longestLifetime) return lifetime;
  throw new Fault('malformed', 'an ISO 8601 duration such as P10Y is expected, of 100 years at most', {
    field: 'validity',
  });
}

/** The CA of ours that is to sign another one; without an id the newest root. Faults: malformed with field `parent`. */
export async function parentCa(context: Context, id?: number): Promise<LoadedCa> {
  const refuse = (detail: string) => new Fault('malformed', detail, { field: 'parent' });
  context.configuration.expire();
  const configuration = await context.configuration.current();
  const wanted = id ?? (await newestRoot(context));
  const parent = wanted === undefined ? undefined : configuration.ca(wanted);
  if (!parent) throw refuse(id === undefined ? 'there is no active root CA' : 'there is no such issuing CA');
  const { record, certificate } = parent;
  if (!record.key) throw refuse('the key of this CA is not here');
  if (!record.isActive) throw refuse('this CA is not active');
  if (certificate.notAfter <= context.clock.now()) throw refuse('this CA has expired');
  if (basicConstraintsOf(certificate)?.pathLength === 0) throw refuse('this CA may have no CA below it');
  return parent;
}

async function newestRoot({ store }: Pick<Context, 'store'>): Promise<number | undefined> {
  const { records } = await store.list('issuingCa', {
    where: [{ field: 'isActive', is: 'equal', value: true }],
    limit: 1000,
  });
  return records.find(({ key, chain }) => key !== null && chain.length === 0)?.id;
}
