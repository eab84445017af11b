import { write } from '../../api.ts';
import { useRead } from '../../data.ts';
import { messages } from '../../language.ts';
import { tell } from '../../parts/dialogs/toast.tsx';
import { Answer } from '../../parts/display/answer.tsx';
import { Card, Facts, Heading } from '../../parts/display/facts.tsx';
import { Tabs } from '../../parts/display/tabs.tsx';
import { Absent, Text } from '../../parts/display/text.tsx';
import { Form } from '../../parts/forms/form.tsx';
import type { Field } from '../../parts/forms/input.tsx';
import type { Page } from '../../router.ts';
import { may } from '../../session.ts';
import { words } from '../../words.ts';
import { SecurityLevels } from './security-levels.tsx';

const m = messages(
  {
    access: 'Access token lifetime, seconds',
    accessHint: '60 to 86,400. The console renews a session while its refresh token is valid.',
    caWarning: 'Issuing CA expiry warning, days before',
    caWarningHint: 'For the health check. Create and assign a successor in time.',
    expiry: 'Certificate expiry warning, days before',
    expiryHint: 'For the metrics.',
    general: 'General',
    levels: 'Security level',
    refresh: 'Refresh token lifetime, seconds',
    refreshHint: '60 to 2,592,000. After a longer absence users sign in again.',
    retention: 'Log file retention, days',
    retentionHint: 'Leave empty to keep files until rotation deletes them.',
    title: 'Settings',
    warn: 'Webhook expiry messages, days before',
    warnHint: 'Up to eight numbers, such as 30, 7, 1.',
    webhookHosts: 'Allowed webhook hosts',
    webhookHostsHint: 'One per line, *.example.com for its subdomains. Leave empty for all hosts.',
  },
  {
    access: 'Gültigkeit von Zugriffstoken, Sekunden',
    accessHint: '60 bis 86.400. Die Konsole erneuert eine Sitzung, solange ihr Erneuerungstoken gilt.',
    caWarning: 'Warnung vor dem Ablauf ausstellender CAs, Tage vorher',
    caWarningHint: 'Für die Zustandsprüfung. Rechtzeitig eine Nachfolgerin anlegen und zuordnen.',
    expiry: 'Warnung vor dem Ablauf von Zertifikaten, Tage vorher',
    expiryHint: 'Für die Messwerte.',
    general: 'Allgemein',
    levels: 'Sicherheitsstufe',
    refresh: 'Gültigkeit von Erneuerungstoken, Sekunden',
    refreshHint: '60 bis 2.592.000. Nach längerer Abwesenheit melden sich Benutzer neu an.',
    retention: 'Aufbewahrung von Protokolldateien, Tage',
    retentionHint: 'Leer: bis die Rotation sie löscht.',
    title: 'Einstellungen',
    warn: 'Webhook-Meldungen vor dem Ablauf von Zertifikaten, Tage vorher',
    warnHint: 'Bis zu acht Zahlen, etwa 30, 7, 1.',
    webhookHosts: 'Erlaubte Rechner für Webhooks',
    webhookHostsHint: 'Einer je Zeile, *.example.com für Subdomänen. Leer: alle.',
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
                  <Absent />
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
