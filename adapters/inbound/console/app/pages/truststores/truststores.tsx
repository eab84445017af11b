import { messages } from '../../language.ts';
import { useDialog } from '../../parts/dialogs/dialog.tsx';
import { EditDialog } from '../../parts/dialogs/edit-dialog.tsx';
import { Empty } from '../../parts/display/answer.tsx';
import { Drop } from '../../parts/forms/drop.tsx';
import type { Field } from '../../parts/forms/input.tsx';
import { createdColumn, nameColumn } from '../../parts/lists/columns.tsx';
import { ListPage } from '../../parts/lists/list-page.tsx';
import type { Truststore } from '../../records.ts';
import { go, type Page } from '../../router.ts';
import { may } from '../../session.ts';
import { words } from '../../words.ts';

export const m = messages(
  {
    add: 'Add truststore',
    deviceOwner: 'Device owners (DevOwnerID)',
    drop: 'Drop a file with certificates here, or choose one.',
    file: 'Certificates',
    fileHint: 'PEM, DER, PKCS #7 or PKCS #12, recognised by content.',
    generic: 'Anything',
    idevid: 'Manufacturers of devices (IDevID)',
    nameHint: 'Leave empty for the name of the first certificate.',
    noTruststores: 'No truststores yet',
    noTruststoresNext: 'Devices with an IDevID are accepted by the certificates of their manufacturer.',
    password: 'Password',
    passwordHint: 'Password of a PKCS #12 file.',
    title: 'Truststores',
    tls: 'TLS',
    usage: 'For',
  },
  {
    add: 'Truststore hinzufügen',
    deviceOwner: 'Besitzer von Geräten (DevOwnerID)',
    drop: 'Legen Sie hier eine Datei mit Zertifikaten ab, oder wählen Sie eine aus.',
    file: 'Zertifikate',
    fileHint: 'PEM, DER, PKCS #7 oder PKCS #12, am Inhalt erkannt.',
    generic: 'Beliebiges',
    idevid: 'Hersteller von Geräten (IDevID)',
    nameHint: 'Leer: der Name des ersten Zertifikats.',
    noTruststores: 'Noch keine Truststores',
    noTruststoresNext: 'Geräte mit IDevID weisen sich mit Zertifikaten ihres Herstellers aus.',
    password: 'Kennwort',
    passwordHint: 'Kennwort einer PKCS-#12-Datei.',
    title: 'Truststores',
    tls: 'TLS',
    usage: 'Für',
  },
);

const usages = [0, 1, 2, 3] as const;
export const accept = '.pem,.crt,.cer,.der,.p7b,.p7c,.p12,.pfx';

/** `intended_usage` → what it is for. */
export const usageTitle = (usage: number): string =>
  [m('idevid'), m('tls'), m('generic'), m('deviceOwner')][usage] ?? String(usage);

/** What a truststore is made of, or changed to. */
export const truststoreFields = (file?: File, of?: Truststore): readonly Field[] => [
  {
    name: 'trust_store_file',
    title: m('file'),
    type: 'file',
    required: of === undefined,
    accept,
    hint: m('fileHint'),
    file,
  },
  {
    name: 'intended_usage',
    title: m('usage'),
    type: 'choice',
    required: true,
    initial: of?.intended_usage ?? usages[0],
    options: usages.map((usage) => [usage, usageTitle(usage)]),
  },
  {
    name: 'unique_name',
    title: words('name'),
    maxLength: 255,
    initial: of?.unique_name,
    hint: m('nameHint'),
  },
  { name: 'password', title: m('password'), type: 'password', hint: m('passwordHint') },
];

export const truststores: Page = {
  path: '/truststores',
  title: () => m('title'),
  needs: 'truststores.read',
  navigation: { group: 'trust', order: 30 },
  view: () => {
    const { dialog, open } = useDialog();
    const add = (file?: File): void =>
      open((close) => (
        <EditDialog<Truststore>
          title={m('add')}
          collection="/api/truststores/"
          fields={truststoreFields(file)}
          saved={({ id }) => go(`/truststores/${id}`)}
          close={close}
        />
      ));
    return (
      <>
        <ListPage<Truststore>
          path="/api/truststores/"
          title={m('title')}
          actions={
            may('truststores.write') && (
              <button type="button" class="main" onClick={() => add()}>
                {m('add')}
              </button>
            )
          }
          href={({ id }) => `/truststores/${id}`}
          filters={[
            {
              name: 'intended_usage',
              title: m('usage'),
              options: usages.map((usage) => [String(usage), usageTitle(usage)]),
            },
          ]}
          columns={[
            nameColumn(),
            {
              name: 'intended_usage',
              title: m('usage'),
              orderable: true,
              cell: ({ intended_usage }) => usageTitle(intended_usage),
            },
            createdColumn(),
          ]}
          empty={<Empty title={m('noTruststores')} next={m('noTruststoresNext')} />}
        >
          {may('truststores.write') && <Drop title={m('drop')} accept={accept} take={add} />}
        </ListPage>
        {dialog}
      </>
    );
  },
};
