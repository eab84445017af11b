import { useState } from 'preact/hooks';
import { write } from '../api.ts';
import { useRead } from '../data.ts';
import { meanings, messages, number } from '../language.ts';
import { Answer } from '../parts/answer.tsx';
import { Confirm } from '../parts/dialog.tsx';
import { Badge, Card, Facts, Heading } from '../parts/facts.tsx';
import { type Field, Form } from '../parts/form.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { Text } from '../parts/text.tsx';
import { tell } from '../parts/toast.tsx';
import type { Page } from '../router.ts';
import { may } from '../session.ts';
import { words } from '../words.ts';

const m = messages(
  {
    access: 'Access tokens are good for, seconds',
    accessHint: '60 to 86,400. A session is refreshed by itself for as long as its refresh token is good.',
    banned: 'Signatures that are refused',
    bannedNone: 'none',
    ca: 'Keys of CAs',
    change: 'Change to this level',
    changeAction: 'Change the level',
    changeLead:
      'It counts at once, for every instance. What the listener insists on in TLS counts from its next start.',
    changeTitle: 'Change the security level?',
    cmp: 'Shared secrets over CMP',
    current: 'in force',
    device: 'Keys of devices and servers',
    endless: 'Certificates without an end',
    everywhere: 'allowed',
    expiry: 'Certificates count as ending soon, days before',
    expiryHint: 'For the metrics.',
    general: 'General',
    levels: 'Security level',
    levelsLead: 'What keys, validities and protocols have to come up to, the most lenient level first.',
    never: 'refused',
    no: 'refused',
    obstacles: 'What stands against it',
    obstaclesNext: 'Put these in order, or take them out of use; then the level can be raised.',
    passwords: 'Passwords over EST and REST',
    passwordsEst: 'over EST only',
    passwordsRest: 'over REST only',
    refresh: 'Refresh tokens are good for, seconds',
    refreshHint: '60 to 2,592,000. Whoever is away for longer signs in anew.',
    retention: 'Log files are kept for, days',
    retentionHint: 'Left empty: until rotation drops them.',
    rsa: 'RSA from {n} bits',
    tls: 'TLS',
    tlsFrom: '{version} or newer',
    tlsOnly: 'over HTTPS only',
    title: 'Settings',
    warn: 'Webhooks hear of ending certificates, days before',
    warnHint: 'Up to eight numbers: 30, 7, 1.',
    webhookHosts: 'Hosts that webhooks may name',
    webhookHostsHint: 'One on each line, *.example.com for all below it. Left empty: all hosts.',
    yes: 'allowed',
    years: { one: '{n} year at most', other: '{n} years at most' },
    yearsAny: 'as long as they like',
  },
  {
    access: 'Zugriffstoken gelten, Sekunden',
    accessHint: '60 bis 86.400. Eine Sitzung erneuert sich selbst, solange ihr Erneuerungstoken gilt.',
    banned: 'Abgelehnte Signaturen',
    bannedNone: 'keine',
    ca: 'Schlüssel von Zertifizierungsstellen',
    change: 'Zu dieser Stufe wechseln',
    changeAction: 'Stufe wechseln',
    changeLead:
      'Das gilt sofort und für jede Instanz. Was der Dienst bei TLS verlangt, gilt ab seinem nächsten Start.',
    changeTitle: 'Sicherheitsstufe wechseln?',
    cmp: 'Geteilte Geheimnisse über CMP',
    current: 'in Kraft',
    device: 'Schlüssel von Geräten und Servern',
    endless: 'Zertifikate ohne Ende',
    everywhere: 'erlaubt',
    expiry: 'Zertifikate gelten als bald ablaufend, Tage vorher',
    expiryHint: 'Für die Messwerte.',
    general: 'Allgemein',
    levels: 'Sicherheitsstufe',
    levelsLead: 'Was Schlüssel, Laufzeiten und Protokolle erfüllen müssen; die mildeste Stufe zuerst.',
    never: 'abgelehnt',
    no: 'abgelehnt',
    obstacles: 'Was dagegen steht',
    obstaclesNext:
      'Bringen Sie das in Ordnung, oder nehmen Sie es außer Gebrauch; dann lässt sich die Stufe anheben.',
    passwords: 'Kennwörter über EST und REST',
    passwordsEst: 'nur über EST',
    passwordsRest: 'nur über REST',
    refresh: 'Erneuerungstoken gelten, Sekunden',
    refreshHint: '60 bis 2.592.000. Wer länger fort ist, meldet sich neu an.',
    retention: 'Protokolldateien bleiben, Tage',
    retentionHint: 'Bleibt das leer: bis die Rotation sie verwirft.',
    rsa: 'RSA ab {n} Bit',
    tls: 'TLS',
    tlsFrom: '{version} oder neuer',
    tlsOnly: 'nur über HTTPS',
    title: 'Einstellungen',
    warn: 'Webhooks hören von ablaufenden Zertifikaten, Tage vorher',
    warnHint: 'Bis zu acht Zahlen: 30, 7, 1.',
    webhookHosts: 'Rechner, die Webhooks nennen dürfen',
    webhookHostsHint: 'Einer je Zeile, *.example.com für alle darunter. Bleibt das leer: alle.',
    yes: 'erlaubt',
    years: { one: 'höchstens {n} Jahr', other: 'höchstens {n} Jahre' },
    yearsAny: 'so lange sie wollen',
  },
);

const summary = meanings(
  {
    lab: 'For trying things out: only what is refused everywhere.',
    brownfield: 'For plants with what they have: long-lived certificates, every protocol.',
    industrial: 'For new plants: CA keys that hold for decades, certificates that are renewed.',
    hardened: 'For plants under attack: 128 bits of security throughout, TLS 1.3, no secret outside TLS.',
    critical:
      'For critical infrastructure: CAs of 192 bits of security, devices show certificates and nothing else.',
  },
  {
    lab: 'Zum Ausprobieren: nur, was überall abgelehnt wird.',
    brownfield: 'Für Anlagen mit dem, was sie haben: lange Laufzeiten, jedes Protokoll.',
    industrial: 'Für neue Anlagen: CA-Schlüssel für Jahrzehnte, Zertifikate, die erneuert werden.',
    hardened:
      'Für Anlagen unter Angriff: durchweg 128 Bit Sicherheit, TLS 1.3, kein Geheimnis außerhalb von TLS.',
    critical:
      'Für kritische Infrastruktur: Stellen mit 192 Bit Sicherheit, Geräte zeigen Zertifikate und sonst nichts.',
  },
);

interface Settings {
  readonly access_token_seconds: number;
  readonly refresh_token_seconds: number;
  readonly expiry_warning_days: number;
  readonly log_retention_days: number | null;
  readonly webhook_warn_days: readonly number[];
  readonly webhook_hosts: readonly string[];
}

interface KeyDemands {
  readonly minimum_rsa_bits: number;
  readonly kinds: readonly string[];
  readonly longest_years: number | null;
}

interface Level {
  readonly level: string;
  readonly summary: string;
  readonly is_current: boolean;
  readonly end_entity: KeyDemands;
  readonly ca: KeyDemands;
  readonly endless: boolean;
  readonly banned_signatures: readonly string[];
  readonly est_passwords: boolean;
  readonly rest_passwords: boolean;
  readonly cmp_shared_secrets: 'everywhere' | 'tls' | 'never';
  readonly minimum_tls: string;
  readonly obstacles: readonly {
    readonly collection: 'issuing-cas' | 'cert-profiles';
    readonly id: number;
    readonly unique_name: string;
    readonly detail: string;
  }[];
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
          { name: 'level', title: m('levels'), view: () => <Levels /> },
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

function Levels() {
  const asked = useRead<readonly Level[]>(`${path}security-levels/`);
  const [wanted, setWanted] = useState<string>();
  return (
    <Answer of={asked}>
      {(levels) => (
        <>
          <p class="lead">{m('levelsLead')}</p>
          <div class="cards">
            {levels.map((level) => (
              <OneLevel key={level.level} of={level} choose={() => setWanted(level.level)} />
            ))}
          </div>
          {wanted !== undefined && (
            <Confirm
              title={m('changeTitle')}
              action={m('changeAction')}
              close={() => setWanted(undefined)}
              run={async () => {
                await write('PATCH', path, { security_level: wanted });
                tell(words('saved'));
                setWanted(undefined);
                asked.reload();
              }}
            >
              <p>
                <strong>{wanted}</strong>: {summary(wanted)}
              </p>
              <p>{m('changeLead')}</p>
            </Confirm>
          )}
        </>
      )}
    </Answer>
  );
}

const demands = ({ minimum_rsa_bits: bits, kinds, longest_years: years }: KeyDemands) => (
  <>
    {[m('rsa', { n: String(bits) }), ...kinds].join(', ')}
    <p class="meaning">{years === null ? m('yearsAny') : m('years', { n: years })}</p>
  </>
);

function passwords({ est_passwords: est, rest_passwords: rest }: Level): string {
  if (est === rest) return m(est ? 'yes' : 'no');
  return m(est ? 'passwordsEst' : 'passwordsRest');
}

function OneLevel({ of, choose }: { readonly of: Level; readonly choose: () => void }) {
  const { level, obstacles, is_current: isCurrent } = of;
  return (
    <Card title={level} actions={isCurrent && <Badge look="good">{m('current')}</Badge>}>
      <p>{summary(level) ?? <Text of={of.summary} />}</p>
      <Facts
        rows={[
          [m('device'), demands(of.end_entity)],
          [m('ca'), demands(of.ca)],
          [m('endless'), m(of.endless ? 'yes' : 'no')],
          [
            m('banned'),
            of.banned_signatures.length === 0 ? m('bannedNone') : of.banned_signatures.join(', '),
          ],
          [m('passwords'), passwords(of)],
          [m('cmp'), m(of.cmp_shared_secrets === 'tls' ? 'tlsOnly' : of.cmp_shared_secrets)],
          [m('tls'), m('tlsFrom', { version: of.minimum_tls })],
        ]}
      />
      {obstacles.length > 0 && (
        <div class="notice warn">
          <h3>
            {m('obstacles')} ({number(obstacles.length)})
          </h3>
          <ul>
            {obstacles.map(({ collection, id, unique_name: name, detail }) => (
              <li key={`${collection} ${id}`}>
                <a href={`/${collection === 'issuing-cas' ? 'cas' : 'profiles'}/${id}`}>
                  <Text of={name} />
                </a>
                : <Text of={detail} />
              </li>
            ))}
          </ul>
          {!isCurrent && <p>{m('obstaclesNext')}</p>}
        </div>
      )}
      {!isCurrent && obstacles.length === 0 && may('settings.write') && (
        <button type="button" onClick={choose} aria-label={`${m('change')}: ${level}`}>
          {m('change')}
        </button>
      )}
    </Card>
  );
}
