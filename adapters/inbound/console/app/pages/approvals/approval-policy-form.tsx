import { messages } from '../../language.ts';
import { EditDialog, type Editing } from '../../parts/dialogs/edit-dialog.tsx';
import { useChoices } from '../../parts/display/reference.tsx';
import type { Values } from '../../parts/forms/input.tsx';
import { words } from '../../words.ts';
import {
  m as a,
  type Operation,
  operations,
  type Protocol,
  protocolName,
  protocols,
} from './approval-list.tsx';

export const m = messages(
  {
    active: 'Active',
    add: 'Add policy',
    approvers: 'Required approvals',
    approversHint: '1 to 16 different accounts. Nobody can decide on their own request.',
    automatic: 'Approve at once',
    change: 'Edit policy',
    decision: 'Decision',
    deny: 'Rejected',
    device: 'Device',
    deviceHint: 'The number of a device. Leave empty for all devices.',
    expires: 'Days to decide',
    expiresHint: 'The requester then has the same time to collect the certificate.',
    manual: 'Require approval',
    name: 'Name',
    operations: 'Operations',
    operationsHint: 'Select none for all.',
    order: 'Number',
    orderHint: 'Of the matching policies, the lowest number applies.',
    pattern: 'Device names',
    patternHint:
      'A regular expression for the whole common name, such as pump-.*. Leave empty for all devices.',
    protocols: 'Protocols',
    protocolsHint: 'Select none for all.',
  },
  {
    active: 'Aktiv',
    add: 'Richtlinie hinzufügen',
    approvers: 'Nötige Genehmigungen',
    approversHint: '1 bis 16 verschiedene Konten. Niemand kann über den eigenen Antrag entscheiden.',
    automatic: 'Sofort genehmigt',
    change: 'Richtlinie bearbeiten',
    decision: 'Entscheidung',
    deny: 'Abgelehnt',
    device: 'Gerät',
    deviceHint: 'Die Nummer eines Geräts. Leer: alle Geräte.',
    expires: 'Tage zur Entscheidung',
    expiresHint: 'Danach hat der Antragsteller ebenso lange Zeit, das Zertifikat abzuholen.',
    manual: 'Genehmigung',
    name: 'Name',
    operations: 'Vorgänge',
    operationsHint: 'Ohne Auswahl: alle.',
    order: 'Nummer',
    orderHint: 'Von den zutreffenden Richtlinien gilt die mit der kleinsten Nummer.',
    pattern: 'Gerätenamen',
    patternHint: 'Ein regulärer Ausdruck für den ganzen Common Name, etwa pump-.*. Leer: alle Geräte.',
    protocols: 'Protokolle',
    protocolsHint: 'Ohne Auswahl: alle.',
  },
);

const decisions = ['manual', 'automatic', 'deny'] as const;

export interface Policy {
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

export const policiesPath = '/api/approval-policies/';

const day = 86_400;
const isManual = ({ decision }: Values): boolean => decision === 'manual';

/** Changes a policy, or makes one. */
export function EditPolicy(editing: Editing<Policy>) {
  const { of } = editing;
  const domains = useChoices('/api/domains/', 'domains.read');
  const profiles = useChoices('/api/cert-profiles/', 'profiles.read');
  const initialDays = Math.max(1, Math.round((of?.expires_in ?? 7 * day) / day));
  return (
    <EditDialog
      {...editing}
      title={m(of ? 'change' : 'add')}
      collection={policiesPath}
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
