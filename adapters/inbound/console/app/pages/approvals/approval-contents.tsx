import type { ComponentChildren } from 'preact';
import { messages } from '../../language.ts';
import { Extension } from '../../parts/certificates/extension.tsx';
import { extensionMeaning } from '../../parts/certificates/extension-words.ts';
import { named, nameOf } from '../../parts/certificates/oid-names.ts';
import { Card, Facts } from '../../parts/display/facts.tsx';
import { Code, Text } from '../../parts/display/text.tsx';
import { When } from '../../parts/display/when.tsx';
import type { Said } from '../../records.ts';
import { m as a } from './approval-list.tsx';

const m = messages(
  {
    because: 'Reason',
    differences: 'Differences between request and certificate',
    differencesLead: 'The profile adds, changes or removes these values.',
    differencesNone: 'The certificate will have exactly the requested contents.',
    extensionsNone: 'No extensions',
    field: 'Field',
    fingerprint: 'SHA-256 of the key',
    full: 'Certificate to be issued',
    issuer: 'Issuer',
    key: 'Key',
    keyNone: 'Postern generates the key once the request is approved.',
    names: 'Alternative names',
    notAfter: 'Valid until',
    notBefore: 'Valid from',
    nothing: 'nothing',
    outcome: 'Certificate',
    requested: 'Requested',
    requestedFull: 'Requested certificate',
  },
  {
    because: 'Grund',
    differences: 'Unterschiede zwischen Antrag und Zertifikat',
    differencesLead: 'Das Profil ergänzt, ändert oder entfernt diese Werte.',
    differencesNone: 'Das Zertifikat erhält genau den beantragten Inhalt.',
    extensionsNone: 'Keine Erweiterungen',
    field: 'Feld',
    fingerprint: 'SHA-256 des Schlüssels',
    full: 'Auszustellendes Zertifikat',
    issuer: 'Aussteller',
    key: 'Schlüssel',
    keyNone: 'Postern erzeugt den Schlüssel nach der Genehmigung.',
    names: 'Alternative Namen',
    notAfter: 'Gültig bis',
    notBefore: 'Gültig ab',
    nothing: 'nichts',
    outcome: 'Zertifikat',
    requested: 'Beantragt',
    requestedFull: 'Beantragtes Zertifikat',
  },
);

interface Portrait {
  readonly subject: string;
  readonly subject_alternative_names: readonly string[];
  readonly key_type: string;
  readonly key_fingerprint: string | null;
  readonly extensions: readonly {
    readonly oid: string;
    readonly critical: boolean;
    readonly value: string;
    readonly values: readonly Said[];
  }[];
}

/** What was asked for, what would be issued, and why it differs. */
export interface Content {
  readonly requested: Portrait;
  readonly outcome: Portrait & {
    readonly issuer: string;
    readonly not_before: string;
    readonly not_after: string;
  };
  readonly differences: readonly {
    readonly field: string;
    readonly requested: readonly string[];
    readonly outcome: readonly string[];
  }[];
  readonly explanations: readonly {
    readonly field: string;
    readonly value: string;
    readonly because: string;
  }[];
}

/** `extensions.2.5.29.15` → `keyUsage`. */
const fieldName = (field: string): string => named(field.replace(/^extensions\./, ''));

export function Differences({ of: { differences, explanations } }: { readonly of: Content }) {
  const reasons = (field: string): readonly string[] =>
    explanations.filter((one) => fieldName(one.field) === fieldName(field)).map(({ because }) => because);
  const values = (of: readonly string[], look: 'asked' | 'given'): ComponentChildren =>
    of.length === 0 ? (
      <span class="quiet">{m('nothing')}</span>
    ) : (
      <ul class={look}>
        {of.map((value) => (
          <li key={value}>
            <Text of={named(value)} />
          </li>
        ))}
      </ul>
    );
  return (
    <Card title={m('differences')} wide>
      {differences.length === 0 ? (
        <p>{m('differencesNone')}</p>
      ) : (
        <>
          <p class="meaning">{m('differencesLead')}</p>
          <table class="list wraps">
            <thead>
              <tr>
                <th scope="col">{m('field')}</th>
                <th scope="col">{m('requested')}</th>
                <th scope="col">{m('outcome')}</th>
                <th scope="col">{m('because')}</th>
              </tr>
            </thead>
            <tbody>
              {differences.map(({ field, requested, outcome }) => (
                <tr key={field}>
                  <td data-title={m('field')}>
                    <Code of={fieldName(field)} />
                  </td>
                  <td data-title={m('requested')}>{values(requested, 'asked')}</td>
                  <td data-title={m('outcome')}>{values(outcome, 'given')}</td>
                  <td data-title={m('because')}>
                    <Text of={reasons(field).join('; ')} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </Card>
  );
}

const portraitRows = (of: Portrait) =>
  [
    [a('subject'), <Text key="s" of={of.subject} />],
    [
      m('names'),
      of.subject_alternative_names.length === 0 ? null : (
        <ul key="n">
          {of.subject_alternative_names.map((name) => (
            <li key={name}>
              <Text of={name} />
            </li>
          ))}
        </ul>
      ),
    ],
    [m('key'), <Code key="k" of={of.key_type} />],
    [m('fingerprint'), of.key_fingerprint === null ? m('keyNone') : <Code key="f" of={of.key_fingerprint} />],
  ] as const;

const extensionRows = (of: Portrait) =>
  of.extensions.map(({ oid, critical, value, values }) => {
    const name = nameOf(oid);
    return [
      <Text key="n" of={name ?? oid} />,
      <Extension key="v" of={{ critical, values, value }} />,
      extensionMeaning(name ?? null, critical),
    ] as const;
  });

/** Both in full. */
export function Portraits({ of: { requested, outcome } }: { readonly of: Content }) {
  return (
    <>
      <Card title={m('requestedFull')}>
        <Facts rows={portraitRows(requested)} />
        <Extensions of={requested} />
      </Card>
      <Card title={m('full')}>
        <Facts
          rows={[
            ...portraitRows(outcome),
            [m('issuer'), <Text key="i" of={outcome.issuer} />],
            [m('notBefore'), <When key="b" at={outcome.not_before} />],
            [m('notAfter'), <When key="a" at={outcome.not_after} relative />],
          ]}
        />
        <Extensions of={outcome} />
      </Card>
    </>
  );
}

const Extensions = ({ of }: { readonly of: Portrait }) =>
  of.extensions.length === 0 ? (
    <p class="quiet">{m('extensionsNone')}</p>
  ) : (
    <dl class="facts">
      {extensionRows(of).map(([name, value, meaning], n) => (
        <div key={of.extensions[n]?.oid}>
          <dt>{name}</dt>
          <dd>
            {value}
            <p class="meaning">{meaning}</p>
          </dd>
        </div>
      ))}
    </dl>
  );
