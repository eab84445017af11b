import { messages, number } from '../language.ts';
import { Empty } from '../parts/answer.tsx';
import { actionsColumn, RowButtons } from '../parts/columns.tsx';
import { EditDialog, type Editing } from '../parts/edit-dialog.tsx';
import { useEditing } from '../parts/editing.tsx';
import { Badge } from '../parts/facts.tsx';
import type { Values } from '../parts/form.tsx';
import { ListPage } from '../parts/list-page.tsx';
import { DomainOf, ProfileOf, useChoices } from '../parts/reference.tsx';
import { Code, Text } from '../parts/text.tsx';
import type { Page } from '../router.ts';
import { may } from '../session.ts';
import { words } from '../words.ts';
import { m as a, type Operation, operations, type Protocol, protocolName, protocols } from './approvals.tsx';

const m = messages(
  {
    active: 'In force',
    add: 'Add a policy',
    all: 'all',
    approvers: 'How many have to approve',
    approversHint: 'Different accounts, 1 to 16. Nobody decides on what they ask for themselves.',
    automatic: 'Granted at once',
    change: 'Change the policy',
    decision: 'Decision',
    deny: 'Refused',
    device: 'Device',
    deviceHint: 'The number of a device. Left empty: all.',
    devices: 'Devices',
    expires: 'Days to decide',
    expiresHint: 'And as many again for the requester to come for it.',
    inactive: 'At rest',
    lead: 'Of the policies that fit a request, the one with the lowest number decides. Without one, requests are granted at once.',
    manual: 'People decide',
    manualBy: '{n} have to approve',
    name: 'Name',
    none: 'There are no policies',
    noneNext: 'Every request that is right is granted at once. Add a policy to have people decide.',
    operations: 'For what',
    operationsHint: 'None ticked: everything.',
    order: 'Number',
    orderHint: 'The lowest one that fits decides.',
    pattern: 'Names of devices',
    patternHint: 'A regular expression for the whole common name: pump-.* Left empty: all.',
    protocols: 'Over',
    protocolsHint: 'None ticked: every one.',
    removeLead: 'Requests that wait because of it go on waiting. New ones are decided by the other policies.',
    removeTitle: 'Delete this policy?',
    title: 'Approval policies',
  },
  {
    active: 'In Kraft',
    add: 'Richtlinie hinzufügen',
    all: 'alle',
    approvers: 'Wie viele genehmigen müssen',
    approversHint: 'Verschiedene Konten, 1 bis 16. Niemand entscheidet über eigene Anträge.',
    automatic: 'Sofort genehmigt',
    change: 'Richtlinie ändern',
    decision: 'Entscheidung',
    deny: 'Abgelehnt',
    device: 'Gerät',
    deviceHint: 'Die Nummer eines Geräts. Bleibt das leer: alle.',
    devices: 'Geräte',
    expires: 'Tage zur Entscheidung',
    expiresHint: 'Und noch einmal so viele für die Abholung.',
    inactive: 'Ruht',
    lead: 'Von den Richtlinien, die auf einen Antrag passen, entscheidet die mit der kleinsten Nummer. Passt keine, wird sofort genehmigt.',
    manual: 'Menschen entscheiden',
    manualBy: '{n} müssen genehmigen',
    name: 'Name',
    none: 'Es gibt keine Richtlinien',
    noneNext:
      'Jeder ordentliche Antrag wird sofort genehmigt. Fügen Sie eine Richtlinie hinzu, damit Menschen entscheiden.',
    operations: 'Wofür',
    operationsHint: 'Nichts gewählt: für alles.',
    order: 'Nummer',
    orderHint: 'Die kleinste, die passt, entscheidet.',
    pattern: 'Namen von Geräten',
    patternHint: 'Ein regulärer Ausdruck für den ganzen Common Name: pump-.* Bleibt das leer: alle.',
    protocols: 'Über',
    protocolsHint: 'Nichts gewählt: über jedes.',
    removeLead:
      'Anträge, die ihretwegen warten, warten weiter. Über neue entscheiden die anderen Richtlinien.',
    removeTitle: 'Diese Richtlinie löschen?',
    title: 'Genehmigungsrichtlinien',
  },
);

const decisions = ['manual', 'automatic', 'deny'] as const;

interface Policy {
  readonly id: number;
  readonly unique_name: string;
  readonly priority: number;
  readonly is_active: boolean;
  readonly protocols: readonly Protocol[];
  readonly operations: readonly Operation[];
  readonly domain: number | null;
  readonly cert_profile: number | null;
  readonly device: number | null;
  readonly device_pattern: string | null;
  readonly decision: (typeof decisions)[number];
  readonly approvers: number;
  /** Seconds. */
  readonly expires_in: number;
}

const path = '/api/approval-policies/';
const all = () => <span class="quiet">{m('all')}</span>;

export const approvalPolicies: Page = {
  path: '/approvals/policies',
  title: () => m('title'),
  needs: 'approvals.read',
  view: () => {
    const { round, dialog, edit, remove } = useEditing<Policy>({
      collection: path,
      Edit,
      removal: ({ unique_name: name }) => ({
        title: m('removeTitle'),
        lead: m('removeLead'),
        name,
        shown: <Text of={name} />,
      }),
    });
    const writes = may('policies.write');
    return (
      <>
        <ListPage<Policy>
          path={path}
          title={m('title')}
          up={{ href: '/approvals', title: a('title') }}
          lead={m('lead')}
          actions={
            writes && (
              <button type="button" class="main" onClick={() => edit()}>
                {m('add')}
              </button>
            )
          }
          round={round}
          fixed={{ ordering: 'priority' }}
          columns={[
            { name: 'priority', title: m('order'), isNumber: true, cell: ({ priority }) => number(priority) },
            { name: 'unique_name', title: m('name'), cell: ({ unique_name }) => <Text of={unique_name} /> },
            {
              name: 'decision',
              title: m('decision'),
              cell: ({ decision, approvers }) => (
                <span>
                  {m(decision)}
                  {decision === 'manual' && <span class="quiet"> · {m('manualBy', { n: approvers })}</span>}
                </span>
              ),
            },
            {
              name: 'operations',
              title: m('operations'),
              cell: (policy) => policy.operations.map((one) => a(one)).join(', ') || all(),
            },
            {
              name: 'protocols',
              title: m('protocols'),
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
                <Badge look={is_active ? 'good' : 'calm'}>{m(is_active ? 'active' : 'inactive')}</Badge>
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

const day = 86_400;
const isManual = ({ decision }: Values): boolean => decision === 'manual';

function Edit(editing: Editing<Policy>) {
  const { of } = editing;
  const domains = useChoices('/api/domains/', 'domains.read');
  const profiles = useChoices('/api/cert-profiles/', 'profiles.read');
  const initialDays = Math.max(1, Math.round((of?.expires_in ?? 7 * day) / day));
  return (
    <EditDialog
      {...editing}
      title={m(of ? 'change' : 'add')}
      collection={path}
      body={({ expires_in: days, ...values }) => {
        const open = { domain: null, cert_profile: null, device: null, device_pattern: null };
        // What is not a number of days stays as it is, unless another number is typed.
        const lasts = typeof days !== 'number' || days === initialDays ? {} : { expires_in: days * day };
        return { ...open, ...values, ...lasts };
      }}
      fields={[
        { name: 'unique_name', title: m('name'), required: true, maxLength: 255, initial: of?.unique_name },
        {
          name: 'decision',
          title: m('decision'),
          type: 'choice',
          required: true,
          initial: of?.decision ?? 'manual',
          options: decisions.map((decision) => [decision, m(decision)] as const),
        },
        {
          name: 'approvers',
          title: m('approvers'),
          required: true,
          type: 'number',
          hint: m('approversHint'),
          initial: of?.approvers ?? 1,
          when: isManual,
        },
        {
          name: 'expires_in',
          title: m('expires'),
          required: true,
          type: 'number',
          hint: m('expiresHint'),
          initial: initialDays,
          when: isManual,
        },
        {
          name: 'priority',
          title: m('order'),
          type: 'number',
          required: true,
          hint: m('orderHint'),
          initial: of?.priority ?? 100,
        },
        {
          name: 'operations',
          title: m('operations'),
          type: 'checks',
          isInline: true,
          hint: m('operationsHint'),
          initial: of?.operations,
          options: operations.map((one) => [one, a(one)] as const),
        },
        {
          name: 'protocols',
          title: m('protocols'),
          type: 'checks',
          isInline: true,
          hint: m('protocolsHint'),
          initial: of?.protocols,
          options: protocols.map((one) => [one, protocolName(one)] as const),
        },
        {
          name: 'domain',
          title: a('domain'),
          type: 'choice',
          initial: of?.domain,
          options: [['', words('all')], ...domains],
        },
        {
          name: 'cert_profile',
          title: a('profile'),
          type: 'choice',
          initial: of?.cert_profile,
          options: [['', words('all')], ...profiles],
        },
        {
          name: 'device_pattern',
          title: m('pattern'),
          hint: m('patternHint'),
          isCode: true,
          maxLength: 1000,
          initial: of?.device_pattern,
        },
        { name: 'device', title: m('device'), type: 'number', hint: m('deviceHint'), initial: of?.device },
        { name: 'is_active', title: m('active'), type: 'check', initial: of?.is_active ?? true },
      ]}
      done={words('saved')}
    />
  );
}
