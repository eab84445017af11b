import { messages } from '../language.ts';
import { Empty } from '../parts/answer.tsx';
import { Badge, Heading } from '../parts/facts.tsx';
import { List } from '../parts/list.tsx';
import { DomainOf, useChoices } from '../parts/reference.tsx';
import { plain, Text } from '../parts/text.tsx';
import { When } from '../parts/when.tsx';
import type { Device } from '../records.ts';
import type { Page } from '../router.ts';
import { may } from '../session.ts';
import { words } from '../words.ts';

export const m = messages(
  {
    active: 'Active',
    add: 'Add a device',
    agent: 'Agent',
    blocked: 'Blocked',
    commonName: 'Name',
    domain: 'Domain',
    generic: 'Generic',
    gds: 'OPC UA GDS',
    gdsPush: 'OPC UA GDS Push',
    importFile: 'Import',
    imports: 'Imports',
    nextExpiry: 'First certificate ends',
    noDevices: 'There are no devices yet',
    noDevicesNext: 'Add one: it gets fresh secrets, and lines to paste that enrol it.',
    registered: 'Registered',
    serialNumber: 'Serial number',
    title: 'Devices',
    type: 'Type',
  },
  {
    active: 'Aktiv',
    add: 'Gerät hinzufügen',
    agent: 'Agent',
    blocked: 'Ausgeschlossen',
    commonName: 'Name',
    domain: 'Domäne',
    generic: 'Allgemein',
    gds: 'OPC UA GDS',
    gdsPush: 'OPC UA GDS Push',
    importFile: 'Importieren',
    imports: 'Importe',
    nextExpiry: 'Erstes Zertifikat endet',
    noDevices: 'Es gibt noch keine Geräte',
    noDevicesNext:
      'Fügen Sie eines hinzu: Es bekommt frische Geheimnisse und Zeilen zum Einfügen, die es anmelden.',
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

export const devices: Page = {
  path: '/devices',
  title: () => m('title'),
  needs: 'devices.read',
  navigation: { group: 'inventory', order: 0 },
  view: () => {
    const domains = useChoices('/api/domains/', 'domains.read');
    return (
      <>
        <Heading
          title={m('title')}
          actions={
            <>
              <AddDevice />
              <a class="button" href="/devices/imports">
                {m('imports')}
              </a>
            </>
          }
        />
        <List<Device>
          path="/api/devices/"
          title={m('title')}
          href={({ id }) => `/devices/${id}`}
          filters={[
            { name: 'state', title: words('state'), options: states.map((one) => [one, m(one)]) },
            {
              name: 'domain',
              title: m('domain'),
              options: domains.map(([id, name]) => [String(id), plain(name)]),
            },
            { name: 'device_import', title: m('importFile'), type: 'number' },
          ]}
          columns={[
            {
              name: 'common_name',
              title: m('commonName'),
              orderable: true,
              cell: ({ common_name }) => <Text of={common_name} />,
            },
            {
              name: 'serial_number',
              title: m('serialNumber'),
              orderable: true,
              cell: ({ serial_number }) => <Text of={serial_number} />,
            },
            { name: 'state', title: words('state'), cell: ({ state }) => <DeviceState of={state} /> },
            {
              name: 'next_expiry',
              title: m('nextExpiry'),
              cell: ({ next_expiry }) =>
                next_expiry === null ? <span class="quiet">–</span> : <When at={next_expiry} />,
            },
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
            {
              name: 'created_at',
              title: words('created'),
              orderable: true,
              cell: ({ created_at }) => <When at={created_at} />,
            },
          ]}
          empty={
            <Empty title={m('noDevices')}>
              <p>{m('noDevicesNext')}</p>
              <AddDevice />
            </Empty>
          }
        />
      </>
    );
  },
};

const AddDevice = () =>
  may('devices.write') ? (
    <a class="button main" href="/devices/new">
      {m('add')}
    </a>
  ) : null;
