import { useEffect, useState } from 'preact/hooks';
import { ApiError, write } from '../api.ts';
import { useRead } from '../data.ts';
import { messages } from '../language.ts';
import { Action, Copy } from '../parts/action.tsx';
import { Answer, Empty, Problem, Waiting } from '../parts/answer.tsx';
import { CertificateList } from '../parts/certificate-list.tsx';
import { Confirm, Dialog } from '../parts/dialog.tsx';
import { Card, type Fact, Facts, Heading } from '../parts/facts.tsx';
import { Form } from '../parts/form.tsx';
import { DomainOf, useChoices } from '../parts/reference.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { Code, plain, Text } from '../parts/text.tsx';
import { Timeline } from '../parts/timeline.tsx';
import { tell } from '../parts/toast.tsx';
import { When } from '../parts/when.tsx';
import type { Device, DeviceConfig } from '../records.ts';
import { go, type Page } from '../router.ts';
import { may } from '../session.ts';
import { words } from '../words.ts';
import { m as d, deviceType } from './devices.tsx';

const m = messages(
  {
    certificates: 'Certificates',
    change: 'Change the device',
    commands: 'Enrol',
    cmpSecret: 'Shared secret (CMP)',
    estPassword: 'Password (EST and REST)',
    hidden: 'Your role may not see it.',
    history: 'History',
    noCommands: 'There are no lines for this device',
    noCommandsNext: 'It has no secrets to enrol with, or your role may not see them.',
    noCertificates: 'The device has no certificates yet',
    noCertificatesNext: 'Enrol it: the lines for it are under “Enrol”.',
    pasteLead: 'Lines for a shell, to be pasted one after the other. OpenSSL and curl are all they need.',
    protocols: 'May use',
    removeLead: 'Its certificates are revoked and its secrets deleted. This cannot be undone.',
    removeTitle: 'Delete this device?',
    secrets: 'Secrets',
    showSecret: 'Show',
    tabs: 'About the device',
    unset: 'none',
  },
  {
    certificates: 'Zertifikate',
    change: 'Gerät ändern',
    commands: 'Anmelden',
    cmpSecret: 'Gemeinsames Geheimnis (CMP)',
    estPassword: 'Kennwort (EST und REST)',
    hidden: 'Ihre Rolle darf es nicht sehen.',
    history: 'Verlauf',
    noCommands: 'Für dieses Gerät gibt es keine Zeilen',
    noCommandsNext: 'Es hat keine Geheimnisse zum Anmelden, oder Ihre Rolle darf sie nicht sehen.',
    noCertificates: 'Das Gerät hat noch keine Zertifikate',
    noCertificatesNext: 'Melden Sie es an: Die Zeilen dafür stehen unter „Anmelden“.',
    pasteLead: 'Zeilen für eine Shell, nacheinander einzufügen. Sie brauchen nur OpenSSL und curl.',
    protocols: 'Darf benutzen',
    removeLead:
      'Seine Zertifikate werden gesperrt und seine Geheimnisse gelöscht. Das lässt sich nicht rückgängig machen.',
    removeTitle: 'Dieses Gerät löschen?',
    secrets: 'Geheimnisse',
    showSecret: 'Zeigen',
    tabs: 'Über das Gerät',
    unset: 'keines',
  },
);

export const device: Page = {
  path: '/devices/:id',
  title: () => d('title'),
  needs: 'devices.read',
  view: ({ params: { id = '' } }) => {
    const asked = useRead<Device>(`/api/devices/${encodeURIComponent(id)}/`);
    return <Answer of={asked}>{(found) => <Shown device={found} reload={asked.reload} />}</Answer>;
  },
};

function Shown({ device, reload }: { readonly device: Device; readonly reload: () => void }) {
  const [open, setOpen] = useState<'change' | 'remove'>();
  const { id, common_name: name } = device;
  useEffect(() => {
    document.title = `${plain(name)} · Postern`;
  }, [name]);
  return (
    <>
      <Heading
        title={<Text of={name} />}
        up={{ href: '/devices', title: d('title') }}
        actions={
          may('devices.write') && (
            <>
              <button type="button" onClick={() => setOpen('change')}>
                {words('edit')}
              </button>
              <button type="button" class="danger" onClick={() => setOpen('remove')}>
                {words('delete')}
              </button>
            </>
          )
        }
      />
      <Tabs
        label={m('tabs')}
        tabs={[
          { name: 'about', title: words('detail'), view: () => <About device={device} /> },
          {
            name: 'certificates',
            title: m('certificates'),
            view: () => (
              <CertificateList
                fixed={{ device: String(id) }}
                empty={
                  <Empty title={m('noCertificates')}>
                    <p>{m('noCertificatesNext')}</p>
                  </Empty>
                }
              />
            ),
          },
          { name: 'commands', title: m('commands'), view: () => <Commands id={id} /> },
          ...(may('audit.read')
            ? [{ name: 'history', title: m('history'), view: () => <Timeline object={`device:${id}`} /> }]
            : []),
        ]}
      />
      {open === 'change' && (
        <Change
          device={device}
          close={() => setOpen(undefined)}
          done={() => {
            setOpen(undefined);
            reload();
          }}
        />
      )}
      {open === 'remove' && (
        <Confirm
          title={m('removeTitle')}
          action={words('delete')}
          name={name}
          close={() => setOpen(undefined)}
          run={async () => {
            await write('DELETE', `/api/devices/${id}/`);
            tell(words('deleted', { name: plain(name) }));
            go('/devices');
          }}
        >
          <p>{m('removeLead')}</p>
        </Confirm>
      )}
    </>
  );
}

function About({ device }: { readonly device: Device }) {
  const { no_onboarding_config: own, onboarding_config: onboarding } = device;
  const config = useRead<DeviceConfig>(
    own !== null
      ? `/api/no-onboarding-configs/${own}/`
      : onboarding !== null
        ? `/api/onboarding-configs/${onboarding}/`
        : undefined,
  );
  return (
    <div class="cards">
      <Card title={words('detail')}>
        <Facts
          rows={[
            [d('commonName'), <Text key="n" of={device.common_name} />],
            [
              d('serialNumber'),
              device.serial_number === '' ? null : <Text key="s" of={device.serial_number} />,
            ],
            [d('type'), deviceType(device.device_type)],
            [d('domain'), <DomainOf key="d" id={device.domain} />],
            [words('created'), <When key="c" at={device.created_at} relative />],
            [words('id'), device.id],
          ]}
        />
      </Card>
      {(own ?? onboarding) !== null && (
        <Card title={m('secrets')}>
          <Answer of={config}>
            {({ protocols, est_password, cmp_shared_secret }) => {
              const rows: Fact[] = [
                [m('protocols'), protocols.length === 0 ? words('none') : protocols.join(', ')],
                [m('estPassword'), <Secret key="e" name={m('estPassword')} of={est_password} />],
                [m('cmpSecret'), <Secret key="c" name={m('cmpSecret')} of={cmp_shared_secret} />],
              ];
              return <Facts rows={rows} />;
            }}
          </Answer>
        </Card>
      )}
    </div>
  );
}

/** Not on the screen before it is asked for: somebody may look over the shoulder. */
function Secret({ of, name }: { readonly of: string | null; readonly name: string }) {
  const [shown, setShown] = useState(false);
  if (of === null) return <span class="quiet">{may('devices.secrets') ? m('unset') : m('hidden')}</span>;
  return (
    <span class="secret">
      {shown ? (
        <Code of={of} />
      ) : (
        <Action look="plain" label={`${m('showSecret')}: ${name}`} run={async () => setShown(true)}>
          {m('showSecret')}
        </Action>
      )}
      <Copy text={of} label={name} />
    </span>
  );
}

function Commands({ id }: { readonly id: number }) {
  const { data, error, reload } = useRead<unknown>(`/api/devices/${id}/commands/`);
  if (error instanceof ApiError && (error.status === 404 || error.status === 403)) return <NoCommands />;
  if (error !== undefined) return <Problem error={error} retry={reload} />;
  if (data === undefined) return <Waiting retry={reload} />;
  const lines = commandLines(data);
  if (lines.length === 0) return <NoCommands />;
  return (
    <Card title={m('commands')}>
      <p class="lead">{m('pasteLead')}</p>
      <ol class="steps">
        {lines.map(({ title, line }) => (
          <li key={title}>
            <header>
              <h3>
                <Text of={title} />
              </h3>
              <Copy text={line} label={plain(title)} />
            </header>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
            <pre tabIndex={0}>{line}</pre>
          </li>
        ))}
      </ol>
    </Card>
  );
}

const NoCommands = () => (
  <Empty title={m('noCommands')}>
    <p>{m('noCommandsNext')}</p>
  </Empty>
);

/** `{ commands: { est: "…" } }` with titles beside, or a list of both. */
function commandLines(answer: unknown): readonly { readonly title: string; readonly line: string }[] {
  const { commands, titles = {} } = answer as {
    commands?: Readonly<Record<string, string>>;
    titles?: Readonly<Record<string, string>>;
  };
  return Object.entries(commands ?? {}).map(([name, line]) => ({ title: titles[name] ?? name, line }));
}

function Change({
  device,
  close,
  done,
}: {
  readonly device: Device;
  readonly close: () => void;
  readonly done: () => void;
}) {
  const domains = useChoices('/api/domains/', 'domains.read');
  return (
    <Dialog title={m('change')} close={close}>
      <Form
        action={words('save')}
        cancel={close}
        fields={[
          { name: 'common_name', title: d('commonName'), required: true, initial: device.common_name },
          {
            name: 'serial_number',
            title: d('serialNumber'),
            initial: device.serial_number,
            sendEmpty: true,
          },
          {
            name: 'device_type',
            title: d('type'),
            type: 'choice',
            required: true,
            initial: device.device_type,
            options: [0, 1, 2, 3].map((type) => [type, deviceType(type)]),
          },
          {
            name: 'domain',
            title: d('domain'),
            type: 'choice',
            initial: device.domain ?? '',
            options: domains,
          },
        ]}
        send={async (values) => {
          await write('PATCH', `/api/devices/${device.id}/`, values);
          tell(words('saved'));
          done();
        }}
      />
    </Dialog>
  );
}
