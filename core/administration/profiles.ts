import type { Principal } from '../access/principal.ts';
import { type Resource, resource, updateWrites } from '../access/resource.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import { type Preview, type PreviewInput, preview } from '../enrolment/preview.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import type { ProfileRules } from '../profiles/language.ts';
import { parseProfileRules } from '../profiles/parse.ts';
import { shippedProfiles } from '../profiles/shipped.ts';
import { profileShortcomings } from '../profiles/shortcomings.ts';
import type { CertificateProfile } from '../records/domain.ts';
import { domainCredentialProfile } from '../requester/admit.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'log' | 'patterns' | 'store'>,
    WithConfiguration,
    WithSettings {}

export interface ProfileInput {
  readonly uniqueName: string;
  /** Absent: the rules of `tls_client`, the shipped profile that permits the least besides a name. */
  readonly profile?: unknown;
}

export interface Profiles extends Resource<'profile', ProfileInput, CertificateProfile> {
  /** See `preview`. */
  preview(principal: Principal, id: number | undefined, input: PreviewInput): Promise<Preview>;
}

export function profiles(context: Dependencies): Profiles {
  const checked = async (rules: unknown): Promise<ProfileRules> => {
    const parsed = parseProfileRules(rules, context.patterns);
    const { security } = await context.configuration.current();
    const problems = profileShortcomings(security, parsed, context.clock.now());
    if (problems.length === 0) return parsed;
    const detail = problems.map((one) => `${one.pointer}: ${one.detail}`).join('; ');
    throw new Fault('malformed', detail, { field: 'profile', problems });
  };
  const collection = resource<'profile', ProfileInput, CertificateProfile>(context, {
    kind: 'profile',
    reads: 'profiles.read',
    writes: 'profiles.write',
    view: (record) => record,
    summary: ({ uniqueName }) => ({ uniqueName }),
    async create({ uniqueName, profile }) {
      await demandNoAlias(context, uniqueName);
      const values = {
        createdAt: context.clock.now(),
        uniqueName,
        profile: await checked(profile ?? shippedProfiles.tls_client),
      };
      return { values };
    },
    async update(record, changes) {
      if (changes.uniqueName !== undefined && changes.uniqueName !== record.uniqueName) {
        demandOrdinary(record);
        await demandNoAlias(context, changes.uniqueName);
      }
      return updateWrites('profile', record.id, {
        ...changes,
        ...(changes.profile !== undefined && { profile: await checked(changes.profile) }),
      });
    },
    async remove(record) {
      const { id } = record;
      demandOrdinary(record);
      await demandUnused(context, id);
      return [{ op: 'delete', kind: 'profile', id }];
    },
  });
  return { ...collection, preview: (principal, id, input) => preview(context, principal, id, input) };
}

/**
 * Protects the name of the domain credential profile: another profile with this name would turn ordinary certificates
 * into domain credentials.
 */
function demandOrdinary({ uniqueName }: CertificateProfile): void {
  if (uniqueName === domainCredentialProfile) {
    throw new Fault(
      'conflict',
      'devices authenticate with certificates of this profile: it cannot be deleted or renamed',
      { id: 'profile_built_in' },
    );
  }
}

/**
 * In a path, the name would mean another profile in that domain than elsewhere. Faults: malformed with field
 * `uniqueName`.
 */
async function demandNoAlias(context: WithConfiguration, uniqueName: string): Promise<void> {
  const { domains } = await context.configuration.current();
  const other = domains.find(({ profiles }) => profiles.some(({ alias }) => alias === uniqueName));
  if (!other) return;
  throw new Fault('malformed', `the domain "${other.uniqueName}" offers another profile under this alias`, {
    field: 'uniqueName',
  });
}

async function demandUnused(context: WithConfiguration, id: number): Promise<void> {
  context.configuration.expire();
  const configuration = await context.configuration.current();
  const users = configuration.domains.filter(({ profiles }) =>
    profiles.some(({ profile }) => profile === id),
  );
  if (users.length > 0) {
    const names = users.slice(0, 5).map(({ uniqueName }) => uniqueName);
    throw new Fault('conflict', `these domains still offer the profile: ${names.join(', ')}`, {
      id: 'profile_offered',
      values: { domains: names.join(', ') },
    });
  }
}
