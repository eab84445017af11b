import { type Resource, resource, updateWrites } from '../access/resource.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import { profileShortcomings } from '../profiles/shortcomings.ts';
import type { Domain, DomainProfile } from '../records/domain.ts';

interface Dependencies extends Pick<Ports, 'clock' | 'log' | 'store'>, WithConfiguration, WithSettings {}

export interface DomainInput {
  readonly uniqueName: string;
  /** Absent: the CA of the default domain. */
  readonly issuingCa?: number | null;
  /** Absent: the profiles of the default domain. */
  readonly profiles?: readonly DomainProfile[];
}

export function domains(context: Dependencies): Resource<'domain', DomainInput, Domain> {
  return resource<'domain', DomainInput, Domain>(context, {
    kind: 'domain',
    reads: 'domains.read',
    writes: 'domains.write',
    view: (record) => record,
    summary: ({ uniqueName }) => ({ uniqueName }),
    async create(input) {
      await check(context, input);
      const model = (await context.configuration.current()).domainNamed(context.settings.defaultDomain);
      return {
        values: {
          createdAt: context.clock.now(),
          uniqueName: input.uniqueName,
          issuingCa: input.issuingCa === undefined ? (model?.issuingCa ?? null) : input.issuingCa,
          profiles: input.profiles ?? model?.profiles ?? [],
        },
      };
    },
    async update(domain, changes) {
      await check(context, changes);
      if (changes.uniqueName !== undefined && changes.uniqueName !== domain.uniqueName)
        demandNotDefault(context, domain);
      return updateWrites('domain', domain.id, changes);
    },
    async remove(domain) {
      demandNotDefault(context, domain);
      return [{ op: 'delete', kind: 'domain', id: domain.id }];
    },
  });
}

function demandNotDefault({ settings }: WithSettings, { uniqueName }: Domain): void {
  if (uniqueName === settings.defaultDomain) {
    throw new Fault('conflict', 'the default domain cannot be deleted: paths without a domain refer to it', {
      id: 'default_domain',
    });
  }
}

const isSegment = (text: string): boolean => !/[/\\~?#%]/.test(text) && text !== '.' && text !== '..';

/** Checks that the name can be a path segment, and that everything the domain refers to exists. */
async function check(context: Dependencies, input: Partial<DomainInput>): Promise<void> {
  const { uniqueName, issuingCa, profiles = [] } = input;
  if (uniqueName !== undefined && (!isSegment(uniqueName) || uniqueName === '_')) {
    throw new Fault(
      'malformed',
      'a domain name is part of URLs: it must not contain / \\ ~ ? # % and must not be . .. or _',
      {
        field: 'uniqueName',
      },
    );
  }
  if (issuingCa != null && !(await context.store.get('issuingCa', issuingCa))) {
    throw new Fault('malformed', 'there is no such issuing CA', { field: 'issuingCa' });
  }
  const refuse = (detail: string) => new Fault('malformed', detail, { field: 'profiles' });
  const configuration = await context.configuration.current();
  const { security } = configuration;
  const names = new Set<string>();
  for (const { profile, alias } of profiles) {
    const record = await context.store.get('profile', profile);
    if (!record) throw refuse(`there is no certificate profile ${profile}`);
    const rules = configuration.profile(profile)?.rules;
    const [problem] = rules ? profileShortcomings(security, rules, context.clock.now()) : [];
    if (problem) throw refuse(`${record.uniqueName}: ${problem.pointer}: ${problem.detail}`);
    const name = alias ?? record.uniqueName;
    if (names.has(name)) throw refuse(`the name "${name}" occurs twice`);
    names.add(name);
    if (alias !== null && !isSegment(alias)) {
      throw refuse(
        `the alias "${alias}" is part of URLs: it must not contain / \\ ~ ? # % and must not be . or ..`,
      );
    }
    // In a path, the name would mean another profile in this domain than elsewhere.
    if (alias !== null && (await context.store.find('profile', { uniqueName: alias }))) {
      throw refuse(`the alias "${alias}" is the name of another certificate profile`);
    }
  }
}
