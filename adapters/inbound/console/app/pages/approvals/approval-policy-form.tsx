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
    active: 'In force',
    add: 'Add a policy',
    approvers: 'How many have to approve',
    approversHint: 'Different accounts, 1 to 16. Nobody decides on what they ask for themselves.',
    automatic: 'Granted at once',
    change: 'Change the policy',
    decision: 'Decision',
    deny: 'Refused',
    device: 'Device',
    deviceHint: 'The number of a device. Left empty: all.',
    expires: 'Days to decide',
    expiresHint: 'And as many again for the requester to come for it.',
    manual: 'People decide',
    name: 'Name',
    operations: 'For what',
    operationsHint: 'None ticked: everything.',
    order: 'Number',
    orderHint: 'The lowest one that fits decides.',
    pattern: 'Names of devices',
    patternHint: 'A regular expression for the whole common name: pump-.* Left empty: all.',
    protocols: 'Over',
    protocolsHint: 'None ticked: every one.',
  },
  {
    active: 'In Kraft',
    add: 'Richtlinie hinzufügen',
    approvers: 'Wie viele genehmigen müssen',
    approversHint: 'Verschiedene Konten, 1 bis 16. Niemand entscheidet über eigene Anträge.',
    automatic: 'Sofort genehmigt',
    change: 'Richtlinie ändern',
    decision: 'Entscheidung',
    deny: 'Abgelehnt',
    device: 'Gerät',
    deviceHint: 'Die Nummer eines Geräts. Bleibt das leer: alle.',
    expires: 'Tage zur Entscheidung',
    expiresHint: 'Und noch einmal so viele für die Abholung.',
    manual: 'Menschen entscheiden',
    name: 'Name',
    operations: 'Wofür',
    operationsHint: 'Nichts gewählt: für alles.',
    order: 'Nummer',
    orderHint: 'Die kleinste, die passt, entscheidet.',
    pattern: 'Namen von Geräten',
    patternHint: 'Ein regulärer Ausdruck für den ganzen Common Name: pump-.* Bleibt das leer: alle.',
    protocols: 'Über',
    protocolsHint: 'Nichts gewählt: über jedes.',
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
