import { useEffect, useId, useState } from 'preact/hooks';
import { ApiError, write } from '../api.ts';
import { useAsked, useList } from '../data.ts';
import { meanings, messages } from '../language.ts';
import type { Device } from '../records.ts';
import { may } from '../session.ts';
import { Problem, Waiting } from './answer.tsx';
import { Badge, Card, Facts } from './facts.tsx';
import { CaOf, DomainOf, useChoices } from './reference.tsx';
import type { Rules } from './rules.ts';
import { Code, Text } from './text.tsx';
import { When } from './when.tsx';

const m = messages(
  {
    because: 'Because',
    certificate: 'The certificate',
    csr: 'Certificate request (CSR)',
    csrHint: 'PEM or base64. Nothing is issued and nothing is stored.',
    device: 'For the device',
    deviceHint: 'Its name. If empty: for whatever the request names.',
    domain: 'In the domain',
    domainUsual: 'That of the device, or the default one',
    field: 'Field',
    issued: 'A certificate would be issued',
    issuer: 'Issuer',
    key: 'Key',
    leftOut: 'left out',
    names: 'Alternative names',
    noCertificate: 'No certificate comes out.',
    noSuchDevice: 'No device is called so.',
    notIssued: 'No certificate would be issued',
    objections: 'Objections',
    paste: 'Paste a request to see what these rules make of it, and why.',
    reasons: 'Why it came out so',
    requested: 'What is requested',
    signature: 'Signed with',
    subject: 'Subject',
    title: 'Preview',
    value: 'Comes out as',
    validity: 'Good',
  },
  {
    because: 'Weil',
    certificate: 'Das Zertifikat',
    csr: 'Zertifikatsantrag (CSR)',
    csrHint: 'PEM oder base64. Es wird nichts ausgestellt und nichts gespeichert.',
    device: 'Für das Gerät',
    deviceHint: 'Sein Name. Wenn leer: für den, den der Antrag nennt.',
    domain: 'In der Domäne',
    domainUsual: 'Die des Geräts, oder die Standarddomäne',
    field: 'Feld',
    issued: 'Ein Zertifikat würde ausgestellt',
    issuer: 'Aussteller',
    key: 'Schlüssel',
    leftOut: 'weggelassen',
    names: 'Alternative Namen',
    noCertificate: 'Es kommt kein Zertifikat heraus.',
    noSuchDevice: 'Kein Gerät heißt so.',
    notIssued: 'Es würde kein Zertifikat ausgestellt',
    objections: 'Einwände',
    paste: 'Fügen Sie einen Antrag ein, um zu sehen, was diese Regeln daraus machen, und warum.',
    reasons: 'Warum es so herauskommt',
    requested: 'Was erbeten wird',
    signature: 'Signiert mit',
    subject: 'Inhaber',
    title: 'Vorschau',
    value: 'Kommt heraus als',
    validity: 'Gültig',
  },
);

/** Who objects. */
const objector = meanings(
  {
    rules: 'The rules themselves',
    domain: 'The domain',
    issuingCa: 'The CA',
    request: 'The request',
    profile: 'The profile',
    names: 'Names of this service',
    lint: 'RFC 5280',
    securityLevel: 'The security level',
  },
  {
    rules: 'Die Regeln selbst',
    domain: 'Die Domäne',
    issuingCa: 'Die Zertifizierungsstelle',
    request: 'Der Antrag',
    profile: 'Das Profil',
    names: 'Namen dieses Dienstes',
    lint: 'RFC 5280',
    securityLevel: 'Die Sicherheitsstufe',
  },
);

interface Extension {
  readonly oid: string;
  readonly name: string;
  readonly critical: boolean;
  readonly value: string;
}

interface Preview {
  readonly would_be_issued: boolean;
  readonly domain: { readonly id: number };
  readonly issuing_ca: { readonly id: number } | null;
  readonly request: {
    readonly subject: string;
    readonly subject_alternative_names: readonly string[];
    readonly key_type: string;
    readonly extensions: readonly Extension[];
  } | null;
  readonly certificate: {
    readonly subject: string;
    readonly subject_alternative_names: readonly string[];
    readonly issuer: string;
    readonly not_valid_before: string;
    readonly not_valid_after: string;
    readonly key_type: string;
    readonly signature_algorithm: string;
    readonly extensions: readonly Extension[];
  } | null;
  readonly explanations: readonly {
    readonly field: string;
    readonly value: string;
    readonly because: string;
  }[];
  readonly objections: readonly {
    readonly by: string;
    readonly where: string | null;
    readonly detail: string;
  }[];
}

const pause = 400;

/** The value once it has not changed for a moment. */
function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(() => value), pause);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/** What rules would make of a request that is pasted in, anew with each change of either. */
export function ProfilePreview({
  id,
  rules,
  jump,
}: {
  /** Of the stored profile; a new one has none. */
  readonly id: number | undefined;
  /** In place of those that are stored. */
  readonly rules: Rules;
  /** Shows the place in the rules that a JSON pointer names. */
  readonly jump?: (pointer: string) => void;
}) {
  const [csr, setCsr] = useState('');
  const [name, setName] = useState('');
  const [domain, setDomain] = useState('');
  const domains = useChoices('/api/domains/', 'domains.read');
  const field = useId();
  const word = useSettled(name.trim());
  const devices = useList<Device>(
    word === '' ? undefined : `/api/devices/?limit=8&search=${encodeURIComponent(word)}`,
  );
  const device = devices.data?.records.find(({ common_name }) => common_name === word)?.id;
  const body = useSettled(
    JSON.stringify({
      csr: csr.trim(),
      profile: rules,
      ...(device !== undefined && { device }),
      ...(domain !== '' && { domain: Number(domain) }),
    }),
  );
  const isAsked = csr.trim() !== '';
  const asked = useAsked<Preview>(isAsked ? `${id} ${body}` : undefined, (signal) =>
    write('POST', `/api/cert-profiles/${id === undefined ? '' : `${id}/`}preview/`, JSON.parse(body), {
      signal,
    }),
  );
  // What was there before stays until what comes next is there.
  const [last, setLast] = useState<Preview>();
  useEffect(() => {
    if (asked.data) setLast(asked.data);
  }, [asked.data]);
  const told = asked.error instanceof ApiError ? asked.error.fields.csr : undefined;
  const shown = asked.error === undefined && isAsked ? (asked.data ?? last) : undefined;
  return (
    <Card
      title={m('title')}
      wide
      actions={
        shown && (
          <Badge look={shown.would_be_issued ? 'good' : 'bad'}>
            {m(shown.would_be_issued ? 'issued' : 'notIssued')}
          </Badge>
        )
      }
    >
      <div class="beside">
        <div class="field">
          <label for={`${field}-c`}>{m('csr')}</label>
          <textarea
            id={`${field}-c`}
            name="csr"
            class="code"
            rows={6}
            spellcheck={false}
            value={csr}
            aria-invalid={told !== undefined}
            aria-describedby={`${field}-h`}
            onInput={({ currentTarget }) => setCsr(currentTarget.value)}
          />
          <p class={told ? 'complaint' : 'hint'} id={`${field}-h`}>
            {told ? <Text of={told.join(' ')} /> : m('csrHint')}
          </p>
        </div>
        <div>
          {may('devices.read') && (
            <div class="field">
              <label for={`${field}-d`}>{m('device')}</label>
              <input
                id={`${field}-d`}
                list={`${field}-l`}
                value={name}
                maxLength={100}
                onInput={({ currentTarget }) => setName(currentTarget.value)}
              />
              <datalist id={`${field}-l`}>
                {(devices.data?.records ?? []).map(({ id: one, common_name }) => (
                  <option key={one} value={common_name} />
                ))}
              </datalist>
              <p class="hint">
                {word !== '' && devices.data && device === undefined ? m('noSuchDevice') : m('deviceHint')}
              </p>
            </div>
          )}
          {may('domains.read') && (
            <div class="field">
              <label for={`${field}-o`}>{m('domain')}</label>
              <select
                id={`${field}-o`}
                value={domain}
                onChange={({ currentTarget }) => setDomain(currentTarget.value)}
              >
                <option value="">{m('domainUsual')}</option>
                {domains.map(([one, title]) => (
                  <option key={one} value={String(one)}>
                    {title}
                  </option>
                ))}
              </select>
            </div>
          )}
        </div>
      </div>
      {!isAsked && <p class="quiet">{m('paste')}</p>}
      {asked.error !== undefined && told === undefined && (
        <Problem error={asked.error} retry={asked.reload} />
      )}
      {isAsked && shown === undefined && asked.error === undefined && <Waiting retry={asked.reload} />}
      {shown && <Outcome of={shown} jump={jump} />}
    </Card>
  );
}

function Outcome({
  of: { would_be_issued, domain, issuing_ca, request, certificate, explanations, objections },
  jump,
}: {
  readonly of: Preview;
  readonly jump: ((pointer: string) => void) | undefined;
}) {
  return (
    <>
      <div class={would_be_issued ? 'notice good' : 'notice bad'} role="status">
        <p>
          <strong>{m(would_be_issued ? 'issued' : 'notIssued')}</strong>
        </p>
        {objections.length > 0 && (
          <ul class="plain-list" aria-label={m('objections')}>
            {objections.map(({ by, where, detail }) => (
              <li key={`${by} ${where} ${detail}`}>
                <span>
                  <Badge look="bad">{objector(by) ?? by}</Badge> <Text of={detail} />
                </span>
                {where !== null &&
                  (by === 'rules' && jump ? (
                    <button type="button" class="link" onClick={() => jump(where)}>
                      <Code of={where === '' ? '/' : where} />
                    </button>
                  ) : (
                    <Code of={where} />
                  ))}
              </li>
            ))}
          </ul>
        )}
      </div>
      {explanations.length > 0 && (
        <section>
          <h3>{m('reasons')}</h3>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
          <section class="scroll" tabIndex={0} aria-label={m('reasons')}>
            <table class="list">
              <thead>
                <tr>
                  <th scope="col">{m('field')}</th>
                  <th scope="col">{m('value')}</th>
                  <th scope="col">{m('because')}</th>
                </tr>
              </thead>
              <tbody>
                {explanations.map(({ field, value, because }) => (
                  <tr key={`${field} ${value} ${because}`}>
                    <td data-title={m('field')}>
                      <Code of={field} />
                    </td>
                    <td data-title={m('value')}>
                      {value === '' ? <span class="quiet">{m('leftOut')}</span> : <Text of={value} />}
                    </td>
                    <td data-title={m('because')}>
                      <Text of={because} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        </section>
      )}
      <div class="cards">
        {request && (
          <section>
            <h3>{m('requested')}</h3>
            <Facts
              rows={[
                [m('subject'), <Text key="s" of={request.subject} />],
                [m('names'), <Text key="n" of={request.subject_alternative_names.join(', ')} />],
                [m('key'), request.key_type],
                ...request.extensions.map(extensionRow),
              ]}
            />
          </section>
        )}
        <section>
          <h3>{m('certificate')}</h3>
          {certificate ? (
            <Facts
              rows={[
                [m('subject'), <Text key="s" of={certificate.subject} />],
                [m('names'), <Text key="n" of={certificate.subject_alternative_names.join(', ')} />],
                [m('issuer'), <Text key="i" of={certificate.issuer} />],
                [
                  m('validity'),
                  <>
                    <When at={certificate.not_valid_before} /> – <When at={certificate.not_valid_after} />
                  </>,
                ],
                [m('signature'), certificate.signature_algorithm],
                ...certificate.extensions.map(extensionRow),
              ]}
            />
          ) : (
            <p class="quiet">{m('noCertificate')}</p>
          )}
          <p class="meaning">
            <DomainOf id={domain.id} /> · <CaOf id={issuing_ca?.id ?? null} />
          </p>
        </section>
      </div>
    </>
  );
}

const extensionRow = ({ oid, name, critical, value }: Extension) =>
  [
    name,
    <>
      <Text key={oid} of={value} />
      {critical && <span class="quiet"> (critical)</span>}
    </>,
  ] as const;
