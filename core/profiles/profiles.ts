import type { Context } from '../context.ts';
import { domainCredentialProfile } from '../enrolment/admit.ts';
import { Fault } from '../fault.ts';
import { type Resource, resource, updateWrites } from '../resource.ts';
import { parseProfileRules } from './language.ts';
import type { CertificateProfile } from './record.ts';
import { shippedProfiles } from './shipped.ts';

export interface ProfileInput {
  readonly uniqueName: string;
  /** Left out: the rules of `tls_client`, the shipped profile that allows least beyond a name. */
  readonly profile?: unknown;
}

export function profiles(context: Context): Resource<'profile', ProfileInput, CertificateProfile> {
  const checked = (rules: unknown): unknown => parseProfileRules(rules, context.patterns);
  return resource<'profile', ProfileInput, CertificateProfile>(context, {
    kind: 'profile',
    noun: 'profile',
    reads: 'profiles.read',
    writes: 'profiles.write',
    view: (record) => record,
    summary: ({ uniqueName }) => ({ uniqueName }),
    create: async (input) => ({
      writes: [
        {
          op: 'insert',
          kind: 'profile',
          values: {
            createdAt: context.clock.now(),
            uniqueName: input.uniqueName,
            profile: checked(input.profile ?? shippedProfiles.tls_client),
          },
        },
      ],
    }),
    async update(record, changes) {
      if (changes.uniqueName !== undefined && changes.uniqueName !== record.uniqueName)
        demandOrdinary(record);
      return updateWrites('profile', record.id, {
        ...changes,
        ...(changes.profile !== undefined && { profile: checked(changes.profile) }),
      });
    },
    async remove(record) {
      const { id } = record;
      demandOrdinary(record);
      await demandUnused(context, id);
      return [{ op: 'delete', kind: 'profile', id }];
    },
  });
}

/** Whoever else got this name would make domain credentials of certificates that were issued as something less. */
function demandOrdinary({ uniqueName }: CertificateProfile): void {
  if (uniqueName === domainCredentialProfile) {
    throw new Fault(
      'conflict',
      'the certificates of this profile stand for the devices: it stays, and its name',
    );
  }
}

async function demandUnused(context: Context, id: number): Promise<void> {
  context.configuration.expire();
  const configuration = await context.configuration.current();
  const users = configuration.domains.filter(({ profiles }) =>
    profiles.some(({ profile }) => profile === id),
  );
  if (users.length > 0) {
    const names = users.slice(0, 5).map(({ uniqueName }) => uniqueName);
    throw new Fault('conflict', `still offered by the domains ${names.join(', ')}`);
  }
}
