import { accountKey } from '../access/custody.ts';
import { unregisteredDevice } from '../ca/own-credentials.ts';
import type { Configuration, LoadedProfile } from '../configuration/configuration.ts';
import { offeredProfile, resolveCa, resolveDomain } from '../configuration/target.ts';
import { Fault } from '../fault.ts';
import type { WithSettings } from '../ports/settings.ts';
import type { Actor } from '../records/audit-event.ts';
import type { Domain } from '../records/domain.ts';
import { requestWithoutKey } from './central-key.ts';
import type { IssuancePlan, Proven } from './plan.ts';

/** Which domain and profile an account chose, by their ids. */
interface Choice {
  readonly domain?: number;
  readonly profile?: number;
}

const usualProfile = 'tls_client';

/**
 * Plans a certificate that an account requests without a device. `name`: what the profile's templates take for the name of the
 * device. Faults: malformed with `field`, unavailable.
 */
export function planForAccount(
  context: WithSettings,
  configuration: Configuration,
  choice: Choice,
  actor: Actor,
  proven: Proven,
  name: string | undefined,
): IssuancePlan {
  const domain = chosenDomain(context, configuration, choice.domain);
  const profile = chosenProfile(configuration, domain, choice.profile);
  return {
    configuration,
    domain,
    profile,
    ca: resolveCa(configuration, domain),
    requester: accountKey(actor) ?? `${actor.kind}:${actor.name}`,
    actor,
    protocol: 'management',
    operation: 'issuance',
    device: undefined,
    holder: holderNamed(name),
    ignoresName: false,
    renewed: undefined,
    proven,
    requested: proven.request ?? requestWithoutKey(proven.wanted),
    keepsKey: true,
  };
}

/** What the profile's templates know where no device is behind the request. */
export const holderNamed = (name: string | undefined): IssuancePlan['holder'] =>
  name === undefined ? undefined : unregisteredDevice(name);

/** The domain with this id, or the default domain. Faults: malformed with field `domain`. */
export function chosenDomain(
  context: WithSettings,
  configuration: Configuration,
  id: number | undefined,
): Domain {
  if (id === undefined) return resolveDomain(configuration, undefined, context.settings.defaultDomain);
  const domain = configuration.domain(id);
  if (!domain) throw new Fault('malformed', 'there is no such domain', { field: 'domain' });
  return domain;
}

/** The profile with this id, or the usual one, if the domain offers it. Faults: malformed with field `certProfile`. */
function chosenProfile(configuration: Configuration, domain: Domain, id: number | undefined): LoadedProfile {
  if (id === undefined) {
    const offered = domain.profiles.flatMap(({ profile }) => configuration.profile(profile) ?? []);
    const usual = offered.find(({ record }) => record.uniqueName === usualProfile) ?? offered[0];
    if (usual) return usual;
    const detail = `the domain ${domain.uniqueName} does not offer any profile`;
    throw new Fault('malformed', detail, { field: 'certProfile' });
  }
  try {
    return offeredProfile(configuration, domain, id);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw new Fault('malformed', error.detail, { field: 'certProfile', cause: error });
  }
}
