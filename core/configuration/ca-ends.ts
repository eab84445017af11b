import type { Health } from '../ports/platform.ts';
import { addDuration, parseDuration } from '../profiles/duration.ts';
import type { Domain } from '../records/domain.ts';
import type { Configuration, LoadedCa } from './configuration.ts';

/** A problem with the expiry of a CA. */
export type CaEnding = 'expired' | 'expires soon' | 'shortens certificates';

const day = 24 * 3_600_000;
const mostNamed = 5;

/**
 * Returns the health of the CAs that issue for domains: not ok if a CA expires within the warning period, or if it
 * already shortens certificates below their profile's validity period.
 */
export function issuingHealth(
  configuration: Pick<Configuration, 'domains' | 'ca' | 'profile'>,
  now: number,
  warningDays: number,
): Health {
  const warnings = [...usersOf(configuration)].flatMap(
    ([ca, domains]) => warning(configuration, ca, domains, now, warningDays) ?? [],
  );
  if (warnings.length === 0) return { ok: true };
  const more = warnings.length > mostNamed ? `; and ${warnings.length - mostNamed} more` : '';
  return { ok: false, detail: `${warnings.slice(0, mostNamed).join('; ')}${more}` };
}

/** Returns the active CAs that expire soon, have expired, or shorten certificates, by id. */
export function caEndings(
  configuration: Pick<Configuration, 'domains' | 'cas' | 'ca' | 'profile'>,
  now: number,
  warningDays: number,
): ReadonlyMap<number, CaEnding> {
  const users = usersOf(configuration);
  return new Map(
    configuration.cas.flatMap((ca): (readonly [number, CaEnding])[] => {
      const { record, certificate } = ca;
      const left = certificate.notAfter - now;
      if (!record.isActive) return [];
      if (left < 0) return [[record.id, 'expired']];
      if (left < warningDays * day) return [[record.id, 'expires soon']];
      const cut = cutProfiles(configuration, users.get(ca) ?? [], now, certificate.notAfter);
      return cut.length > 0 ? [[record.id, 'shortens certificates']] : [];
    }),
  );
}

/** The active CAs that issue for domains. */
function usersOf(
  configuration: Pick<Configuration, 'domains' | 'ca'>,
): ReadonlyMap<LoadedCa, readonly Domain[]> {
  const users = new Map<LoadedCa, Domain[]>();
  for (const domain of configuration.domains) {
    const ca = domain.issuingCa === null ? undefined : configuration.ca(domain.issuingCa);
    if (ca?.record.isActive) users.set(ca, [...(users.get(ca) ?? []), domain]);
  }
  return users;
}

function warning(
  configuration: Pick<Configuration, 'profile'>,
  { record, certificate: { notAfter } }: LoadedCa,
  domains: readonly Domain[],
  now: number,
  warningDays: number,
): string | undefined {
  const cut = cutProfiles(configuration, domains, now, notAfter);
  const left = notAfter - now;
  if (left >= warningDays * day && cut.length === 0) return undefined;
  const date = new Date(notAfter).toISOString().slice(0, 10);
  const end = left < 0 ? `expired on ${date}` : `expires on ${date}, in ${Math.floor(left / day)} days`;
  const effect = cut.length > 0 ? `, so certificates of ${few(cut)} are shortened to that date` : '';
  const remedy =
    record.key === null
      ? 'ask the upstream CA for its successor'
      : `create a successor (POST /api/issuing-cas/) and assign it to ${few(domains.map(({ uniqueName }) => uniqueName))}`;
  return `the issuing CA "${record.uniqueName}" (id ${record.id}) ${end}${effect}: ${remedy}`;
}

/** Returns the offered profiles whose certificates are shortened by the CA's expiry. */
function cutProfiles(
  { profile }: Pick<Configuration, 'profile'>,
  domains: readonly Domain[],
  now: number,
  notAfter: number,
): readonly string[] {
  const offered = new Set(domains.flatMap(({ profiles }) => profiles.map((one) => one.profile)));
  return [...offered].flatMap((id) => {
    const loaded = profile(id);
    const duration = loaded?.rules.validity.duration && parseDuration(loaded.rules.validity.duration);
    return loaded && duration && addDuration(now, duration) > notAfter ? [loaded.record.uniqueName] : [];
  });
}

const few = (names: readonly string[]): string =>
  names.length > mostNamed
    ? `${names.slice(0, mostNamed).join(', ')} and ${names.length - mostNamed} more`
    : names.join(', ');
