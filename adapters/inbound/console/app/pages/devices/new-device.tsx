import { write } from '../../api.ts';
import { messages } from '../../language.ts';
import { tell } from '../../parts/dialogs/toast.tsx';
import { Heading } from '../../parts/display/facts.tsx';
import { useChoices } from '../../parts/display/reference.tsx';
import { Form } from '../../parts/forms/form.tsx';
import type { Device } from '../../records.ts';
import { go, type Page } from '../../router.ts';
import { words } from '../../words.ts';
import { m as d, deviceType } from './devices.tsx';

const m = messages(
  {
    done: '{name} has been added.',
    lead: 'The device gets new secrets. The next page shows them and the commands to enrol the device.',
    nameHint: 'The device signs in with this name. The profile can put it into certificates.',
    usual: 'The default domain',
  },
  {
    done: '„{name}“ wurde hinzugefügt.',
    lead: 'Das Gerät bekommt neue Geheimnisse. Die nächste Seite zeigt sie und die Befehle zum Anmelden.',
    nameHint: 'Mit diesem Namen meldet sich das Gerät an. Das Profil kann ihn in Zertifikate übernehmen.',
    usual: 'Die Standarddomäne',
  },
);

export const newDevice: Page = {
  path: '/devices/new',
  title: () => d('add'),
  needs: 'devices.write',
  view: () => {
    const domains = useChoices('/api/domains/', 'domains.read');
    return (
      <>
        <Heading title={d('add')} up={{ href: '/devices', title: d('title') }} />
        <p class="lead">{m('lead')}</p>
        <Form
          action={words('add')}
          cancel={() => go('/devices')}
          fields={[
            {
              name: 'common_name',
              title: d('commonName'),
              required: true,
              maxLength: 100,
              hint: m('nameHint'),
            },
            { name: 'serial_number', title: d('serialNumber'), maxLength: 100 },
            {
              name: 'device_type',
              title: d('type'),
              type: 'choice',
              required: true,
              initial: 0,
              options: [0, 1, 2, 3].map((type) => [type, deviceType(type)]),
            },
            {
              name: 'domain',
              title: d('domain'),
              type: 'choice',
              options: [['', m('usual')], ...domains],
            },
          ]}
          send={async (values) => {
            const device = await write<Device>('POST', '/api/devices/', values);
            tell(m('done', { name: device.common_name }));
            go(`/devices/${device.id}?tab=commands`);
          }}
        />
      </>
    );
  },
};
