import { messages } from '../language.ts';
import { Empty } from '../parts/answer.tsx';
import { Heading } from '../parts/facts.tsx';
import { List } from '../parts/list.tsx';
import { DomainOf } from '../parts/reference.tsx';
import { Text } from '../parts/text.tsx';
import { When } from '../parts/when.tsx';
import type { Device } from '../records.ts';
import type { Page } from '../router.ts';
import { may } from '../session.ts';
import { words } from '../words.ts';

export const m = messages(
  {
    add: 'Add a device',
    agent: 'Agent',
    commonName: 'Name',
    domain: 'Domain',
    generic: 'Generic',
    gds: 'OPC UA GDS',
    gdsPush: 'OPC UA GDS Push',
    noDevices: 'There are no devices yet',
    noDevicesNext: 'Add one: it gets fresh secrets, and lines to paste that enrol it.',
    serialNumber: 'Serial number',
    title: 'Devices',
    type: 'Type',
  },
  {
    add: 'Gerät hinzufügen',
    agent: 'Agent',
    commonName: 'Name',
    domain: 'Domäne',
    generic: 'Allgemein',
    gds: 'OPC UA GDS',
    gdsPush: 'OPC UA GDS Push',
    noDevices: 'Es gibt noch keine Geräte',
    noDevicesNext:
      'Fügen Sie eines hinzu: Es bekommt frische Geheimnisse und Zeilen zum Einfügen, die es anmelden.',
    serialNumber: 'Seriennummer',
    title: 'Geräte',
    type: 'Art',
  },
);

/** `device_type` → what it is called. */
export const deviceType = (type: number): string =>
  [m('generic'), m('gds'), m('gdsPush'), m('agent')][type] ?? String(type);

export const devices: Page = {
  path: '/devices',
  title: () => m('title'),
  needs: 'devices.read',
  navigation: { group: 'inventory', order: 0 },
  view: () => (
    <>
      <Heading title={m('title')} actions={<AddDevice />} />
      <List<Device>
        path="/api/devices/"
        title={m('title')}
        href={({ id }) => `/devices/${id}`}
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
  ),
};

const AddDevice = () =>
  may('devices.write') ? (
    <a class="button main" href="/devices/new">
      {m('add')}
    </a>
  ) : null;
