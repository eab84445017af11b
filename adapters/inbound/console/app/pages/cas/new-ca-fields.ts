import { date, messages, moment } from '../../language.ts';
import type { Field, Value, Values } from '../../parts/forms/input.tsx';
import type { CaPosition } from '../../records.ts';
import { caType } from './cas.tsx';
import { endOf } from './lifetime.ts';

const m = messages(
  {
    certificate: 'CA certificate',
    certificateHint: 'PEM, DER or PKCS #7. Not needed with a PKCS #12 file.',
    certificateOfKeyHint: 'Only if this key already has a CA certificate. Leave empty to issue a new one.',
    chain: 'Certificate chain',
    chainHint: 'PEM or PKCS #7, up to the root.',
    commonName: 'Common name',
    commonNameHint: 'Common name in the certificate. Leave empty for a generated name.',
    commonNameUpstreamHint: 'The upstream CA certifies the CA under this name.',
    itself: 'Itself (root CA)',
    keyId: 'Key in the HSM',
    keyIdHint: 'ID or label of an existing key. Leave empty to generate a new key.',
    keyStore: 'Key store',
    keyStoreUsual: 'The first one of the configuration',
    keyType: 'Key type',
    keyUsual: 'The default (P-384 for a root, else P-256)',
    kind: 'Type',
    name: 'Name',
    nameHint: 'The name of the CA in Postern.',
    noIssuers:
      'The configuration names no upstream CA over {protocol}. Add a table [issuers.NAME] with plugin = "remote-{plugin}" to postern.toml.',
    noTokens:
      'The configuration names no HSM. Add a table [keys.NAME] with plugin = "pkcs11" to postern.toml.',
    parent: 'Signed by',
    parentUsual: 'The newest root',
    password: 'Password of the file',
    pathLength: 'Path length (number of CAs below)',
    pathLengthHint: 'Leave empty for no limit.',
    pkcs12: 'PKCS #12 file',
    pkcs12Hint: 'Contains key and certificates. Or provide them separately below.',
    privateKey: 'Private key',
    privateKeyHint: 'PKCS #8, PEM or DER.',
    shortened:
      'Shortened: the parent CA {parent} expires on {end}, so this CA expires then and not on {wanted}.',
    upstream: 'Upstream CA',
    upstreamHint: 'Postern forwards every request to this CA.',
    upstreamNone: 'None: signed by a CA of this service',
    upstreamSigns: 'Certified by an upstream CA',
    validity: 'Valid for',
    validityHint: 'ISO 8601 duration, such as P10Y for ten years. Default: 20 years for a root, else 10.',
  },
  {
    certificate: 'CA-Zertifikat',
    certificateHint: 'PEM, DER oder PKCS #7. Nicht nötig mit einer PKCS-#12-Datei.',
    certificateOfKeyHint:
      'Nur wenn dieser Schlüssel schon ein CA-Zertifikat hat. Leer: Es wird ein neues ausgestellt.',
    chain: 'Zertifikatskette',
    chainHint: 'PEM oder PKCS #7, bis zur Wurzel.',
    commonName: 'Common Name',
    commonNameHint: 'Common Name im Zertifikat. Leer: Der Name wird erzeugt.',
    commonNameUpstreamHint: 'Unter diesem Namen wird sie von der Upstream-CA zertifiziert.',
    itself: 'Sich selbst (Root-CA)',
    keyId: 'Schlüssel im HSM',
    keyIdHint: 'ID oder Label eines vorhandenen Schlüssels. Leer: Es wird ein neuer erzeugt.',
    keyStore: 'Schlüsselspeicher',
    keyStoreUsual: 'Der erste der Konfiguration',
    keyType: 'Schlüsseltyp',
    keyUsual: 'Vorgabe (P-384 für eine Root-CA, sonst P-256)',
    kind: 'Art',
    name: 'Name',
    nameHint: 'Der Name der CA in Postern.',
    noIssuers:
      'Die Konfiguration nennt keine Upstream-CA über {protocol}. Ergänzen Sie in postern.toml eine Tabelle [issuers.NAME] mit plugin = "remote-{plugin}".',
    noTokens:
      'Die Konfiguration nennt kein HSM. Ergänzen Sie in postern.toml eine Tabelle [keys.NAME] mit plugin = "pkcs11".',
    parent: 'Signiert von',
    parentUsual: 'Die neueste Root-CA',
    password: 'Kennwort der Datei',
    pathLength: 'Pfadlänge (Anzahl der CAs darunter)',
    pathLengthHint: 'Leer: ohne Begrenzung.',
    pkcs12: 'PKCS-#12-Datei',
    pkcs12Hint: 'Enthält Schlüssel und Zertifikate. Oder geben Sie beides unten einzeln an.',
    privateKey: 'Privater Schlüssel',
    privateKeyHint: 'PKCS #8, PEM oder DER.',
    shortened:
      'Verkürzt: Die übergeordnete CA „{parent}“ läuft am {end} ab, daher auch diese, und nicht erst am {wanted}.',
    upstream: 'Upstream-CA',
    upstreamHint: 'Postern leitet jeden Antrag an diese CA weiter.',
    upstreamNone: 'Keine: signiert von einer CA dieses Dienstes',
    upstreamSigns: 'Zertifiziert von einer Upstream-CA',
    validity: 'Gültig für',
    validityHint:
      'Dauer nach ISO 8601, etwa P10Y für zehn Jahre. Vorgabe: 20 Jahre für eine Root-CA, sonst 10.',
  },
);

export interface KeyStore {
  readonly name: string;
  readonly hands_out_keys: boolean;
  readonly takes_keys: boolean;
}

export interface ConfiguredIssuer {
  readonly name: string;
  readonly protocol: 'est' | 'cmp' | null;
}

/** What a new CA can be made of. */
export interface Choices {
  /** CAs that can sign others. */
  readonly parents: readonly CaPosition[];
  readonly keyStores: readonly KeyStore[];
  readonly issuers: readonly ConfiguredIssuer[];
}

const kinds = { root: 0, below: 1, imported: 2, hsm: 3, remoteEst: 4, remoteCmp: 5 } as const;
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

const is =
  (...some: readonly number[]) =>
  ({ issuing_ca_type: type }: Values): boolean =>
    some.includes(Number(type));

const isGiven = (value: Value): boolean => value !== '' && value !== undefined;

/** A certificate is made for it, here or upstream. */
const isMade = (values: Values): boolean =>
  is(kinds.root, kinds.below)(values) ||
  (is(kinds.hsm)(values) && !(isGiven(values.key_id) && isGiven(values.certificate)));
const hasKeyMade = (values: Values): boolean =>
  is(kinds.root, kinds.below)(values) || (is(kinds.hsm)(values) && !isGiven(values.key_id));
const hasOwnParent = (values: Values): boolean => isMade(values) && !isGiven(values.issuer);

const named = (of: readonly { readonly name: string }[]) => of.map(({ name }) => [name, name] as const);

/** What the form asks for; names are those of the API, so that its complaints find the inputs. */
export const newCaFields = (choices: Choices): readonly Field[] => [
  {
    name: 'issuing_ca_type',
    title: m('kind'),
    type: 'choice',
    required: true,
    initial: kinds.below,
    options: Object.values(kinds).map((type) => [type, caType(type)]),
  },
  { name: 'unique_name', title: m('name'), required: true, hint: m('nameHint'), maxLength: 255 },
  ...keyStoreFields(choices),
  ...signerFields(choices),
  {
    name: 'common_name',
    title: m('commonName'),
    hint: (values) =>
      m(hasOwnParent(values) || is(kinds.root)(values) ? 'commonNameHint' : 'commonNameUpstreamHint'),
    when: isMade,
    maxLength: 64,
  },
  {
    name: 'key_type',
    title: m('keyType'),
    type: 'choice',
    options: [['', m('keyUsual')], ...keyTypes.map((type) => [type, type] as const)],
    when: hasKeyMade,
  },
  {
    name: 'validity',
    title: m('validity'),
    hint: (values) => shortening(choices.parents, values) ?? m('validityHint'),
    when: isMade,
  },
  { name: 'path_length', title: m('pathLength'), type: 'number', hint: m('pathLengthHint'), when: isMade },
  ...importFields(),
];

const keyStoreFields = ({ keyStores }: Choices): readonly Field[] => {
  const tokens = keyStores.filter(({ hands_out_keys }) => !hands_out_keys);
  const taking = keyStores.filter(({ takes_keys }) => takes_keys);
  const usual = ['', m('keyStoreUsual')] as const;
  return [
    {
      name: 'key_store',
      title: m('keyStore'),
      type: 'choice',
      required: true,
      ...(tokens.length === 0 && { hint: m('noTokens') }),
      options: named(tokens),
      when: is(kinds.hsm),
    },
    {
      name: 'key_store',
      title: m('keyStore'),
      type: 'choice',
      options: [usual, ...named(keyStores)],
      when: (values) => keyStores.length > 1 && is(kinds.root, kinds.below)(values),
    },
    {
      name: 'key_store',
      title: m('keyStore'),
      type: 'choice',
      options: [usual, ...named(taking)],
      when: (values) => taking.length > 1 && is(kinds.imported)(values),
    },
    { name: 'key_id', title: m('keyId'), hint: m('keyIdHint'), when: is(kinds.hsm), maxLength: 100 },
    {
      name: 'certificate',
      title: m('certificate'),
      type: 'file',
      accept: '.pem,.cer,.crt,.der,.p7b,.p7c',
      hint: m('certificateOfKeyHint'),
      when: (values) => is(kinds.hsm)(values) && isGiven(values.key_id),
    },
  ];
};

const signerFields = ({ parents, issuers }: Choices): readonly Field[] => {
  const upstreams = issuers.filter(({ protocol }) => protocol !== null);
  const over = (protocol: 'est' | 'cmp', type: number): Field => {
    const some = issuers.filter((issuer) => issuer.protocol === protocol);
    const missing = m('noIssuers', { protocol: protocol.toUpperCase(), plugin: protocol });
    return {
      name: 'issuer',
      title: m('upstream'),
      type: 'choice',
      required: true,
      hint: some.length === 0 ? missing : m('upstreamHint'),
      options: named(some),
      when: is(type),
    };
  };
  const own = parents.map(({ id, unique_name }) => [id, unique_name] as const);
  return [
    over('est', kinds.remoteEst),
    over('cmp', kinds.remoteCmp),
    {
      name: 'issuer',
      title: m('upstreamSigns'),
      type: 'choice',
      options: [['', m('upstreamNone')], ...named(upstreams)],
      when: (values) => upstreams.length > 0 && isMade(values) && !is(kinds.root)(values),
    },
    {
      name: 'parent',
      title: m('parent'),
      type: 'choice',
      options: [['', m('parentUsual')], ...own],
      when: (values) => is(kinds.below)(values) && hasOwnParent(values),
    },
    {
      name: 'parent',
      title: m('parent'),
      type: 'choice',
      options: [['', m('itself')], ...own],
      when: (values) => is(kinds.hsm)(values) && hasOwnParent(values),
    },
  ];
};

const importFields = (): readonly Field[] => [
  {
    name: 'pkcs12',
    title: m('pkcs12'),
    type: 'file',
    accept: '.p12,.pfx',
    hint: m('pkcs12Hint'),
    when: is(kinds.imported),
  },
  { name: 'password', title: m('password'), type: 'password', when: is(kinds.imported) },
  {
    name: 'private_key',
    title: m('privateKey'),
    type: 'file',
    accept: '.pem,.key,.der',
    hint: m('privateKeyHint'),
    when: is(kinds.imported),
  },
  {
    name: 'certificate',
    title: m('certificate'),
    type: 'file',
    accept: '.pem,.cer,.crt,.der,.p7b,.p7c',
    hint: m('certificateHint'),
    when: is(kinds.imported),
  },
  {
    name: 'certificate_chain',
    title: m('chain'),
    type: 'file',
    accept: '.pem,.p7b,.p7c',
    hint: m('chainHint'),
    when: (values) => is(kinds.imported)(values) || (is(kinds.hsm)(values) && isGiven(values.certificate)),
  },
];

/** That the requested end is later than that of the CA that signs: certificates end with their CA's at the latest. */
function shortening(parents: readonly CaPosition[], values: Values): string | undefined {
  const { parent, validity } = values;
  const roots = parents.filter(({ subject, issuer }) => subject === issuer);
  const newest = is(kinds.below)(values) ? roots.toSorted((a, b) => b.id - a.id)[0] : undefined;
  const above = isGiven(parent) ? parents.find(({ id }) => id === parent) : newest;
  if (!above || !hasOwnParent(values) || is(kinds.root)(values)) return undefined;
  const wanted = endOf(String(validity ?? '').trim() || 'P10Y', new Date());
  const end = moment(above.not_valid_after);
  if (!wanted || wanted <= end) return undefined;
  return m('shortened', { end: date(end), parent: above.unique_name, wanted: date(wanted) });
}
