import { messages } from '../../language.ts';
import { actionTitle, kindTitle } from '../../parts/audit/action-words.ts';
import { Facts } from '../../parts/display/facts.tsx';
import { Code, Text } from '../../parts/display/text.tsx';
import { When } from '../../parts/display/when.tsx';

const m = messages(
  {
    action: 'Action',
    actor: 'Actor',
    address: 'Address',
    chain: 'Chain',
    hash: 'SHA-256',
    none: 'none',
    number: 'Event number',
    object: 'Object',
    position: 'Position in the chain',
    request: 'Request ID',
    service: 'Postern',
    unauthenticated: 'Not authenticated',
    when: 'Time',
  },
  {
    action: 'Aktion',
    actor: 'Akteur',
    address: 'Adresse',
    chain: 'Kette',
    hash: 'SHA-256',
    none: 'keines',
    number: 'Ereignisnummer',
    object: 'Objekt',
    position: 'Stelle in der Kette',
    request: 'Anfrage-ID',
    service: 'Postern',
    unauthenticated: 'Nicht authentifiziert',
    when: 'Zeit',
  },
);

export const outcomes = ['success', 'refused', 'failed'] as const;

export interface AuditEvent {
  readonly id: number;
  readonly created_at: string;
  readonly actor: {
    readonly kind: string;
    readonly id: number | null;
    readonly name: string;
    readonly address: string;
  };
  readonly action: string;
  readonly object: string;
  readonly object_name: string | null;
  readonly outcome: (typeof outcomes)[number];
  readonly detail: Readonly<Record<string, string | number | boolean | null>>;
  readonly chain: string;
  readonly sequence: number;
  readonly hash: string;
  readonly request_id: string | null;
}

/** Who did it. An account without a name has been deleted or comes from elsewhere. */
export function actorName({ kind, id, name }: AuditEvent['actor']): string {
  if (name !== '') return name;
  if (kind === 'system') return m('service');
  if (kind === 'unknown') return m('unauthenticated');
  return id === null ? kindTitle(kind) : `${kindTitle(kind)} #${id}`;
}

const places: Readonly<Record<string, string>> = {
  approval: 'approvals',
  certificate: 'certificates',
  credential: 'tls',
  device: 'devices',
  deviceImport: 'devices/imports',
  domain: 'domains',
  issuingCa: 'cas',
  profile: 'profiles',
  role: 'roles',
  truststore: 'truststores',
  devidRegistration: 'registrations',
};

/** The record that an event is about, by its name: a link where there is a page for it. */
export function ObjectOf({ event: { object, object_name } }: { readonly event: AuditEvent }) {
  const [, kind = '', id = ''] = /^(\w+):(.+)$/.exec(object) ?? [];
  const isNumber = /^\d+$/.test(id);
  const name = object_name ?? (kind === '' ? object : isNumber ? `${kindTitle(kind)} #${id}` : id);
  const place = isNumber && Object.hasOwn(places, kind) ? places[kind] : undefined;
  // Without a name the record has been deleted, or this account may not see it.
  if (place === undefined || object_name === null) return <Text of={name} />;
  return (
    <a href={`/${place}/${id}`} title={kindTitle(kind)}>
      <Text of={name} />
    </a>
  );
}

/** Everything that an event says. */
export const EventFacts = ({ of: event }: { readonly of: AuditEvent }) => (
  <Facts
    rows={[
      [m('when'), <When key="w" at={event.created_at} relative />],
      [m('actor'), <Text key="a" of={actorName(event.actor)} />],
      [m('address'), event.actor.address === '' ? null : <Code key="d" of={event.actor.address} />],
      [m('action'), <Text key="c" of={actionTitle(event.action)} />, <Code key="r" of={event.action} />],
      [
        m('object'),
        event.object === '' ? m('none') : <ObjectOf key="o" event={event} />,
        event.object === '' ? undefined : <Code key="n" of={event.object} />,
      ],
      ...Object.entries(event.detail).map(
        ([name, value]) => [name, <Text key={name} of={String(value)} />] as const,
      ),
      [m('request'), event.request_id === null ? null : <Code key="q" of={event.request_id} />],
      [m('number'), event.id],
      [m('chain'), <Code key="h" of={event.chain} />],
      [m('position'), event.sequence],
      [m('hash'), <Code key="x" of={event.hash} />],
    ]}
  />
);
