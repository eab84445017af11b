import { meanings, messages } from '../../language.ts';
import { Badge, Facts } from '../display/facts.tsx';
import { CaOf, DomainOf } from '../display/reference.tsx';
import { Code, Text } from '../display/text.tsx';
import { When } from '../display/when.tsx';

const m = messages(
  {
    because: 'Reason',
    certificate: 'The certificate',
    field: 'Field',
    issued: 'A certificate would be issued',
    issuer: 'Issuer',
    key: 'Key',
    leftOut: 'left out',
    names: 'Alternative names',
    noCertificate: 'No certificate would be issued.',
    notIssued: 'No certificate would be issued',
    objections: 'Objections',
    reasons: 'Reasons',
    requested: 'Requested',
    signature: 'Signed with',
    subject: 'Subject',
    value: 'Certificate',
    validity: 'Good',
  },
  {
    because: 'Grund',
    certificate: 'Zertifikat',
    field: 'Feld',
    issued: 'Ein Zertifikat würde ausgestellt',
    issuer: 'Aussteller',
    key: 'Schlüssel',
    leftOut: 'weggelassen',
    names: 'Alternative Namen',
    noCertificate: 'Es würde kein Zertifikat ausgestellt.',
    notIssued: 'Es würde kein Zertifikat ausgestellt',
    objections: 'Einwände',
    reasons: 'Gründe',
    requested: 'Beantragt',
    signature: 'Signiert mit',
    subject: 'Inhaber',
    value: 'Zertifikat',
    validity: 'Gültig',
  },
);

/** What an objection is about: a label before the sentence, and no part of it. */
const objector = meanings(
  {
    rules: 'Rules',
    domain: 'Domain',
    issuingCa: 'CA',
    request: 'Request',
    profile: 'Profile',
    names: 'Names of this service',
    lint: 'RFC 5280',
    securityLevel: 'Security level',
  },
  {
    rules: 'Regeln',
    domain: 'Domäne',
    issuingCa: 'Zertifizierungsstelle',
    request: 'Antrag',
    profile: 'Profil',
    names: 'Namen dieses Dienstes',
    lint: 'RFC 5280',
    securityLevel: 'Sicherheitsstufe',
  },
);

interface Extension {
  readonly oid: string;
  readonly name: string;
  readonly critical: boolean;
  readonly value: string;
}

/** What rules make of a request. */
export interface Preview {
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

export const previewTitle = (of: Preview): string => m(of.would_be_issued ? 'issued' : 'notIssued');

export const PreviewOutcome = ({
  of,
  jump,
}: {
  readonly of: Preview;
  readonly jump: ((pointer: string) => void) | undefined;
}) => (
  <>
    <Verdict of={of} jump={jump} />
    {of.explanations.length > 0 && <Reasons of={of.explanations} />}
    <Contents of={of} />
  </>
);

const Verdict = ({
  of,
  jump,
}: {
  readonly of: Preview;
  readonly jump: ((pointer: string) => void) | undefined;
}) => (
  <div class={of.would_be_issued ? 'notice good' : 'notice bad'} role="status">
    <p>
      <strong>{previewTitle(of)}</strong>
    </p>
    {of.objections.length > 0 && (
      <ul class="plain-list" aria-label={m('objections')}>
        {of.objections.map(({ by, where, detail }) => (
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
);

const Reasons = ({ of }: { readonly of: Preview['explanations'] }) => (
  <section>
    <h3>{m('reasons')}</h3>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
    <section class="scroll" tabIndex={0} aria-label={m('reasons')}>
      <table class="list wraps">
        <thead>
          <tr>
            <th scope="col">{m('field')}</th>
            <th scope="col">{m('value')}</th>
            <th scope="col">{m('because')}</th>
          </tr>
        </thead>
        <tbody>
          {of.map(({ field, value, because }) => (
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
);

/** What was requested, and what it would become. */
const Contents = ({ of: { domain, issuing_ca, request, certificate } }: { readonly of: Preview }) => (
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
);

const extensionRow = ({ oid, name, critical, value }: Extension) =>
  [
    name,
    <>
      <Text key={oid} of={value} />
      {critical && <span class="quiet"> (critical)</span>}
    </>,
  ] as const;
