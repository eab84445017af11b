import { write } from '../../api.ts';
import { useRead } from '../../data.ts';
import { messages } from '../../language.ts';
import { tell } from '../../parts/dialogs/toast.tsx';
import { Answer } from '../../parts/display/answer.tsx';
import { Card, Facts, Heading } from '../../parts/display/facts.tsx';
import { Tabs } from '../../parts/display/tabs.tsx';
import { Text } from '../../parts/display/text.tsx';
import { Form } from '../../parts/forms/form.tsx';
import type { Field } from '../../parts/forms/input.tsx';
import type { Page } from '../../router.ts';
import { may } from '../../session.ts';
import { words } from '../../words.ts';
import { SecurityLevels } from './security-levels.tsx';

const m = messages(
  {
    access: 'Access tokens are good for, seconds',
    accessHint: '60 to 86,400. A session is refreshed by itself for as long as its refresh token is good.',
    caWarning: 'Issuing CA expiry warning, days before',
    caWarningHint: 'For the health check. Create and assign a successor in time.',
    expiry: 'Certificates count as ending soon, days before',
    expiryHint: 'For the metrics.',
    general: 'General',
    levels: 'Security level',
    refresh: 'Refresh tokens are good for, seconds',
    refreshHint: '60 to 2,592,000. Whoever is away for longer signs in anew.',
    retention: 'Log files are kept for, days',
    retentionHint: 'Left empty: until rotation drops them.',
    title: 'Settings',
    warn: 'Webhooks hear of ending certificates, days before',
    warnHint: 'Up to eight numbers: 30, 7, 1.',
    webhookHosts: 'Hosts that webhooks may name',
    webhookHostsHint: 'One on each line, *.example.com for all below it. Left empty: all hosts.',
  },
  {
    access: 'Zugriffstoken gelten, Sekunden',
    accessHint: '60 bis 86.400. Eine Sitzung erneuert sich selbst, solange ihr Erneuerungstoken gilt.',
    caWarning: 'Warnung vor dem Ablauf ausstellender CAs, Tage vorher',
    caWarningHint: 'Für die Zustandsprüfung. Rechtzeitig eine Nachfolgerin anlegen und zuordnen.',
    expiry: 'Zertifikate gelten als bald ablaufend, Tage vorher',
    expiryHint: 'Für die Messwerte.',
    general: 'Allgemein',
    levels: 'Sicherheitsstufe',
    refresh: 'Erneuerungstoken gelten, Sekunden',
    refreshHint: '60 bis 2.592.000. Wer länger fort ist, meldet sich neu an.',
    retention: 'Protokolldateien bleiben, Tage',
    retentionHint: 'Bleibt das leer: bis die Rotation sie verwirft.',
    title: 'Einstellungen',
    warn: 'Webhooks hören von ablaufenden Zertifikaten, Tage vorher',
    warnHint: 'Bis zu acht Zahlen: 30, 7, 1.',
    webhookHosts: 'Rechner, die Webhooks nennen dürfen',
    webhookHostsHint: 'Einer je Zeile, *.example.com für alle darunter. Bleibt das leer: alle.',
  },
);

interface Settings {
  readonly access_token_seconds: number;
  readonly refresh_token_seconds: number;
  readonly ca_warning_days: number;
  readonly expiry_warning_days: number;
  readonly log_retention_days: number | null;
  readonly webhook_warn_days: readonly number[];
  readonly webhook_hosts: readonly string[];
}

const path = '/api/settings/';

export const settings: Page = {
  path: '/settings',
  title: () => m('title'),
  needs: 'settings.read',
  navigation: { group: 'system', order: 40 },
  view: () => (
    <>
      <Heading title={m('title')} />
      <Tabs
        label={m('title')}
        tabs={[
          { name: 'general', title: m('general'), view: () => <General /> },
          { name: 'level', title: m('levels'), view: () => <SecurityLevels /> },
        ]}
      />
    </>
  ),
};

const fields = (of: Settings): readonly Field[] => [
  {
    name: 'access_token_seconds',
    title: m('access'),
    type: 'number',
    required: true,
    hint: m('accessHint'),
    initial: of.access_token_seconds,
  },
  {
    name: 'refresh_token_seconds',
    title: m('refresh'),
    type: 'number',
    required: true,
    hint: m('refreshHint'),
    initial: of.refresh_token_seconds,
  },
  {
    name: 'ca_warning_days',
    title: m('caWarning'),
    type: 'number',
    required: true,
    hint: m('caWarningHint'),
    initial: of.ca_warning_days,
  },
  {
    name: 'expiry_warning_days',
    title: m('expiry'),
    type: 'number',
    required: true,
    hint: m('expiryHint'),
    initial: of.expiry_warning_days,
  },
  {
    name: 'log_retention_days',
    title: m('retention'),
    type: 'number',
    hint: m('retentionHint'),
    initial: of.log_retention_days,
  },
  {
    name: 'webhook_warn_days',
    title: m('warn'),
    hint: m('warnHint'),
    initial: of.webhook_warn_days.join(', '),
  },
  {
    name: 'webhook_hosts',
    title: m('webhookHosts'),
    type: 'area',
    isCode: true,
    hint: m('webhookHostsHint'),
    initial: of.webhook_hosts.join('\n'),
  },
];

function General() {
  const asked = useRead<Settings>(path);
  return (
    <Answer of={asked}>
      {(found) =>
        may('settings.write') ? (
          <Form
            action={words('save')}
            fields={fields(found)}
            send={async ({
              log_retention_days: days = null,
              webhook_warn_days,
              webhook_hosts,
              ...values
            }) => {
              await write('PATCH', path, {
                ...values,
                log_retention_days: days,
                webhook_warn_days: parts(webhook_warn_days).map((one) =>
                  /^\d+$/.test(one) ? Number(one) : one,
                ),
                webhook_hosts: parts(webhook_hosts),
              });
              tell(words('saved'));
            }}
          />
        ) : (
          <Card title={m('general')}>
            <Facts
              rows={fields(found).map(({ title, initial }) => [
                title,
                initial === '' || initial === null || initial === undefined ? (
                  <span class="quiet">–</span>
                ) : (
                  <Text of={String(initial)} />
                ),
              ])}
            />
          </Card>
        )
      }
    </Answer>
  );
}

/** What stands between commas or on lines. */
const parts = (value: unknown): readonly string[] =>
  String(value ?? '')
    .split(/[\s,]+/)
    .filter((one) => one !== '');
