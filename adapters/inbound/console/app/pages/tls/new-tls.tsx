import { write } from '../../api.ts';
import { messages } from '../../language.ts';
import { tell } from '../../parts/dialogs/toast.tsx';
import { Heading } from '../../parts/display/facts.tsx';
import { Form } from '../../parts/forms/form.tsx';
import type { Values } from '../../parts/forms/input.tsx';
import { go, type Page } from '../../router.ts';
import { words } from '../../words.ts';
import { type Credential, credentialType, m as t, tlsServer } from './tls.tsx';

const m = messages(
  {
    certificate: 'Certificate',
    certificateHint: 'PEM, DER or PKCS #7; further certificates in the file are its chain.',
    chain: 'Certificate chain',
    done: 'The credential has been created. Open it to activate it.',
    keyType: 'Key type',
    keyUsual: 'The default (P-384 for a root, else P-256)',
    made: 'Generate',
    nameHint: 'Leave empty for a generated name.',
    names: 'Names',
    namesHint:
      'One per line, such as DNS:pki.example or IP:192.0.2.1. Leave empty for the names of this service.',
    parts: 'From files with key and certificate',
    password: 'Password',
    passwordHint: 'Password of the PKCS #12 file or of the private key.',
    pkcs12: 'PKCS #12 file',
    privateKey: 'Private key',
    privateKeyHint: 'PKCS #8, SEC 1 or PKCS #1.',
    source: 'Key and certificate',
    together: 'From a PKCS #12 file',
  },
  {
    certificate: 'Zertifikat',
    certificateHint: 'PEM, DER oder PKCS #7; weitere Zertifikate darin sind seine Kette.',
    chain: 'Zertifikatskette',
    done: 'Das Zertifikat wurde angelegt. Öffnen Sie es, um es zu aktivieren.',
    keyType: 'Schlüsseltyp',
    keyUsual: 'Vorgabe (P-384 für eine Root-CA, sonst P-256)',
    made: 'Erzeugen',
    nameHint: 'Leer: Der Name wird erzeugt.',
    names: 'Namen',
    namesHint: 'Einer je Zeile, etwa DNS:pki.example oder IP:192.0.2.1. Leer: die Namen dieses Dienstes.',
    parts: 'Aus Dateien mit Schlüssel und Zertifikat',
    password: 'Kennwort',
    passwordHint: 'Kennwort der PKCS-#12-Datei oder des privaten Schlüssels.',
    pkcs12: 'PKCS-#12-Datei',
    privateKey: 'Privater Schlüssel',
    privateKeyHint: 'PKCS #8, SEC 1 oder PKCS #1.',
    source: 'Schlüssel und Zertifikat',
    together: 'Aus einer PKCS-#12-Datei',
  },
);

const keyTypes = ['p-256', 'p-384', 'p-521', 'rsa-3072', 'rsa-4096', 'ed25519'] as const;
const types = [0, 1, 2, 3, 4, 5] as const;

const from =
  (source: string) =>
  (values: Values): boolean =>
    values.source === source;
const isMade = from('made');
const isBrought = (values: Values): boolean => !isMade(values);

export const newTls: Page = {
  path: '/tls/new',
  title: () => t('add'),
  needs: 'credentials.write',
  view: () => (
    <>
      <Heading title={t('add')} up={{ href: '/tls', title: t('title') }} />
      <Form
        action={words('add')}
        cancel={() => go('/tls')}
        fields={[
          {
            name: 'credential_type',
            title: t('kind'),
            type: 'choice',
            required: true,
            initial: tlsServer,
            options: types.map((type) => [type, credentialType(type)] as const),
          },
          { name: 'unique_name', title: words('name'), hint: m('nameHint'), maxLength: 255 },
          {
            name: 'source',
            title: m('source'),
            type: 'choice',
            required: true,
            initial: 'made',
            options: [
              ['made', m('made')],
              ['together', m('together')],
              ['parts', m('parts')],
            ],
          },
          { name: 'common_name', title: t('commonName'), maxLength: 64, when: isMade },
          {
            name: 'subject_alternative_names',
            title: m('names'),
            type: 'area',
            isCode: true,
            hint: m('namesHint'),
            when: isMade,
          },
          {
            name: 'key_type',
            title: m('keyType'),
            type: 'choice',
            options: [['', m('keyUsual')], ...keyTypes.map((type) => [type, type] as const)],
            when: isMade,
          },
          {
            name: 'pkcs12',
            title: m('pkcs12'),
            type: 'file',
            accept: '.p12,.pfx',
            required: true,
            when: from('together'),
          },
          {
            name: 'certificate',
            title: m('certificate'),
            type: 'file',
            accept: '.pem,.cer,.crt,.der,.p7b,.p7c',
            required: true,
            hint: m('certificateHint'),
            when: from('parts'),
          },
          {
            name: 'private_key',
            title: m('privateKey'),
            type: 'file',
            accept: '.pem,.key',
            required: true,
            hint: m('privateKeyHint'),
            when: from('parts'),
          },
          {
            name: 'password',
            title: m('password'),
            type: 'password',
            hint: m('passwordHint'),
            when: isBrought,
          },
          {
            name: 'certificate_chain',
            title: m('chain'),
            type: 'file',
            accept: '.pem,.p7b,.p7c',
            when: isBrought,
          },
        ]}
        send={async ({ source: _, subject_alternative_names: names, ...values }) => {
          const lines = String(names ?? '')
            .split('\n')
            .map((line) => line.trim())
            .filter((line) => line !== '');
          const body = { ...values, ...(lines.length > 0 && { subject_alternative_names: lines }) };
          const { id } = await write<Credential>('POST', '/api/tls/', body);
          tell(m('done'));
          go(`/tls/${id}`);
        }}
      />
    </>
  ),
};
