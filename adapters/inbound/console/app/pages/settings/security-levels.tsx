import { write } from '../../api.ts';
import { useRead } from '../../data.ts';
import { meanings, messages, number } from '../../language.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { useDialog } from '../../parts/dialogs/dialog.tsx';
import { Answer } from '../../parts/display/answer.tsx';
import { Badge, Card, Facts } from '../../parts/display/facts.tsx';
import { Text } from '../../parts/display/text.tsx';
import { may } from '../../session.ts';
import { words } from '../../words.ts';

const m = messages(
  {
    banned: 'Rejected signatures',
    bannedNone: 'none',
    ca: 'Keys of CAs',
    change: 'Change to this level',
    changeAction: 'Change the level',
    changeLead: 'The level applies at once to every instance. TLS requirements apply from the next start.',
    changeTitle: 'Change the security level?',
    cmp: 'Shared secrets over CMP',
    current: 'current',
    device: 'Keys of devices and servers',
    endless: 'Certificates without expiry',
    everywhere: 'allowed',
    levelsLead: 'Requirements for keys, validity periods and protocols, the most lenient level first.',
    never: 'refused',
    no: 'refused',
    obstacles: 'Obstacles',
    obstaclesNext: 'Change or deactivate these; then you can raise the level.',
    passwords: 'Passwords over EST and REST',
    passwordsEst: 'over EST only',
    passwordsRest: 'over REST only',
    rsa: 'RSA with at least {n} bits',
    tls: 'TLS',
    tlsFrom: '{version} or newer',
    tlsOnly: 'over HTTPS only',
    yes: 'allowed',
    years: { one: '{n} year at most', other: '{n} years at most' },
    yearsAny: 'no limit',
  },
  {
    banned: 'Abgelehnte Signaturen',
    bannedNone: 'keine',
    ca: 'Schlüssel von Zertifizierungsstellen',
    change: 'Zu dieser Stufe wechseln',
    changeAction: 'Stufe wechseln',
    changeLead:
      'Die Stufe gilt sofort für jede Instanz. Die Anforderungen an TLS gelten ab dem nächsten Start.',
    changeTitle: 'Sicherheitsstufe wechseln?',
    cmp: 'Gemeinsame Geheimnisse über CMP',
    current: 'aktuell',
    device: 'Schlüssel von Geräten und Servern',
    endless: 'Zertifikate ohne Ablauf',
    everywhere: 'erlaubt',
    levelsLead: 'Anforderungen an Schlüssel, Laufzeiten und Protokolle, die mildeste Stufe zuerst.',
    never: 'abgelehnt',
    no: 'abgelehnt',
    obstacles: 'Hindernisse',
    obstaclesNext: 'Ändern oder deaktivieren Sie diese; dann lässt sich die Stufe anheben.',
    passwords: 'Kennwörter über EST und REST',
    passwordsEst: 'nur über EST',
    passwordsRest: 'nur über REST',
    rsa: 'RSA mit mindestens {n} Bit',
    tls: 'TLS',
    tlsFrom: '{version} oder neuer',
    tlsOnly: 'nur über HTTPS',
    yes: 'erlaubt',
    years: { one: 'höchstens {n} Jahr', other: 'höchstens {n} Jahre' },
    yearsAny: 'unbegrenzt',
  },
);

const summary = meanings(
  {
    lab: 'For tests: rejects only algorithms that every level rejects.',
    brownfield: 'For existing plants: long validity periods, every protocol.',
    industrial: 'For new plants: CA keys that stay secure for decades, certificates that devices renew.',
    hardened: 'For plants under attack: at least 128-bit security, TLS 1.3, secrets only inside TLS.',
    critical:
      'For critical infrastructure: CAs with 192-bit security, devices authenticate only with certificates.',
  },
  {
    lab: 'Für Tests: Nur Verfahren, die jede Stufe ablehnt, sind verboten.',
    brownfield: 'Für bestehende Anlagen: lange Laufzeiten, jedes Protokoll.',
    industrial:
      'Für neue Anlagen: CA-Schlüssel, die Jahrzehnte sicher sind; Zertifikate, die Geräte erneuern.',
    hardened:
      'Für angegriffene Anlagen: mindestens 128 Bit Sicherheit, TLS 1.3, Geheimnisse nur innerhalb von TLS.',
    critical:
      'Für kritische Infrastruktur: CAs mit 192 Bit Sicherheit, Geräte authentifizieren sich nur mit Zertifikaten.',
  },
);

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

/** The security levels, with what stands against each, and the way to another one. */
export function SecurityLevels() {
  const asked = useRead<readonly Level[]>(`${path}security-levels/`);
  const { dialog, open } = useDialog();
  const change = (level: string): void =>
    open((close) => (
      <Confirm
        title={m('changeTitle')}
        about={
          <>
            <strong>{level}</strong>: {summary(level)}
          </>
        }
        lead={m('changeLead')}
        action={m('changeAction')}
        run={() => write('PATCH', path, { security_level: level }).then(asked.reload)}
        done={words('saved')}
        close={close}
      />
    ));
  return (
    <Answer of={asked}>
      {(levels) => (
        <>
          <p class="lead">{m('levelsLead')}</p>
          <div class="cards">
            {levels.map((level) => (
              <OneLevel key={level.level} of={level} choose={() => change(level.level)} />
            ))}
          </div>
          {dialog}
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
