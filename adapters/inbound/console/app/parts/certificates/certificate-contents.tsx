import { useRead } from '../../data.ts';
import { messages } from '../../language.ts';
import type { CertificateView } from '../../records.ts';
import { Copy } from '../dialogs/action.tsx';
import { Answer } from '../display/answer.tsx';
import { Download } from '../display/download.tsx';
import { Card, Facts } from '../display/facts.tsx';
import { Code, Text } from '../display/text.tsx';
import { When } from '../display/when.tsx';
import { type Branch, Tree } from '../forms/tree.tsx';
import { Extension } from './extension.tsx';
import { extensionMeaning } from './extension-words.ts';

const m = messages(
  {
    chain: 'Chain of trust',
    chainFile: 'Chain',
    contents: 'Contents',
    download: 'Download',
    extensions: 'Extensions',
    from: 'Valid from',
    issuer: 'Issuer',
    key: 'Public key',
    keyMeaning: 'The holder proves possession of the matching private key.',
    noExtensions: 'No extensions',
    notKnown: 'unknown',
    serialNumber: 'Serial number',
    sha1: 'Fingerprint (SHA-1)',
    sha256: 'Fingerprint (SHA-256)',
    sha256Meaning: 'Identifies this certificate: compare it over another channel before you trust it.',
    signature: 'Signature algorithm',
    subject: 'Subject',
    until: 'Valid until',
    version: 'Version',
  },
  {
    chain: 'Vertrauenskette',
    chainFile: 'Kette',
    contents: 'Inhalt',
    download: 'Herunterladen',
    extensions: 'Erweiterungen',
    from: 'Gültig ab',
    issuer: 'Aussteller',
    key: 'Öffentlicher Schlüssel',
    keyMeaning: 'Der Inhaber weist den Besitz des passenden privaten Schlüssels nach.',
    noExtensions: 'Keine Erweiterungen',
    notKnown: 'unbekannt',
    serialNumber: 'Seriennummer',
    sha1: 'Fingerabdruck (SHA-1)',
    sha256: 'Fingerabdruck (SHA-256)',
    sha256Meaning:
      'Identifiziert dieses Zertifikat: Vergleichen Sie den Fingerabdruck auf einem anderen Weg, bevor Sie dem Zertifikat vertrauen.',
    signature: 'Signaturverfahren',
    subject: 'Inhaber',
    until: 'Gültig bis',
    version: 'Version',
  },
);

/** The contents of a certificate, its chain, and downloads. `path`: `/api/certificates/7`. */
export function CertificateContents({ path, name }: { readonly path: string; readonly name: string }) {
  const asked = useRead<CertificateView>(`${path}/contents/`);
  return (
    <>
      <fieldset class="downloads">
        <legend>{m('download')}</legend>
        <div class="buttons">
          {(
            [
              ['pem', 'PEM'],
              ['der', 'DER'],
              ['chain', `${m('chainFile')} (PEM)`],
              ['pkcs7', `${m('chainFile')} (PKCS #7)`],
            ] as const
          ).map(([encoding, title]) => (
            <Download key={encoding} path={`${path}/file/?encoding=${encoding}`} name={name}>
              {title}
            </Download>
          ))}
        </div>
      </fieldset>
      <Answer of={asked}>
        {({ contents, chain }) => (
          <div class="cards">
            <Card title={m('contents')}>
              <Facts
                rows={[
                  [m('subject'), <Text key="s" of={contents.subject} />],
                  [m('issuer'), <Text key="i" of={contents.issuer} />],
                  [m('from'), <When key="f" at={contents.not_valid_before} />],
                  [m('until'), <When key="u" at={contents.not_valid_after} relative />],
                  [m('serialNumber'), <Code key="n" of={contents.serial_number} />],
                  [m('key'), contents.public_key.type ?? m('notKnown'), m('keyMeaning')],
                  [m('signature'), contents.signature_algorithm ?? m('notKnown')],
                  [
                    m('sha256'),
                    <span class="secret" key="h">
                      <Code of={contents.sha256} />
                      <Copy text={contents.sha256} label={m('sha256')} />
                    </span>,
                    m('sha256Meaning'),
                  ],
                  [m('sha1'), <Code key="h1" of={contents.sha1} />],
                  [m('version'), contents.version],
                ]}
              />
            </Card>
            <Card title={m('chain')}>
              <Tree label={m('chain')} of={branches(chain)} />
            </Card>
            <Card title={m('extensions')} wide>
              {contents.extensions.length === 0 ? (
                <p>{m('noExtensions')}</p>
              ) : (
                <Facts
                  rows={contents.extensions.map((extension) => [
                    extension.name ?? extension.oid,
                    <Extension key={extension.oid} of={extension} />,
                    extensionMeaning(extension.name, extension.critical),
                  ])}
                />
              )}
            </Card>
          </div>
        )}
      </Answer>
    </>
  );
}

/** The root at the top, as trust flows; the certificate itself at the end. */
function branches(chain: CertificateView['chain']): readonly Branch[] {
  return chain.reduce<readonly Branch[]>(
    (below, { subject, not_valid_after, fingerprint, issuing_ca }, n) => [
      {
        key: fingerprint,
        current: n === 0,
        below,
        content: (
          <>
            <p>
              {issuing_ca !== null && n > 0 ? (
                <a href={`/cas/${issuing_ca}`}>
                  <Text of={subject} />
                </a>
              ) : (
                <strong>
                  <Text of={subject} />
                </strong>
              )}
            </p>
            <p class="quiet">
              {m('until')} <When at={not_valid_after} />
            </p>
          </>
        ),
      },
    ],
    [],
  );
}
