import { Fault } from '../fault.ts';
import type { Domain } from '../records/domain.ts';
import type { Configuration, LoadedCa, LoadedProfile } from './configuration.ts';

/** Returns the domain that a path names, or the default domain. Faults: notFound. */
export function resolveDomain(
  configuration: Configuration,
  name: string | undefined,
  fallback: string,
): Domain {
  const domain = configuration.domainNamed(name ?? fallback);
  if (!domain) throw new Fault('notFound', 'there is no such domain');
  return domain;
}

/**
 * Returns the profile that `name` means in `domain`: an alias there, or a profile's own name. Faults: notFound for an
 * unknown name, forbidden if the domain does not offer the profile.
 */
export function resolveProfile(configuration: Configuration, domain: Domain, name: string): LoadedProfile {
  const aliased = domain.profiles.find(({ alias }) => alias === name);
  const profile = aliased ? configuration.profile(aliased.profile) : configuration.profileNamed(name);
  if (!profile) throw new Fault('notFound', 'there is no such certificate profile');
  if (
    !aliased &&
    !domain.profiles.some((offered) => offered.profile === profile.record.id && offered.alias === null)
  ) {
    throw new Fault('forbidden', `the domain "${domain.uniqueName}" does not offer this certificate profile`);
  }
  return profile;
}

/** Returns the profile with this id. Faults: notFound; forbidden if the domain does not offer it. */
export function offeredProfile(configuration: Configuration, domain: Domain, id: number): LoadedProfile {
  const profile = configuration.profile(id);
  if (!profile) throw new Fault('notFound', 'there is no such certificate profile');
  demandOffered(domain, id);
  return profile;
}

/** Faults: forbidden when the domain does not offer the profile, under its own name or an alias. */
export function demandOffered({ uniqueName, profiles }: Domain, id: number): void {
  if (profiles.some(({ profile }) => profile === id)) return;
  throw new Fault('forbidden', `the domain ${uniqueName} does not offer this profile`);
}

/** Faults: unavailable when the domain has no CA that can sign. */
export function resolveCa(configuration: Configuration, domain: Domain): LoadedCa {
  const ca = domain.issuingCa === null ? undefined : configuration.ca(domain.issuingCa);
  if (!ca) throw new Fault('unavailable', `the domain "${domain.uniqueName}" has no issuing CA: assign one`);
  return ca;
}
