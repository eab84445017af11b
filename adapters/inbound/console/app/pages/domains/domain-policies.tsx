import { useRead } from '../../data.ts';
import { messages } from '../../language.ts';
import { Answer } from '../../parts/display/answer.tsx';
import { Card } from '../../parts/display/facts.tsx';
import { Text } from '../../parts/display/text.tsx';

const m = messages(
  {
    allDomains: 'for all domains',
    inactive: 'inactive',
    none: 'None: Postern approves every request at once.',
    page: 'All policies',
    title: 'Approval policies',
  },
  {
    allDomains: 'für alle Domänen',
    inactive: 'inaktiv',
    none: 'Keine: Postern genehmigt jeden Antrag sofort.',
    page: 'Alle Richtlinien',
    title: 'Genehmigungsrichtlinien',
  },
);

interface Policy {
  readonly id: number;
  readonly unique_name: string;
  readonly domain: number | null;
  readonly is_active: boolean;
}

/** The approval policies that can apply to requests of a domain, in the order in which they are applied. */
export function DomainPolicies({ domain }: { readonly domain: number }) {
  const asked = useRead<readonly Policy[]>('/api/approval-policies/?ordering=priority&limit=1000');
  return (
    <Card wide title={m('title')} actions={<a href="/approvals/policies">{m('page')}</a>}>
      <Answer of={asked}>
        {(all) => {
          const found = all.filter((policy) => policy.domain === domain || policy.domain === null);
          if (found.length === 0) return <p class="quiet">{m('none')}</p>;
          return (
            <ul class="plain-list">
              {found.map((policy) => (
                <li key={policy.id}>
                  <Text of={policy.unique_name} />
                  <span class="quiet">
                    {[policy.domain === null && m('allDomains'), !policy.is_active && m('inactive')]
                      .filter((one) => one !== false)
                      .join(', ')}
                  </span>
                </li>
              ))}
            </ul>
          );
        }}
      </Answer>
    </Card>
  );
}
