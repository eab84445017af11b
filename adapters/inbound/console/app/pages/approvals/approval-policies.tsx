import { messages, number } from '../../language.ts';
import { Empty } from '../../parts/display/answer.tsx';
import { Badge } from '../../parts/display/facts.tsx';
import { DomainOf, ProfileOf } from '../../parts/display/reference.tsx';
import { Code, Text } from '../../parts/display/text.tsx';
import { useEditing } from '../../parts/forms/editing.tsx';
import { actionsColumn, RowButtons } from '../../parts/lists/columns.tsx';
import { ListPage } from '../../parts/lists/list-page.tsx';
import type { Page } from '../../router.ts';
import { may } from '../../session.ts';
import { words } from '../../words.ts';
import { m as a, protocolName } from './approval-list.tsx';
import { EditPolicy, m as f, type Policy, policiesPath } from './approval-policy-form.tsx';

const m = messages(
  {
    all: 'all',
    devices: 'Devices',
    inactive: 'Inactive',
    lead: 'Of the policies that match a request, the one with the lowest number applies. A request that matches none is approved at once.',
    manualBy: { one: '{n} approver', other: '{n} approvers' },
    none: 'No approval policies',
    noneNext: 'Every valid request is approved at once. Add a policy to require approval.',
    removeLead: 'Pending requests of this policy stay pending. The other policies apply to new requests.',
    removeTitle: 'Delete this policy?',
    title: 'Approval policies',
  },
  {
    all: 'alle',
    devices: 'Geräte',
    inactive: 'Inaktiv',
    lead: 'Von den Richtlinien, die auf einen Antrag zutreffen, gilt die mit der kleinsten Nummer. Trifft keine zu, ist der Antrag sofort genehmigt.',
    manualBy: '{n} nötig',
    none: 'Keine Genehmigungsrichtlinien',
    noneNext:
      'Jeder gültige Antrag ist sofort genehmigt. Fügen Sie eine Richtlinie hinzu, um Genehmigungen zu verlangen.',
    removeLead:
      'Offene Anträge dieser Richtlinie bleiben offen. Für neue Anträge gelten die anderen Richtlinien.',
    removeTitle: 'Diese Richtlinie löschen?',
    title: 'Genehmigungsrichtlinien',
  },
);

const all = () => <span class="quiet">{m('all')}</span>;

export const approvalPolicies: Page = {
  path: '/approvals/policies',
  title: () => m('title'),
  needs: 'approvals.read',
  view: () => {
    const { round, dialog, edit, remove } = useEditing<Policy>({
      collection: policiesPath,
      Edit: EditPolicy,
      removal: ({ unique_name: name }) => ({
        title: m('removeTitle'),
        lead: m('removeLead'),
        name,
        isRestorable: true,
      }),
    });
    const writes = may('policies.write');
    return (
      <>
        <ListPage<Policy>
          path={policiesPath}
          title={m('title')}
          up={{ href: '/approvals', title: a('title') }}
          lead={m('lead')}
          actions={
            writes && (
              <button type="button" class="main" onClick={() => edit()}>
                {f('add')}
              </button>
            )
          }
          round={round}
          fixed={{ ordering: 'priority' }}
          columns={[
            { name: 'priority', title: f('order'), isNumber: true, cell: ({ priority }) => number(priority) },
            { name: 'unique_name', title: f('name'), cell: ({ unique_name }) => <Text of={unique_name} /> },
            {
              name: 'decision',
              title: f('decision'),
              cell: ({ decision, approvers }) => (
                <span>
                  {f(decision)}
                  {decision === 'manual' && <span class="quiet"> · {m('manualBy', { n: approvers })}</span>}
                </span>
              ),
            },
            {
              name: 'operations',
              title: f('operations'),
              cell: (policy) => policy.operations.map((one) => a(one)).join(', ') || all(),
            },
            {
              name: 'protocols',
              title: f('protocols'),
              cell: (policy) => policy.protocols.map(protocolName).join(', ') || all(),
            },
            {
              name: 'domain',
              title: a('domain'),
              cell: ({ domain }) => (domain === null ? all() : <DomainOf id={domain} />),
            },
            {
              name: 'cert_profile',
              title: a('profile'),
              cell: ({ cert_profile }) => (cert_profile === null ? all() : <ProfileOf id={cert_profile} />),
            },
            { name: 'devices', title: m('devices'), cell: (policy) => <Devices of={policy} /> },
            {
              name: 'is_active',
              title: words('state'),
              cell: ({ is_active }) => (
                <Badge look={is_active ? 'good' : 'calm'}>{is_active ? f('active') : m('inactive')}</Badge>
              ),
            },
            writes &&
              actionsColumn((of) => (
                <RowButtons
                  name={of.unique_name}
                  buttons={[
                    [words('edit'), () => edit(of)],
                    [words('delete'), () => remove(of)],
                  ]}
                />
              )),
          ]}
          empty={<Empty title={m('none')} next={m('noneNext')} />}
        />
        {dialog}
      </>
    );
  },
};

const Devices = ({ of: { device, device_pattern: pattern } }: { readonly of: Policy }) =>
  device !== null ? (
    <a href={`/devices/${device}`}>#{device}</a>
  ) : pattern !== null ? (
    <Code of={pattern} />
  ) : (
    all()
  );
