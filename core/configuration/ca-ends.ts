import type { Health } from '../ports/platform.ts';
import { addDuration, parseDuration } from '../profiles/duration.ts';
import type { Domain } from '../records/domain.ts';
import type { Configuration, LoadedCa } from './configuration.ts';

const day = 24 * 3_600_000;
const mostNamed = 5;

/**
 * Health of the CAs that issue for domains: not ok when one expires within the warning period, or when certificates already end
 * with it instead of when their profile says.
 */
export function issuingHealth(
  configuration: Pick<Configuration, 'domains' | 'ca' | 'profile'>,
  now: number,
  warningDays: number,
): Health {
  const users = new Map<LoadedCa, Domain[]>();
  for (const domain of configuration.domains) {
    const ca = domain.issuingCa === null ? undefined : configuration.ca(domain.issuingCa);
    if (ca?.record.isActive) users.set(ca, [...(users.get(ca) ?? []), domain]);
  }
  const warnings = [...users].flatMap(
    ([ca, domains]) => warning(configuration, ca, domains, now, warningDays) ?? [],
  );
  if (warnings.length === 0) return { ok: true };
  const more = warnings.length > mostNamed ? `; and ${warnings.length - mostNamed} more` : '';
  return { ok: false, detail: `${warnings.slice(0, mostNamed).join('; ')}${more}` };
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

/** The offered profiles whose certificates would be valid for longer, had the CA no end. */
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
