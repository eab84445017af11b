import { type DerBuilder, der } from '#core/der/builder.ts';
import { contextConstructed } from '#core/der/tag.ts';
import { subjectAltNameExtension } from '#core/x509/extensions/identity.ts';
import { nameConstraintsExtension } from '#core/x509/extensions/name-constraints.ts';
import { parseGeneralName } from '#core/x509/general-name.ts';
import { emptyName, parseDistinguishedName } from '#core/x509/name.ts';
import { oid } from '#core/x509/oids.ts';
import { certify, party } from './certify.ts';
import { device, four, middle, type Row, root, row, three, type Verdict } from './row.ts';

interface Subtrees {
  readonly permitted?: readonly string[];
  readonly excluded?: readonly string[];
}

/** Written like alternative names. A base that is no such name starts with its kind, as in `DNS:.example`. */
function base(text: string) {
  const [kind, value] = text.split(/:(.*)/) as [string, string];
  const raw = { DNS: 'dns', email: 'email', URI: 'uri' }[kind];
  return raw ? { kind: raw as 'dns' | 'email' | 'uri', value } : parseGeneralName(text);
}

const constraints = ({ permitted = [], excluded = [] }: Subtrees) =>
  nameConstraintsExtension({ permitted: permitted.map(base), excluded: excluded.map(base) });

const altNames = (names: readonly string[]) => subjectAltNameExtension(names.map(base));

const inside: Verdict = ['ok', 'ok'];
const notPermitted: Verdict = ['nameConstraints', 'permitted subtree violation'];
const excluded: Verdict = ['nameConstraints', 'excluded subtree violation'];

/** Returns a device with these alternative names under a CA with these constraints. */
const under = (subtrees: Subtrees, names: readonly string[], verdict: Verdict, rule?: string): Row =>
  row(
    rule ??
      `${names.join(' ')} under ${[...(subtrees.permitted ?? []).map((one) => `+${one}`), ...(subtrees.excluded ?? []).map((one) => `-${one}`)].join(' ')}`,
    three({ middle: { with: [constraints(subtrees)] }, leaf: { with: [altNames(names)] } }),
    verdict,
  );

/** Returns a device with this subject. */
const subjectUnder = (subtrees: Subtrees, subject: string, verdict: Verdict): Row =>
  row(
    `subject ${subject} under ${JSON.stringify(subtrees)}`,
    three({ middle: { with: [constraints(subtrees)] }, leaf: { subject: parseDistinguishedName(subject) } }),
    verdict,
  );

const dns: Row[] = [
  under({ permitted: ['DNS:plant.example'] }, ['DNS:plant.example'], inside),
  under({ permitted: ['DNS:plant.example'] }, ['DNS:a.b.PLANT.example'], inside),
  under({ permitted: ['DNS:plant.example'] }, ['DNS:otherplant.example'], notPermitted),
  under({ permitted: ['DNS:plant.example'] }, ['DNS:a.plant.example', 'DNS:a.other.example'], notPermitted),
  under({ permitted: ['DNS:.plant.example'] }, ['DNS:a.plant.example'], inside),
  under({ permitted: ['DNS:.plant.example'] }, ['DNS:plant.example'], notPermitted),
  under({ permitted: ['DNS:'] }, ['DNS:anything.example'], inside),
  under({ permitted: ['DNS:plant.example'] }, ['DNS:*.plant.example'], inside),
  under({ permitted: ['DNS:a.plant.example'] }, ['DNS:*.plant.example'], notPermitted),
  under(
    { permitted: ['DNS:plant.example'] },
    ['IP:10.0.0.1'],
    inside,
    'a constraint on DNS names says nothing on IP addresses',
  ),
  under({ excluded: ['DNS:plant.example'] }, ['DNS:a.other.example'], inside),
  under({ excluded: ['DNS:plant.example'] }, ['DNS:a.plant.example'], excluded),
  under(
    { excluded: ['DNS:a.plant.example'] },
    ['DNS:*.plant.example'],
    ['nameConstraints', 'ok', 'the wildcard stands for the excluded name too'],
  ),
  under({ excluded: ['DNS:'] }, ['DNS:a.plant.example'], excluded),
  under(
    { permitted: ['DNS:plant.example'], excluded: ['DNS:x.plant.example'] },
    ['DNS:y.x.plant.example'],
    excluded,
  ),
  under({ permitted: ['DNS:plant.example', 'DNS:other.example'] }, ['DNS:a.other.example'], inside),
  under(
    { excluded: ['DNS:plant.example'] },
    ['DNS:a.plant.example.'],
    ['nameConstraints', 'ok', 'a trailing dot would lead around the constraint'],
  ),
  under(
    { excluded: ['DNS:plant.example'] },
    ['DNS:a b.other.example'],
    ['nameConstraints', 'ok', 'no host name: there is no telling where it lies'],
  ),
  row(
    'a common name that looks like a host is no DNS name',
    three({
      middle: { with: [constraints({ permitted: ['DNS:plant.example'] })] },
      leaf: { subject: parseDistinguishedName('CN=www.other.example') },
    }),
    [
      'ok',
      'permitted subtree violation',
      'OpenSSL takes it for one; Postern takes no host names from common names',
    ],
  ),
];

const email: Row[] = [
  under({ permitted: ['email:plant.example'] }, ['email:ops@plant.example'], inside),
  under({ permitted: ['email:plant.example'] }, ['email:ops@PLANT.example'], inside),
  under({ permitted: ['email:plant.example'] }, ['email:ops@a.plant.example'], notPermitted),
  under({ permitted: ['email:.plant.example'] }, ['email:ops@a.plant.example'], inside),
  under({ permitted: ['email:.plant.example'] }, ['email:ops@plant.example'], notPermitted),
  under({ permitted: ['email:ops@plant.example'] }, ['email:ops@plant.example'], inside),
  under({ permitted: ['email:ops@plant.example'] }, ['email:Ops@plant.example'], notPermitted),
  under({ excluded: ['email:ops@plant.example'] }, ['email:ops@plant.example'], excluded),
  under({ excluded: ['email:plant.example'] }, ['email:ops@other.example'], inside),
  under(
    { excluded: ['email:plant.example'] },
    ['email:no-at-sign'],
    ['nameConstraints', 'unsupported or invalid name syntax'],
  ),
  subjectUnder({ permitted: ['email:plant.example'] }, 'emailAddress=ops@plant.example,CN=device', inside),
  subjectUnder(
    { permitted: ['email:plant.example'] },
    'emailAddress=ops@other.example,CN=device',
    notPermitted,
  ),
];

const uri: Row[] = [
  under({ permitted: ['URI:plant.example'] }, ['URI:https://plant.example/a?b'], inside),
  under({ permitted: ['URI:plant.example'] }, ['URI:https://plant.example:8443'], inside),
  under({ permitted: ['URI:plant.example'] }, ['URI:https://a.plant.example/'], notPermitted),
  under({ permitted: ['URI:.plant.example'] }, ['URI:https://a.plant.example/'], inside),
  under({ permitted: ['URI:.plant.example'] }, ['URI:https://plant.example/'], notPermitted),
  under({ excluded: ['URI:.plant.example'] }, ['URI:https://a.plant.example/'], excluded),
  under(
    { excluded: ['URI:plant.example'] },
    ['URI:https://user@plant.example/'],
    ['nameConstraints', 'ok', 'OpenSSL takes the user for a part of the host'],
  ),
  under({ permitted: ['URI:plant.example'] }, ['URI:https://plant.example@evil.example/'], notPermitted),
  under(
    { permitted: ['URI:plant.example'] },
    ['URI:urn:plant:device'],
    ['nameConstraints', 'unsupported or invalid name syntax'],
  ),
  under(
    { excluded: ['URI:plant.example'] },
    ['URI:https://10.0.0.1/'],
    ['nameConstraints', 'ok', '§4.2.1.10: a URI without a host name has to be refused'],
  ),
  under(
    { excluded: ['URI:plant.example'] },
    ['URI:https://[::1]/'],
    ['nameConstraints', 'ok', '§4.2.1.10: a URI without a host name has to be refused'],
  ),
];

const ip: Row[] = [
  under({ permitted: ['IP:10.1.0.0/255.255.0.0'] }, ['IP:10.1.2.3'], inside),
  under({ permitted: ['IP:10.1.0.0/255.255.0.0'] }, ['IP:10.2.2.3'], notPermitted),
  under({ permitted: ['IP:10.1.2.240/255.255.255.240'] }, ['IP:10.1.2.250'], inside),
  under({ permitted: ['IP:10.1.2.240/255.255.255.240'] }, ['IP:10.1.2.10'], notPermitted),
  under({ excluded: ['IP:0.0.0.0/0.0.0.0'] }, ['IP:10.1.2.3'], excluded),
  under({ excluded: ['IP:10.0.0.0/255.0.0.0'] }, ['IP:11.1.2.3'], inside),
  under({ permitted: ['IP:10.1.0.0/255.255.0.0'] }, ['IP:fd00::1'], notPermitted),
  // Its first octets are 10 and 1.
  under({ permitted: ['IP:10.0.0.0/255.0.0.0'] }, ['IP:a01::1'], notPermitted),
  under({ excluded: ['IP:10.0.0.0/255.0.0.0'] }, ['IP:a01::1'], inside),
  under({ permitted: ['IP:fd00::/ffff::'] }, ['IP:fd00::1'], inside),
  under({ permitted: ['IP:fd00::/ffff::'] }, ['IP:fd01::1'], notPermitted),
  under(
    { permitted: ['IP:10.0.0.0/255.0.255.0'] },
    ['IP:10.7.0.1'],
    ['nameConstraints', 'ok', '§4.2.1.10: the mask is a prefix'],
  ),
];

const directory: Row[] = [
  subjectUnder({ permitted: ['DirName:O=Plant'] }, 'CN=device,O=Plant', inside),
  subjectUnder({ permitted: ['DirName:O=Plant'] }, 'CN=device,O=PLANT', inside),
  subjectUnder({ permitted: ['DirName:O=Plant'] }, 'CN=device,O=Other', notPermitted),
  subjectUnder({ permitted: ['DirName:O=Plant'] }, 'O=Plant,CN=device', notPermitted),
  subjectUnder({ permitted: ['DirName:OU=Line 1,O=Plant'] }, 'CN=device,O=Plant', notPermitted),
  subjectUnder({ excluded: ['DirName:OU=Line 1,O=Plant'] }, 'CN=device,OU=Line 1,O=Plant', excluded),
  subjectUnder({ excluded: ['DirName:OU=Line 1,O=Plant'] }, 'CN=device,OU=Line 2,O=Plant', inside),
  under({ permitted: ['DirName:O=Plant'] }, ['DirName:CN=device,O=Plant'], inside),
  under({ permitted: ['DirName:O=Plant'] }, ['DirName:CN=device,O=Other'], notPermitted),
  row(
    'an empty subject is no directory name',
    three({
      middle: { with: [constraints({ permitted: ['DirName:O=Other'] })] },
      leaf: { subject: emptyName, with: [{ ...altNames(['DNS:a.example']), critical: true }] },
    }),
    inside,
  ),
];

const unsupported = 'unsupported name constraint type';
const upn = 'otherName:1.3.6.1.4.1.311.20.2.3;#0c0161';
const kinds: Row[] = [
  under({ excluded: ['RID:1.2.3'] }, ['RID:1.2.4'], ['nameConstraints', unsupported]),
  under({ excluded: ['RID:1.2.3'] }, ['DNS:a.example'], inside),
  under({ permitted: [upn] }, [upn], ['nameConstraints', unsupported]),
  under(
    { permitted: [upn] },
    ['otherName:1.2.3;#0c0161'],
    inside,
    'a constraint on one type of otherName says nothing on others',
  ),
  under(
    { excluded: ['ediPartyName:#a1030c0161'] },
    ['ediPartyName:#a1030c0161'],
    ['nameConstraints', 'unsupported name constraint type'],
  ),
];

const newMiddle = party('CN=Issuing CA,O=Plant');
const notMiddle = { ca: true, with: [constraints({ excluded: ['DirName:CN=Issuing CA,O=Plant'] })] };
const rootDer = certify(root, root, { ca: true });

const subtree = (contents: (b: DerBuilder) => void) => ({
  oid: oid.nameConstraints,
  critical: true,
  value: der((b) => b.sequence((s) => s.add(contextConstructed(0), (p) => p.sequence(contents)))),
});

const places: Row[] = [
  row(
    'constraints of the anchor hold',
    three({ root: { with: [constraints({ permitted: ['DirName:O=Other'] })] } }),
    notPermitted,
  ),
  row(
    'constraints of the upper CA hold below the lower',
    four({
      middle: { with: [constraints({ permitted: ['DNS:plant.example'] })] },
      leaf: { with: [altNames(['DNS:a.example'])] },
    }),
    notPermitted,
  ),
  row(
    'constraints hold for the CA below too',
    four({ middle: { with: [constraints({ excluded: ['DirName:CN=Line CA,O=Plant'] })] } }),
    ['nameConstraints', 'excluded subtree violation'],
  ),
  row(
    'two CAs permit what only one of them holds',
    four({
      middle: { with: [constraints({ permitted: ['DNS:plant.example'] })] },
      lower: { with: [constraints({ permitted: ['DNS:other.example'] })] },
      leaf: { with: [altNames(['DNS:a.other.example'])] },
    }),
    notPermitted,
  ),
  row(
    'two CAs permit one inside the other',
    four({
      middle: { with: [constraints({ permitted: ['DNS:plant.example'] })] },
      lower: { with: [constraints({ permitted: ['DNS:a.plant.example'] })] },
      leaf: { with: [altNames(['DNS:b.a.plant.example'])] },
    }),
    inside,
  ),
  row(
    'constraints do not hold for the CA that states them',
    three({ middle: { with: [constraints({ excluded: ['DirName:CN=Issuing CA,O=Plant'] })] } }),
    inside,
  ),
  row(
    'constraints in a leaf constrain nobody',
    three({ leaf: { with: [constraints({ permitted: ['DNS:plant.example'] })] } }),
    inside,
  ),
  row(
    'constraints that are not critical hold too',
    three({
      middle: { with: [{ ...constraints({ permitted: ['DNS:plant.example'] }), critical: false }] },
      leaf: { with: [altNames(['DNS:a.example'])] },
    }),
    notPermitted,
  ),
  row(
    'a self-issued certificate in between is exempt',
    {
      leaf: certify(device, newMiddle),
      intermediates: [certify(newMiddle, middle, { ca: true }), certify(middle, root, notMiddle)],
      anchors: [rootDer],
    },
    inside,
  ),
  row(
    'a self-issued leaf is not',
    {
      leaf: certify(newMiddle, middle),
      intermediates: [certify(middle, root, notMiddle)],
      anchors: [rootDer],
    },
    excluded,
  ),
  row(
    'a subtree with a minimum',
    three({
      middle: { with: [subtree((b) => b.add(0x82, Buffer.from('plant.example')).integer(1, 0x80))] },
      leaf: { with: [altNames(['DNS:plant.example'])] },
    }),
    ['malformed', 'name constraints minimum and maximum not supported'],
  ),
  row(
    'constraints without any subtree',
    three({
      middle: { with: [{ oid: oid.nameConstraints, critical: true, value: Uint8Array.of(0x30, 0) }] },
    }),
    ['malformed', 'ok', '§4.2.1.10: one of the two has to be there'],
  ),
];

export const rowsOfConstraints: readonly Row[] = [
  ...dns,
  ...email,
  ...uri,
  ...ip,
  ...directory,
  ...kinds,
  ...places,
];
