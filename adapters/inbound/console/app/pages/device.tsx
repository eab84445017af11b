import { useEffect, useState } from 'preact/hooks';
import { write } from '../api.ts';
import { useRead } from '../data.ts';
import { messages } from '../language.ts';
import { Action, Copy } from '../parts/action.tsx';
import { Answer, Empty } from '../parts/answer.tsx';
import { CertificateList } from '../parts/certificate-list.tsx';
import { Confirm, Dialog } from '../parts/dialog.tsx';
import { Badge, Card, type Fact, Facts, Heading } from '../parts/facts.tsx';
import { Form } from '../parts/form.tsx';
import { DomainOf, TruststoreOf, useChoices } from '../parts/reference.tsx';
import { Removal } from '../parts/removal.tsx';
import { reasons, reasonTitle } from '../parts/revocation-reasons.ts';
import { Tabs } from '../parts/tabs.tsx';
import { Code, plain, Text } from '../parts/text.tsx';
import { Timeline } from '../parts/timeline.tsx';
import { tell } from '../parts/toast.tsx';
import { When } from '../parts/when.tsx';
import type { Device, DeviceConfig } from '../records.ts';
import { go, type Page } from '../router.ts';
import { may } from '../session.ts';
import { words } from '../words.ts';
import { DeviceState, m as d, deviceType } from './devices.tsx';

const m = messages(
  {
    block: 'Block',
    blockComment: 'Why',
    blockCommentHint: 'For the audit trail.',
    blockDone: '{name} is blocked.',
    blockLead:
      'From now on nothing that stands for it is accepted over any protocol: its secrets, its certificates, its IDevID.',
    blockRevoke: 'Its certificates',
    blockRevokeNot: 'stay as they are',
    blockTitle: 'Block this device?',
    blockedAt: 'Blocked',
    certificates: 'Certificates',
    change: 'Change the device',
    commands: 'Enrol',
    cmpSecret: 'Shared secret (CMP)',
    estPassword: 'Password (EST and REST)',
    hidden: 'Your role may not see it.',
    history: 'History',
    idevid: 'IDevID',
    idevidNone: 'It has not come with one yet.',
    idevidIssuer: 'Issued by',
    idevidSerial: 'Serial number of the certificate',
    idevidUntil: 'Good until',
    imported: 'Came by',
    importOf: 'Import {n}',
    onboarded: 'Onboarded',
    onboardedBy: 'over {protocol}',
    onboarding: 'Onboarding',
    pending: 'Pending',
    reset: 'Reset onboarding',
    resetDone: 'The device may onboard once more.',
    resetLead:
      'Its onboarding is pending again, with whatever IDevID of its truststore bears its serial number. The certificates that it has stay as they are.',
    resetTitle: 'Let this device onboard once more?',
    revokeAll: 'Revoke all certificates',
    revokeAllLead:
      'All that are good or on hold. New CRLs follow at once. Only a suspension (certificateHold) can be taken back.',
    revokeAllTitle: 'Revoke all certificates of this device?',
    revokedAll: { one: '{n} certificate has been revoked.', other: '{n} certificates have been revoked.' },
    revokeReason: 'Reason',
    nextExpiry: 'First certificate ends',
    truststore: 'Truststore',
    unblock: 'Let in again',
    unblockDone: '{name} is let in again.',
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
    block: 'Ausschließen',
    blockComment: 'Warum',
    blockCommentHint: 'Für das Prüfprotokoll.',
    blockDone: '{name} ist ausgeschlossen.',
    blockLead:
      'Von jetzt an wird über kein Protokoll etwas angenommen, das für das Gerät steht: seine Geheimnisse, seine Zertifikate, seine IDevID.',
    blockRevoke: 'Seine Zertifikate',
    blockRevokeNot: 'bleiben, wie sie sind',
    blockTitle: 'Dieses Gerät ausschließen?',
    blockedAt: 'Ausgeschlossen',
    certificates: 'Zertifikate',
    change: 'Gerät ändern',
    commands: 'Anmelden',
    cmpSecret: 'Gemeinsames Geheimnis (CMP)',
    estPassword: 'Kennwort (EST und REST)',
    hidden: 'Ihre Rolle darf es nicht sehen.',
    history: 'Verlauf',
    idevid: 'IDevID',
    idevidNone: 'Es ist noch mit keiner gekommen.',
    idevidIssuer: 'Ausgestellt von',
    idevidSerial: 'Seriennummer des Zertifikats',
    idevidUntil: 'Gültig bis',
    imported: 'Kam durch',
    importOf: 'Import {n}',
    onboarded: 'Aufgenommen',
    onboardedBy: 'über {protocol}',
    onboarding: 'Aufnahme',
    pending: 'Steht aus',
    reset: 'Aufnahme zurücksetzen',
    resetDone: 'Das Gerät darf noch einmal aufgenommen werden.',
    resetLead:
      'Seine Aufnahme steht wieder aus, mit jeder IDevID seines Truststores, die seine Seriennummer trägt. Die Zertifikate, die es hat, bleiben, wie sie sind.',
    resetTitle: 'Dieses Gerät noch einmal aufnehmen lassen?',
    revokeAll: 'Alle Zertifikate sperren',
    revokeAllLead:
      'Alle gültigen und ausgesetzten. Neue Sperrlisten folgen sofort. Nur eine Aussetzung (certificateHold) lässt sich zurücknehmen.',
    revokeAllTitle: 'Alle Zertifikate dieses Geräts sperren?',
    revokedAll: { one: '{n} Zertifikat ist gesperrt.', other: '{n} Zertifikate sind gesperrt.' },
    revokeReason: 'Grund',
    nextExpiry: 'Erstes Zertifikat endet',
    truststore: 'Truststore',
    unblock: 'Wieder einlassen',
    unblockDone: '{name} wird wieder eingelassen.',
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
  const [open, setOpen] = useState<'change' | 'remove' | 'block' | 'revoke' | 'reset'>();
  const { id, common_name: name } = device;
  const changed = (told: string): void => {
    setOpen(undefined);
    tell(told);
    reload();
  };
  useEffect(() => {
    document.title = `${plain(name)} · Postern`;
  }, [name]);
  return (
    <>
      <Heading
        title={<Text of={name} />}
        up={{ href: '/devices', title: d('title') }}
        actions={
          <>
            {may('devices.write') && (
              <>
                <button type="button" onClick={() => setOpen('change')}>
                  {words('edit')}
                </button>
                {device.onboarding_config !== null && (
                  <button type="button" onClick={() => setOpen('reset')}>
                    {m('reset')}
                  </button>
                )}
              </>
            )}
            {may('certificates.revoke') && (
              <button type="button" class="danger" onClick={() => setOpen('revoke')}>
                {m('revokeAll')}
              </button>
            )}
            {may('devices.write') && (
              <>
                {device.state === 'blocked' ? (
                  <Action
                    done={m('unblockDone', { name: plain(name) })}
                    run={async () => {
                      await write('POST', `/api/devices/${id}/unblock/`);
                      reload();
                    }}
                  >
                    {m('unblock')}
                  </Action>
                ) : (
                  <button type="button" class="danger" onClick={() => setOpen('block')}>
                    {m('block')}
                  </button>
                )}
                <button type="button" class="danger" onClick={() => setOpen('remove')}>
                  {words('delete')}
                </button>
              </>
            )}
          </>
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
          ...(may('history.read')
            ? [
                {
                  name: 'history',
                  title: m('history'),
                  view: () => <Timeline path={`/api/devices/${id}/events/`} />,
                },
              ]
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
      {open === 'block' && <Block device={device} close={() => setOpen(undefined)} done={changed} />}
      {open === 'revoke' && <RevokeAll device={device} close={() => setOpen(undefined)} done={changed} />}
      {open === 'reset' && (
        <Confirm
          title={m('resetTitle')}
          action={m('reset')}
          close={() => setOpen(undefined)}
          run={async () => {
            await write('POST', `/api/devices/${id}/reset-onboarding/`);
            changed(m('resetDone'));
          }}
        >
          <p>{m('resetLead')}</p>
        </Confirm>
      )}
      {open === 'remove' && (
        <Removal
          title={m('removeTitle')}
          lead={m('removeLead')}
          path={`/api/devices/${id}/`}
          name={name}
          close={() => setOpen(undefined)}
          done={() => go('/devices')}
        />
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
            [words('state'), <DeviceState key="st" of={device.state} />],
            [m('blockedAt'), device.blocked_at && <When at={device.blocked_at} relative />],
            [m('nextExpiry'), device.next_expiry && <When at={device.next_expiry} relative />],
            [d('type'), deviceType(device.device_type)],
            [d('domain'), <DomainOf key="d" id={device.domain} />],
            [words('created'), <When key="c" at={device.created_at} relative />],
            [
              m('imported'),
              device.device_import && (
                <a href={`/devices/imports/${device.device_import}`}>
                  {m('importOf', { n: device.device_import })}
                </a>
              ),
            ],
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
      {onboarding !== null && config.data && <Onboarding of={config.data} />}
    </div>
  );
}

const onboarded = 2;

/** Whether the device has come with the certificate of its manufacturer, and with which. */
function Onboarding({ of: config }: { readonly of: DeviceConfig }) {
  const {
    onboarding_status: status,
    onboarding_protocol: protocol,
    idevid_truststore: store,
    idevid,
  } = config;
  return (
    <Card title={m('onboarding')}>
      <Facts
        rows={[
          [
            words('state'),
            status === onboarded ? (
              <Badge look="good">{m('onboarded')}</Badge>
            ) : (
              <Badge look="warn">{m('pending')}</Badge>
            ),
            protocol ? m('onboardedBy', { protocol: protocol.toUpperCase() }) : undefined,
          ],
          [m('truststore'), <TruststoreOf key="t" id={store ?? null} />],
          [m('idevid'), idevid ? <Text of={idevid.subject} /> : <span class="quiet">{m('idevidNone')}</span>],
          [m('idevidIssuer'), idevid && <Text of={idevid.issuer} />],
          [m('idevidSerial'), idevid && <Code of={idevid.serial_number} />],
          [m('idevidUntil'), idevid && <When at={idevid.not_valid_after} />],
          ['SHA-256', idevid && <Code of={idevid.fingerprint} />],
        ]}
      />
    </Card>
  );
}

interface Deed {
  readonly device: Device;
  readonly close: () => void;
  readonly done: (told: string) => void;
}

const Block = ({ device: { id, common_name: name }, close, done }: Deed) => (
  <Dialog title={m('blockTitle')} close={close}>
    <p>{m('blockLead')}</p>
    <Form
      action={m('block')}
      cancel={close}
      fields={[
        { name: 'comment', title: m('blockComment'), hint: m('blockCommentHint'), maxLength: 200 },
        {
          name: 'revoke',
          title: m('blockRevoke'),
          type: 'choice',
          options: [['', m('blockRevokeNot')], ...reasons.map((one) => [one, reasonTitle(one)] as const)],
          when: () => may('certificates.revoke'),
        },
      ]}
      send={async (values) => {
        await write('POST', `/api/devices/${id}/block/`, values);
        done(m('blockDone', { name: plain(name) }));
      }}
    />
  </Dialog>
);

const RevokeAll = ({ device: { id }, close, done }: Deed) => (
  <Dialog title={m('revokeAllTitle')} close={close}>
    <p>{m('revokeAllLead')}</p>
    <Form
      action={m('revokeAll')}
      cancel={close}
      fields={[
        {
          name: 'reason',
          title: m('revokeReason'),
          type: 'choice',
          required: true,
          initial: 'unspecified',
          options: reasons.map((one) => [one, reasonTitle(one)] as const),
        },
      ]}
      send={async (values) => {
        const { revoked } = await write<{ revoked: number }>(
          'POST',
          `/api/devices/${id}/revoke-certificates/`,
          values,
          { timeLimit: 120_000 },
        );
        done(m('revokedAll', { n: revoked }));
      }}
    />
  </Dialog>
);

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

interface CommandLines {
  readonly commands: Readonly<Record<string, string>>;
  readonly titles: Readonly<Record<string, string>>;
}

function Commands({ id }: { readonly id: number }) {
  const asked = useRead<CommandLines>(`/api/devices/${id}/commands/`);
  return <Answer of={asked}>{(of) => <CommandList of={of} />}</Answer>;
}

function CommandList({ of: { commands, titles } }: { readonly of: CommandLines }) {
  const lines = Object.entries(commands).map(([name, line]) => ({ title: titles[name] ?? name, line }));
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
