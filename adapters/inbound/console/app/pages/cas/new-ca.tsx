import { write } from '../../api.ts';
import { forget } from '../../data.ts';
import { messages } from '../../language.ts';
import { tell } from '../../parts/dialogs/toast.tsx';
import { Heading } from '../../parts/display/facts.tsx';
import { useChoices } from '../../parts/display/reference.tsx';
import { Form } from '../../parts/forms/form.tsx';
import type { Values } from '../../parts/forms/input.tsx';
import type { IssuingCa } from '../../records.ts';
import { go, type Page } from '../../router.ts';
import { m as c, caType } from './cas.tsx';

const m = messages(
  {
    action: 'Create',
    certificate: 'Its certificate',
    certificateHint: 'PEM, DER or PKCS #7; not needed with a PKCS #12 file.',
    chain: 'The certificates above it',
    chainHint: 'PEM or PKCS #7, up to the root.',
    commonName: 'Common name',
    commonNameHint: 'Stands in its certificate. Left empty, it is one of its own.',
    done: 'The certificate authority is there.',
    keyType: 'Key',
    keyUsual: 'The usual one (P-384 for a root, else P-256)',
    kind: 'Kind',
    name: 'Name',
    nameHint: 'By which it is known here.',
    parent: 'Signed by',
    parentUsual: 'The newest root',
    password: 'Password of the file',
    pathLength: 'CAs that may follow below',
    pathLengthHint: 'Left empty: any number.',
    pkcs12: 'PKCS #12 file',
    pkcs12Hint: 'With key and certificates; or give them one by one below.',
    privateKey: 'Its private key',
    privateKeyHint: 'PKCS #8, PEM or DER.',
    validity: 'Valid for',
    validityHint: 'ISO 8601 duration, P10Y for ten years. Left empty: 20 years for a root, else 10.',
  },
  {
    action: 'Anlegen',
    certificate: 'Ihr Zertifikat',
    certificateHint: 'PEM, DER oder PKCS #7; nicht nötig mit einer PKCS-#12-Datei.',
    chain: 'Die Zertifikate darüber',
    chainHint: 'PEM oder PKCS #7, bis zur Wurzel.',
    commonName: 'Common Name',
    commonNameHint: 'Steht in ihrem Zertifikat. Bleibt er leer, bekommt sie einen eigenen.',
    done: 'Die Zertifizierungsstelle ist da.',
    keyType: 'Schlüssel',
    keyUsual: 'Der übliche (P-384 für eine Wurzel, sonst P-256)',
    kind: 'Art',
    name: 'Name',
    nameHint: 'Unter dem sie hier bekannt ist.',
    parent: 'Unterschrieben von',
    parentUsual: 'Die neueste Wurzel',
    password: 'Kennwort der Datei',
    pathLength: 'Stellen, die darunter folgen dürfen',
    pathLengthHint: 'Bleibt das leer: beliebig viele.',
    pkcs12: 'PKCS-#12-Datei',
    pkcs12Hint: 'Mit Schlüssel und Zertifikaten; oder geben Sie diese unten einzeln an.',
    privateKey: 'Ihr privater Schlüssel',
    privateKeyHint: 'PKCS #8, PEM oder DER.',
    validity: 'Gültig für',
    validityHint:
      'Dauer nach ISO 8601, P10Y für zehn Jahre. Bleibt das leer: 20 Jahre für eine Wurzel, sonst 10.',
  },
);

const root = 0;
const below = 1;
const imported = 2;
const keyTypes = [
  'p-256',
  'p-384',
  'p-521',
  'rsa-3072',
  'rsa-4096',
  'ed25519',
  'ml-dsa-44',
  'ml-dsa-65',
  'ml-dsa-87',
] as const;

const isMade = ({ issuing_ca_type: type }: Values): boolean => type === root || type === below;
const isImported = ({ issuing_ca_type: type }: Values): boolean => type === imported;

export const newCa: Page = {
  path: '/cas/new',
  title: () => c('add'),
  needs: 'cas.write',
  view: () => {
    const parents = useChoices('/api/issuing-cas/', 'cas.read');
    return (
      <>
        <Heading title={c('add')} up={{ href: '/cas', title: c('title') }} />
        <Form
          action={m('action')}
          cancel={() => go('/cas')}
          fields={[
            {
              name: 'issuing_ca_type',
              title: m('kind'),
              type: 'choice',
              required: true,
              initial: below,
              options: [root, below, imported].map((type) => [type, caType(type)]),
            },
            { name: 'unique_name', title: m('name'), required: true, hint: m('nameHint'), maxLength: 255 },
            {
              name: 'common_name',
              title: m('commonName'),
              hint: m('commonNameHint'),
              when: isMade,
              maxLength: 255,
            },
            {
              name: 'parent',
              title: m('parent'),
              type: 'choice',
              options: [['', m('parentUsual')], ...parents],
              when: ({ issuing_ca_type: type }) => type === below,
            },
            {
              name: 'key_type',
              title: m('keyType'),
              type: 'choice',
              options: [['', m('keyUsual')], ...keyTypes.map((type) => [type, type] as const)],
              when: isMade,
            },
            { name: 'validity', title: m('validity'), hint: m('validityHint'), when: isMade },
            {
              name: 'path_length',
              title: m('pathLength'),
              type: 'number',
              hint: m('pathLengthHint'),
              when: isMade,
            },
            {
              name: 'pkcs12',
              title: m('pkcs12'),
              type: 'file',
              accept: '.p12,.pfx',
              hint: m('pkcs12Hint'),
              when: isImported,
            },
            { name: 'password', title: m('password'), type: 'password', when: isImported },
            {
              name: 'private_key',
              title: m('privateKey'),
              type: 'file',
              accept: '.pem,.key,.der',
              hint: m('privateKeyHint'),
              when: isImported,
            },
            {
              name: 'certificate',
              title: m('certificate'),
              type: 'file',
              accept: '.pem,.cer,.crt,.der,.p7b,.p7c',
              hint: m('certificateHint'),
              when: isImported,
            },
            {
              name: 'certificate_chain',
              title: m('chain'),
              type: 'file',
              accept: '.pem,.p7b,.p7c',
              hint: m('chainHint'),
              when: isImported,
            },
          ]}
          send={async (values) => {
            const { id } = await write<IssuingCa>('POST', '/api/issuing-cas/', values);
            forget('/api/issuing-cas/');
            tell(m('done'));
            go(`/cas/${id}`);
          }}
        />
      </>
    );
  },
};
