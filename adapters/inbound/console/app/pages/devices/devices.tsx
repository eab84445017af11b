import { messages } from '../../language.ts';
import { Empty } from '../../parts/display/answer.tsx';
import { Badge } from '../../parts/display/facts.tsx';
import { DomainOf, useChoices } from '../../parts/display/reference.tsx';
import { createdColumn, momentColumn, textColumn } from '../../parts/lists/columns.tsx';
import { choiceFilter, recordFilter } from '../../parts/lists/filters.ts';
import { List, type ListProps } from '../../parts/lists/list.tsx';
import { ListPage } from '../../parts/lists/list-page.tsx';
import type { Device } from '../../records.ts';
import type { Page } from '../../router.ts';
import { may } from '../../session.ts';
import { words } from '../../words.ts';

export const m = messages(
  {
    active: 'Active',
    add: 'Add device',
    agent: 'Agent',
    blocked: 'Blocked',
    commonName: 'Name',
    domain: 'Domain',
    generic: 'Generic',
    gds: 'OPC UA GDS',
    gdsPush: 'OPC UA GDS Push',
    importFile: 'Import',
    imports: 'Imports',
    nextExpiry: 'Next expiry',
    noDevices: 'No devices yet',
    noDevicesNext: 'Add a device. It gets new secrets and commands to enrol it.',
    registered: 'Registered',
    serialNumber: 'Serial number',
    title: 'Devices',
    type: 'Type',
  },
  {
    active: 'Aktiv',
    add: 'Gerät hinzufügen',
    agent: 'Agent',
    blocked: 'Blockiert',
    commonName: 'Name',
    domain: 'Domäne',
    generic: 'Allgemein',
    gds: 'OPC UA GDS',
    gdsPush: 'OPC UA GDS Push',
    importFile: 'Importieren',
    imports: 'Importe',
    nextExpiry: 'Nächster Ablauf',
    noDevices: 'Noch keine Geräte',
    noDevicesNext: 'Fügen Sie ein Gerät hinzu. Es bekommt neue Geheimnisse und Befehle zum Anmelden.',
    registered: 'Registriert',
    serialNumber: 'Seriennummer',
    title: 'Geräte',
    type: 'Art',
  },
);

/** `device_type` → what it is called. */
export const deviceType = (type: number): string =>
  [m('generic'), m('gds'), m('gdsPush'), m('agent')][type] ?? String(type);

const states = ['registered', 'active', 'blocked'] as const;
const looks = { registered: 'calm', active: 'good', blocked: 'bad' } as const;

/** Whether a device is let in, and holds a certificate. */
export const DeviceState = ({ of }: { readonly of: Device['state'] }) => (
  <Badge look={looks[of]}>{m(of)}</Badge>
);

const columns = (): ListProps<Device>['columns'] => [
  textColumn('common_name', m('commonName')),
  textColumn('serial_number', m('serialNumber')),
  { name: 'state', title: words('state'), cell: ({ state }) => <DeviceState of={state} /> },
  { ...momentColumn('next_expiry', m('nextExpiry')), orderable: false },
  {
    name: 'device_type',
    title: m('type'),
    orderable: true,
    cell: ({ device_type }) => deviceType(device_type),
  },
  {
    name: 'domain',
    title: m('domain'),
    orderable: true,
    cell: ({ domain }) => <DomainOf id={domain} />,
  },
  createdColumn(),
];

const href = ({ id }: Device): string => `/devices/${id}`;

/** The devices of a domain. */
export const DevicesOf = ({ domain }: { readonly domain: number }) => (
  <List<Device>
    path="/api/devices/"
    title={m('title')}
    fixed={{ domain: String(domain) }}
    href={href}
    filters={[choiceFilter('state', words('state'), states, m)]}
    columns={columns().filter((column) => column !== false && column.name !== 'domain')}
    empty={
      <Empty title={m('noDevices')} next={m('noDevicesNext')}>
        <AddDevice />
      </Empty>
    }
  />
);

export const devices: Page = {
  path: '/devices',
  title: () => m('title'),
  needs: 'devices.read',
  navigation: { group: 'inventory', order: 0 },
  view: () => {
    const domains = useChoices('/api/domains/', 'domains.read');
    return (
      <ListPage<Device>
        path="/api/devices/"
        title={m('title')}
        actions={
          <>
            <AddDevice />
            <a class="button" href="/devices/imports">
              {m('imports')}
            </a>
          </>
        }
        href={href}
        filters={[
          choiceFilter('state', words('state'), states, m),
          recordFilter('domain', m('domain'), domains),
          { name: 'device_import', title: m('importFile'), type: 'number' },
        ]}
        columns={columns()}
        empty={
          <Empty title={m('noDevices')} next={m('noDevicesNext')}>
            <AddDevice />
          </Empty>
        }
      />
    );
  },
};

const AddDevice = () =>
  may('devices.write') ? (
    <a class="button main" href="/devices/new">
      {m('add')}
    </a>
  ) : null;
