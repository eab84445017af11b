import { ApiError, read } from '../../api.ts';
import { type Asked, useAsked } from '../../data.ts';
import { messages } from '../../language.ts';
import { Answer } from '../../parts/display/answer.tsx';
import { Badge, Card } from '../../parts/display/facts.tsx';
import { Text } from '../../parts/display/text.tsx';
import { may } from '../../session.ts';

const m = messages(
  {
    configuration: 'Configuration records',
    configurationProblem: 'A record cannot be loaded and is ignored',
    health: 'Health',
    issuer: 'Upstream CA {name}',
    issuerProblem: 'An upstream CA cannot be reached',
    issuing: 'Issuing CAs',
    issuingProblem: 'An issuing CA expires soon',
    keyFiles: 'Key files',
    keysProblem: 'A key store cannot be used',
    keyStore: 'Key store {name}',
    notOk: 'Problem',
    ok: 'OK',
    otherProblem: '{name} has a problem',
    store: 'Database',
    storeProblem: 'The database cannot store anything',
  },
  {
    configuration: 'Konfigurationsdatensätze',
    configurationProblem: 'Ein Datensatz lässt sich nicht laden und wird ignoriert',
    health: 'Betriebszustand',
    issuer: 'Upstream-CA {name}',
    issuerProblem: 'Eine Upstream-CA ist nicht erreichbar',
    issuing: 'Ausstellende CAs',
    issuingProblem: 'Eine ausstellende CA läuft bald ab',
    keyFiles: 'Schlüsseldateien',
    keysProblem: 'Ein Schlüsselspeicher ist nicht nutzbar',
    keyStore: 'Schlüsselspeicher {name}',
    notOk: 'Störung',
    ok: 'OK',
    otherProblem: 'Störung: {name}',
    store: 'Datenbank',
    storeProblem: 'Die Datenbank kann nichts speichern',
  },
);

interface Check {
  readonly ok: boolean;
  readonly detail?: string;
}

export interface Health {
  readonly status: 'ok' | 'unavailable';
  readonly checks: Readonly<Record<string, Check>>;
}

/** What a check of the API is called: `keys.keyfile` → "Key files". */
function checkTitle(check: string): string {
  if (check === 'store' || check === 'configuration' || check === 'issuing') return m(check);
  if (check === 'keys.keyfile') return m('keyFiles');
  const [, group, name = ''] = /^(keys|issuers)\.(.+)$/.exec(check) ?? [];
  if (group === 'keys') return m('keyStore', { name });
  return group === 'issuers' ? m('issuer', { name }) : check;
}

/** The page that shows more of a check, if the role may see it. */
function checkPage(check: string): string | undefined {
  if (check.startsWith('issuers.')) return may('certificates.read') ? '/upstreams' : undefined;
  return check === 'issuing' && may('cas.read') ? '/cas' : undefined;
}

const CheckTitle = ({ of }: { readonly of: string }) => {
  const page = checkPage(of);
  const title = <Text of={checkTitle(of)} />;
  return page === undefined ? title : <a href={page}>{title}</a>;
};

function problemTitle(check: string): string {
  if (check === 'store') return m('storeProblem');
  if (check === 'configuration') return m('configurationProblem');
  if (check === 'issuing') return m('issuingProblem');
  if (check.startsWith('keys.')) return m('keysProblem');
  return check.startsWith('issuers.') ? m('issuerProblem') : m('otherProblem', { name: check });
}

/** A gateway that is not ready answers 503, and says why in the same form. */
async function readHealth(abort: AbortSignal): Promise<Health> {
  try {
    return await read<Health>('/api/health/', abort);
  } catch (error) {
    if (error instanceof ApiError && error.status === 503 && error.body !== undefined)
      return error.body as Health;
    throw error;
  }
}

export const useHealth = (): Asked<Health> => useAsked('health', readHealth);

export const problemsOf = ({ checks }: Health): readonly (readonly [name: string, check: Check])[] =>
  Object.entries(checks).filter(([, { ok }]) => !ok);

/** What is wrong, at the top of the page: red where devices get no certificates for it, else a warning. */
export const HealthNotices = ({ of }: { readonly of: Health }) => (
  <>
    {problemsOf(of).map(([name, { detail }]) => (
      <div
        key={name}
        class={`notice ${name === 'store' || name.startsWith('keys.') ? 'bad' : 'warn'}`}
        role="alert"
      >
        <p>
          <strong>{problemTitle(name)}</strong> <CheckTitle of={name} />
        </p>
        {detail !== undefined && (
          <p>
            <Text of={detail} upTo={600} />
          </p>
        )}
      </div>
    ))}
  </>
);

/** Every part that is checked. */
export const HealthCard = ({ asked }: { readonly asked: Asked<Health> }) => (
  <Card title={m('health')} id="health">
    <Answer of={asked}>
      {({ checks }) => (
        <ul class="plain-list">
          {Object.entries(checks).map(([name, { ok }]) => (
            <li key={name}>
              <CheckTitle of={name} />
              <Badge look={ok ? 'good' : 'bad'}>{m(ok ? 'ok' : 'notOk')}</Badge>
            </li>
          ))}
        </ul>
      )}
    </Answer>
  </Card>
);
