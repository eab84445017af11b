import { demand, type Principal } from '../access/principal.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import { Fault } from '../fault.ts';
import type { WithSettings } from '../ports/settings.ts';

/** Where devices of a domain request certificates of one profile. */
export interface EnrolmentUrls {
  /** The id of the profile; null: the URLs name no profile, so the profile is `domain_credential`. */
  readonly profile: number | null;
  /** How the URLs name the profile: its alias in the domain, or its own name. */
  readonly name: string | null;
  /** `simpleenroll` (RFC 7030 §4.2.1). null, as for the others: the protocol is not enabled. */
  readonly est: string | null;
  readonly rest: string | null;
  /** RFC 9811 §3.4, over plain HTTP: CMP messages are protected themselves. */
  readonly cmp: string | null;
}

/**
 * Returns the URLs of the enabled protocols: first those without a profile, then those of each profile that the domain offers. Faults:
 * forbidden, notFound.
 */
export async function enrolmentUrls(
  { configuration, settings }: WithConfiguration & WithSettings,
  principal: Principal,
  id: number,
): Promise<readonly EnrolmentUrls[]> {
  demand(principal, 'domains.read');
  const current = await configuration.current();
  const domain = current.domain(id);
  if (!domain) throw new Fault('notFound', 'there is no such domain');
  const { baseUrl, publicUrl, protocols } = settings;
  const urls = (profile: number | null, name: string | null): EnrolmentUrls => {
    const path = [domain.uniqueName, ...(name === null ? [] : [name])].map(encodeURIComponent).join('/');
    const url = (protocol: string, text: string): string | null =>
      protocols.includes(protocol) ? text : null;
    return {
      profile,
      name,
      est: url('est', `${baseUrl}/.well-known/est/${path}/simpleenroll`),
      rest: url('rest', `${baseUrl}/rest/${path}/enroll`),
      cmp: url('cmp', `${publicUrl}/.well-known/cmp/p/${path}`),
    };
  };
  const offered = domain.profiles.flatMap(({ profile, alias }) => {
    const name = alias ?? current.profile(profile)?.record.uniqueName;
    return name === undefined ? [] : [urls(profile, name)];
  });
  return [urls(null, null), ...offered];
}
