import { messages } from '../../language.ts';
import { CertificateList } from '../../parts/certificates/certificate-list.tsx';
import { useDialog } from '../../parts/dialogs/dialog.tsx';
import { Empty } from '../../parts/display/answer.tsx';
import { type Found, RecordHeading, recordView } from '../../parts/display/record.tsx';
import { Tabs } from '../../parts/display/tabs.tsx';
import { Timeline } from '../../parts/display/timeline.tsx';
import type { Device } from '../../records.ts';
import { go, type Page } from '../../router.ts';
import { may } from '../../session.ts';
import { words } from '../../words.ts';
import { DeviceAbout } from './device-about.tsx';
import { m as c, DeviceCommands } from './device-commands.tsx';
import {
  BlockDevice,
  ChangeDevice,
  m as deeds,
  RemoveDevice,
  ResetOnboarding,
  RevokeCertificates,
  UnblockDevice,
} from './device-deeds.tsx';
import { m as d } from './devices.tsx';

const m = messages(
  {
    certificates: 'Certificates',
    history: 'History',
    noCertificates: 'The device has no certificates yet',
    noCertificatesNext: 'Enrol it with the commands under “Enrol”.',
    tabs: 'About the device',
  },
  {
    certificates: 'Zertifikate',
    history: 'Verlauf',
    noCertificates: 'Das Gerät hat noch keine Zertifikate',
    noCertificatesNext: 'Die Befehle dafür stehen unter „Anmelden“.',
    tabs: 'Über das Gerät',
  },
);

export const device: Page = {
  path: '/devices/:id',
  title: () => d('title'),
  needs: 'devices.read',
  view: recordView('/api/devices/', Shown),
};

function Shown({ of: found, reload }: Found<Device>) {
  const { dialog, open } = useDialog();
  const deed = { device: found, after: reload };
  return (
    <>
      <RecordHeading
        name={found.common_name}
        up={{ href: '/devices', title: d('title') }}
        actions={
          <>
            {may('devices.write') && (
              <>
                <button
                  type="button"
                  onClick={() => open((close) => <ChangeDevice {...deed} close={close} />)}
                >
                  {words('edit')}
                </button>
                {found.onboarding_config !== null && (
                  <button
                    type="button"
                    onClick={() => open((close) => <ResetOnboarding {...deed} close={close} />)}
                  >
                    {deeds('reset')}
                  </button>
                )}
              </>
            )}
            {may('certificates.revoke') && (
              <button
                type="button"
                class="danger"
                onClick={() => open((close) => <RevokeCertificates {...deed} close={close} />)}
              >
                {deeds('revokeAll')}
              </button>
            )}
            {may('devices.write') && (
              <>
                {found.state === 'blocked' ? (
                  <UnblockDevice {...deed} />
                ) : (
                  <button
                    type="button"
                    class="danger"
                    onClick={() => open((close) => <BlockDevice {...deed} close={close} />)}
                  >
                    {deeds('block')}
                  </button>
                )}
                <button
                  type="button"
                  class="danger"
                  onClick={() =>
                    open((close) => (
                      <RemoveDevice device={found} after={() => go('/devices')} close={close} />
                    ))
                  }
                >
                  {words('delete')}
                </button>
              </>
            )}
          </>
        }
      />
      <Views of={found} />
      {dialog}
    </>
  );
}

const Views = ({ of: found }: { readonly of: Device }) => (
  <Tabs
    label={m('tabs')}
    tabs={[
      { name: 'about', title: words('detail'), view: () => <DeviceAbout device={found} /> },
      {
        name: 'certificates',
        title: m('certificates'),
        view: () => (
          <CertificateList
            fixed={{ device: String(found.id) }}
            empty={<Empty title={m('noCertificates')} next={m('noCertificatesNext')} />}
          />
        ),
      },
      { name: 'commands', title: c('commands'), view: () => <DeviceCommands id={found.id} /> },
      ...(may('history.read')
        ? [
            {
              name: 'history',
              title: m('history'),
              view: () => <Timeline path={`/api/devices/${found.id}/events/`} />,
            },
          ]
        : []),
    ]}
  />
);
