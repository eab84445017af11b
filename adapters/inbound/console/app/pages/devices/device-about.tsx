import { useState } from 'preact/hooks';
import { useRead } from '../../data.ts';
import { messages } from '../../language.ts';
import { Action, Copy } from '../../parts/dialogs/action.tsx';
import { Answer } from '../../parts/display/answer.tsx';
import { Badge, Card, Facts } from '../../parts/display/facts.tsx';
import { DomainOf, TruststoreOf } from '../../parts/display/reference.tsx';
import { Code, Text } from '../../parts/display/text.tsx';
import { When } from '../../parts/display/when.tsx';
import type { Device, DeviceConfig } from '../../records.ts';
import { may } from '../../session.ts';
import { words } from '../../words.ts';
import { DeviceState, m as d, deviceType } from './devices.tsx';

const m = messages(
  {
    blockedAt: 'Blocked',
    cmpSecret: 'Shared secret (CMP)',
    estPassword: 'Password (EST and REST)',
    hidden: 'Your role does not allow you to see it.',
    idevid: 'IDevID',
    idevidIssuer: 'Issued by',
    idevidNone: 'The device has not presented one yet.',
    idevidSerial: 'Serial number of the certificate',
    idevidUntil: 'Valid until',
    importOf: 'Import {n}',
    imported: 'Created by',
    nextExpiry: 'Next expiry',
    onboarded: 'Onboarded',
    onboardedBy: 'over {protocol}',
    onboarding: 'Onboarding',
    pending: 'Pending',
    protocols: 'Protocols',
    secrets: 'Secrets',
    showSecret: 'Show',
    truststore: 'Truststore',
    unset: 'none',
  },
  {
    blockedAt: 'Blockiert',
    cmpSecret: 'Gemeinsames Geheimnis (CMP)',
    estPassword: 'Kennwort (EST und REST)',
    hidden: 'Ihre Rolle erlaubt nicht, es zu sehen.',
    idevid: 'IDevID',
    idevidIssuer: 'Ausgestellt von',
    idevidNone: 'Das Gerät hat noch keine vorgelegt.',
    idevidSerial: 'Seriennummer des Zertifikats',
    idevidUntil: 'Gültig bis',
    importOf: 'Import {n}',
    imported: 'Angelegt durch',
    nextExpiry: 'Nächster Ablauf',
    onboarded: 'Aufgenommen',
    onboardedBy: 'über {protocol}',
    onboarding: 'Aufnahme',
    pending: 'Steht aus',
    protocols: 'Protokolle',
    secrets: 'Geheimnisse',
    showSecret: 'Zeigen',
    truststore: 'Truststore',
    unset: 'keines',
  },
);

/** What is known of a device: its record, its secrets, and how it came to be let in. */
export function DeviceAbout({ device }: { readonly device: Device }) {
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
            {({ protocols, est_password, cmp_shared_secret }) => (
              <Facts
                rows={[
                  [m('protocols'), protocols.length === 0 ? words('none') : protocols.join(', ')],
                  [m('estPassword'), <Secret key="e" name={m('estPassword')} of={est_password} />],
                  [m('cmpSecret'), <Secret key="c" name={m('cmpSecret')} of={cmp_shared_secret} />],
                ]}
              />
            )}
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
