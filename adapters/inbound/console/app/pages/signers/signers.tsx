import { forget } from '../../data.ts';
import { messages } from '../../language.ts';
import { useDialog } from '../../parts/dialogs/dialog.tsx';
import { EditDialog } from '../../parts/dialogs/edit-dialog.tsx';
import { Empty } from '../../parts/display/answer.tsx';
import { nameField } from '../../parts/forms/form.tsx';
import type { Values } from '../../parts/forms/input.tsx';
import { codeColumn, momentColumn, nameColumn, textColumn } from '../../parts/lists/columns.tsx';
import { ListPage } from '../../parts/lists/list-page.tsx';
import type { Signer } from '../../records.ts';
import { go, type Page } from '../../router.ts';
import { may } from '../../session.ts';

export const m = messages(
  {
    add: 'Add a signer',
    commonName: 'Name in the certificate',
    certificate: 'Certificate',
    certificateHint: 'If you bring a key of your own: the certificate for it. PEM, DER or PKCS #7.',
    keyType: 'Kind of key',
    keyUsual: 'P-256, made here',
    lead: 'Keys that sign digests: firmware, configurations, documents. What they have signed stays on record.',
    noSigners: 'There are no signers yet',
    noSignersNext: 'Add one: its key is made here and stays here.',
    password: 'Password',
    passwordHint: 'Of the PKCS #12 file or of the private key.',
    pkcs12: 'PKCS #12 file',
    pkcs12Hint: 'Key and certificate from elsewhere in one file.',
    privateKey: 'Private key',
    source: 'Key',
    sourceFile: 'From a PKCS #12 file',
    sourceMade: 'Made here',
    sourceParts: 'From files with key and certificate',
    suite: 'Signs with',
    title: 'Signers',
    until: 'Certificate good until',
  },
  {
    add: 'Signierer hinzufügen',
    commonName: 'Name im Zertifikat',
    certificate: 'Zertifikat',
    certificateHint: 'Das Zertifikat zu einem mitgebrachten Schlüssel. PEM, DER oder PKCS #7.',
    keyType: 'Art des Schlüssels',
    keyUsual: 'P-256, hier erzeugt',
    lead: 'Schlüssel, die Prüfsummen signieren: Firmware, Konfigurationen, Dokumente. Was sie signiert haben, bleibt verzeichnet.',
    noSigners: 'Es gibt noch keine Signierer',
    noSignersNext: 'Fügen Sie einen hinzu: Sein Schlüssel wird hier erzeugt und bleibt hier.',
    password: 'Kennwort',
    passwordHint: 'Der PKCS-#12-Datei oder des privaten Schlüssels.',
    pkcs12: 'PKCS-#12-Datei',
    pkcs12Hint: 'Schlüssel und Zertifikat von anderswo in einer Datei.',
    privateKey: 'Privater Schlüssel',
    source: 'Schlüssel',
    sourceFile: 'Aus einer PKCS-#12-Datei',
    sourceMade: 'Hier erzeugt',
    sourceParts: 'Aus Dateien mit Schlüssel und Zertifikat',
    suite: 'Signiert mit',
    title: 'Signierer',
    until: 'Zertifikat gültig bis',
  },
);

const signerType = 5;
const keyTypes = ['p-256', 'p-384', 'p-521', 'rsa-3072', 'rsa-4096'] as const;

export const signers: Page = {
  path: '/signers',
  title: () => m('title'),
  needs: 'signers.read',
  navigation: { group: 'trust', order: 50 },
  view: () => {
    const { dialog, open } = useDialog();
    return (
      <>
        <ListPage<Signer>
          path="/api/signers/"
          title={m('title')}
          actions={
            may('credentials.write') && (
              <button type="button" class="main" onClick={() => open((close) => <Add close={close} />)}>
                {m('add')}
              </button>
            )
          }
          lead={m('lead')}
          href={({ id }) => `/signers/${id}`}
          columns={[
            nameColumn(),
            textColumn('certificate_cn', m('commonName')),
            codeColumn('signature_suite', m('suite')),
            momentColumn('certificate_not_valid_after', m('until')),
          ]}
          empty={<Empty title={m('noSigners')} next={m('noSignersNext')} />}
        />
        {dialog}
      </>
    );
  },
};

const isMade = ({ source }: Values): boolean => source === 'made';

const Add = ({ close }: { readonly close: () => void }) => (
  <EditDialog<Signer>
    title={m('add')}
    collection="/api/tls/"
    body={({ source: _, ...values }) => ({ ...values, credential_type: signerType })}
    fields={[
      nameField(),
      {
        name: 'source',
        title: m('source'),
        type: 'choice',
        required: true,
        initial: 'made',
        options: [
          ['made', m('sourceMade')],
          ['pkcs12', m('sourceFile')],
          ['parts', m('sourceParts')],
        ],
      },
      {
        name: 'key_type',
        title: m('keyType'),
        type: 'choice',
        options: [['', m('keyUsual')], ...keyTypes.map((type) => [type, type] as const)],
        when: isMade,
      },
      {
        name: 'common_name',
        title: m('commonName'),
        maxLength: 64,
        when: isMade,
      },
      {
        name: 'pkcs12',
        title: m('pkcs12'),
        type: 'file',
        accept: '.p12,.pfx',
        hint: m('pkcs12Hint'),
        required: true,
        when: ({ source }) => source === 'pkcs12',
      },
      {
        name: 'private_key',
        title: m('privateKey'),
        type: 'file',
        accept: '.pem,.key,.der',
        required: true,
        when: ({ source }) => source === 'parts',
      },
      {
        name: 'certificate',
        title: m('certificate'),
        type: 'file',
        accept: '.pem,.cer,.crt,.der,.p7b,.p7c',
        hint: m('certificateHint'),
        required: true,
        when: ({ source }) => source === 'parts',
      },
      {
        name: 'password',
        title: m('password'),
        type: 'password',
        hint: m('passwordHint'),
        when: ({ source }) => source !== 'made',
      },
    ]}
    saved={({ id }) => {
      forget('/api/signers/');
      go(`/signers/${id}`);
    }}
    close={close}
  />
);
