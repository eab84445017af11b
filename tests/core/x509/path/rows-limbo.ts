import { type DerBuilder, der } from '#core/der/builder.ts';
import { contextConstructed, tag } from '#core/der/tag.ts';
import { authorityKeyIdentifierExtension, subjectAltNameExtension } from '#core/x509/extensions/identity.ts';
import { nameConstraintsExtension } from '#core/x509/extensions/name-constraints.ts';
import type { GeneralName } from '#core/x509/general-name.ts';
import { buildName, emptyName, parseDistinguishedName } from '#core/x509/name.ts';
import { oid } from '#core/x509/oids.ts';
import { certify, noon, party } from './certify.ts';
import { device, middle, type Row, root, row, three, type Verdict } from './row.ts';

// Categories as in x509-limbo: rfc5280 (aki, nc, san, serial, validity, …), pathlen, pathological, invalid.

const valid: Verdict = ['ok', 'ok'];
const otherRoot = party('CN=Other Root,O=Plant');
const rootDer = certify(root, root, { ca: true });
const otherRootDer = certify(otherRoot, otherRoot, { ca: true });
const middleDer = certify(middle, root, { ca: true });
const leafDer = certify(device, middle);
const day = 24 * 3600 * 1000;

const raw = (which: string, contents: (b: DerBuilder) => void, critical = false) => ({
  oid: which,
  critical,
  value: der((b) => b.sequence(contents)),
});

const hints: Row[] = [
  row(
    'aki: it names another issuer and serial number',
    three({
      leaf: {
        with: [
          raw(oid.authorityKeyIdentifier, (b) =>
            b
              .octetString(middle.key.identifier, 0x80)
              .add(0xa1, (names) => names.add(0xa4, parseDistinguishedName('CN=Somebody').der))
              .integer(7, 0x82),
          ),
        ],
      },
    }),
    [
      'ok',
      'unable to get local issuer certificate',
      '§4.2.1.1: it helps to find the issuer, the signature proves it',
    ],
  ),
  row(
    'aki: it is critical',
    three({
      leaf: { with: [{ ...authorityKeyIdentifierExtension(middle.key.identifier), critical: true }] },
    }),
    ['unknownCriticalExtension', 'unhandled critical extension'],
  ),
  row(
    'aki: a cross-signed root without it',
    (() => {
      const bare = { ca: true, without: [oid.authorityKeyIdentifier] };
      return {
        leaf: leafDer,
        intermediates: [middleDer, certify(root, otherRoot, bare)],
        anchors: [otherRootDer],
      };
    })(),
    ['ok', 'Missing Authority Key Identifier', '§4.2.1.1 binds CAs, §6 does not ask for it'],
  ),
  row(
    'aki: it cannot be read',
    three({
      leaf: { with: [{ oid: oid.authorityKeyIdentifier, critical: false, value: Uint8Array.of(4, 9) }] },
    }),
    [
      'ok',
      'unable to get local issuer certificate',
      '§6 does not look at it: without it there is one hint less',
    ],
  ),
  row(
    'ski: it cannot be read',
    three({
      middle: { with: [{ oid: oid.subjectKeyIdentifier, critical: false, value: Uint8Array.of(4, 9) }] },
    }),
    [
      'ok',
      'unable to get local issuer certificate',
      '§6 does not look at it: without it there is one hint less',
    ],
  ),
];

const written = (notBefore: string, notAfter: string) =>
  three({
    leaf: {
      raw: {
        validity: der((b) =>
          b.sequence((s) => {
            for (const time of [notBefore, notAfter])
              s.string(
                time,
                /^\d{8,12}(?:Z|[+-])/.test(time) || time.length === 13 ? tag.utcTime : tag.generalizedTime,
              );
          }),
        ),
      },
    },
  });

const badTime: Verdict = ['malformed', "format error in certificate's notBefore field"];

const times: Row[] = [
  row('validity: UTCTime without seconds', written('2601010000Z', '2701010000Z'), badTime),
  row('validity: UTCTime with an offset', written('260101000000+0000', '270101000000Z'), badTime),
  row('validity: fractions of seconds', written('20260101000000.5Z', '20270101000000Z'), badTime),
  row('validity: GeneralizedTime before 2050', written('20260101000000Z', '20270101000000Z'), valid),
  row('validity: a day that does not exist', written('260230000000Z', '270101000000Z'), badTime),
  row('validity: the 60th second', written('251231235960Z', '270101000000Z'), badTime),
  row('validity: without an end, from an early day', written('19500101000000Z', '99991231235959Z'), valid),
];

const numbers: Row[] = [
  row('serial: of no octets', three({ leaf: { raw: { serial: new Uint8Array() } } }), [
    'malformed',
    'unreadable',
  ]),
  row('serial: with needless zeros', three({ leaf: { raw: { serial: Uint8Array.of(0, 1) } } }), [
    'malformed',
    'unreadable',
  ]),
  row('serial: negative, in a CA', three({ middle: { raw: { serial: Uint8Array.of(0xff) } } }), valid),
  row('serial: zero, in a CA', three({ middle: { raw: { serial: Uint8Array.of(0) } } }), valid),
  row(
    'serial: the same for all',
    three({
      root: { serial: Uint8Array.of(7) },
      middle: { serial: Uint8Array.of(7) },
      leaf: { serial: Uint8Array.of(7) },
    }),
    valid,
  ),
];

const structure: Row[] = [
  row('invalid: octets behind the certificate', { ...three(), leaf: Uint8Array.of(...leafDer, 0) }, [
    'malformed',
    'ok',
    'OpenSSL reads the first element of a PEM block and leaves the rest',
  ]),
  row('invalid: version 2 with extensions', three({ leaf: { raw: { version: 1 } } }), [
    'malformed',
    'Using cert extension requires at least X509v3',
  ]),
  row('invalid: version 4', three({ leaf: { raw: { version: 3 } } }), [
    'malformed',
    'ok',
    '§4.1.2.1: there are three versions',
  ]),
  row(
    'invalid: unique identifiers, which nobody uses any more',
    three({ leaf: { raw: { uniqueIdentifiers: der((b) => b.bitString(Uint8Array.of(7), 0, 0x81)) } } }),
    ['ok', 'ok'],
  ),
  row(
    'invalid: the key of the CA is none',
    three({
      middle: {
        spki: der((b) =>
          b.sequence((s) =>
            s.sequence((a) => a.oid(oid.rsaEncryption).null()).bitString(Uint8Array.of(0x30, 0)),
          ),
        ),
      },
    }),
    ['malformed', 'unable to get local issuer certificate'],
  ),
  row(
    'invalid: the alternative names occur twice',
    three({
      leaf: {
        with: [subjectAltNameExtension([{ kind: 'dns', value: 'a.example' }])],
        raw: { more: [subjectAltNameExtension([{ kind: 'dns', value: 'b.example' }])] },
      },
    }),
    ['malformed', 'unable to get local issuer certificate'],
  ),
  row(
    'invalid: parameters beside an algorithm that has none',
    three({ leaf: { raw: { algorithm: der((b) => b.sequence((s) => s.oid(oid.ecdsaWithSha256).null())) } } }),
    ['weakAlgorithm', 'ok', 'RFC 5758 §3.2: ECDSA has none'],
  ),
  row(
    'san: an IP address of five octets',
    three({
      leaf: { with: [raw(oid.subjectAltName, (b) => b.add(0x87, Uint8Array.of(10, 0, 0, 1, 2)))] },
    }),
    ['malformed', 'ok', '§4.2.1.6: four or sixteen; OpenSSL looks at it only under constraints'],
  ),
  row(
    'san: an IP address with a mask, which is the address of nobody',
    three({
      leaf: { with: [raw(oid.subjectAltName, (b) => b.add(0x87, Uint8Array.of(10, 0, 0, 1, 255, 0, 0, 0)))] },
    }),
    valid,
  ),
  row(
    'san: NUL in a name',
    three({
      leaf: {
        with: [raw(oid.subjectAltName, (b) => b.add(0x82, Buffer.from('plant.example\0.evil.example')))],
      },
    }),
    ['malformed', 'ok', 'no host name has one; OpenSSL looks at it only under constraints'],
  ),
  row('ee: no key usage', three({ leaf: { without: [oid.keyUsage] } }), valid),
  row('ee: no basic constraints', three({ leaf: { without: [oid.basicConstraints] } }), valid),
  row('ee: empty issuer', three({ leaf: { issuer: emptyName } }), [
    'unknownIssuer',
    'unable to get local issuer certificate',
  ]),
  row(
    'crl: critical distribution points, which the check of revocation answers for',
    three({
      leaf: {
        with: [
          raw(
            oid.crlDistributionPoints,
            (b) =>
              b.sequence((p) =>
                p.add(0xa0, (n) => n.add(0xa0, (g) => g.string('http://a.example/ca.crl', 0x86))),
              ),
            true,
          ),
        ],
      },
    }),
    valid,
  ),
  row(
    'aia: critical',
    three({
      leaf: {
        with: [
          raw(
            oid.authorityInfoAccess,
            (b) => b.sequence((d) => d.oid(oid.caIssuers).string('http://a.example/ca.cer', 0x86)),
            true,
          ),
        ],
      },
    }),
    ['unknownCriticalExtension', 'unhandled critical extension'],
  ),
];

const nc = (permitted: readonly GeneralName[], excluded: readonly GeneralName[]) =>
  nameConstraintsExtension({ permitted, excluded });
const under = (
  rule: string,
  permitted: readonly GeneralName[],
  excluded: readonly GeneralName[],
  names: readonly GeneralName[],
  verdict: Verdict,
): Row =>
  row(
    `nc: ${rule}`,
    three({ middle: { with: [nc(permitted, excluded)] }, leaf: { with: [subjectAltNameExtension(names)] } }),
    verdict,
  );
const uri = (value: string): GeneralName => ({ kind: 'uri', value });
const email = (value: string): GeneralName => ({ kind: 'email', value });
const dns = (value: string): GeneralName => ({ kind: 'dns', value });
const mailbox = (value: string): GeneralName => ({
  kind: 'otherName',
  type: oid.smtpUtf8Mailbox,
  value: der((b) => b.string(value, tag.utf8String)),
});
const directory = (value: string): GeneralName => ({
  kind: 'directory',
  value: parseDistinguishedName(value),
});
const subtrees = (n: number) => ({
  oid: oid.nameConstraints,
  critical: true,
  value: der((b) => b.sequence((s) => s.add(contextConstructed(n), () => {}))),
});

const constraints: Row[] = [
  under(
    'an international mailbox is an email address too',
    [],
    [email('plant.example')],
    [mailbox('größe@plant.example')],
    ['nameConstraints', 'excluded subtree violation'],
  ),
  under(
    'an international mailbox that is permitted',
    [email('plant.example')],
    [],
    [mailbox('größe@plant.example')],
    ['ok', 'ok'],
  ),
  under(
    'an international mailbox that is not',
    [email('plant.example')],
    [],
    [mailbox('größe@other.example')],
    ['nameConstraints', 'permitted subtree violation'],
  ),
  under(
    'an international host',
    [],
    [email('plant.example')],
    [mailbox('a@größe.example')],
    ['nameConstraints', 'ok', 'RFC 9598 §3: the host is in ASCII; there is no telling where it lies'],
  ),
  under(
    'a host with an @ is no mailbox and no host',
    [],
    [email('@plant.example')],
    [email('a@plant.example')],
    ['nameConstraints', 'excluded subtree violation'],
  ),
  under(
    'a backslash ends the host for browsers',
    [uri('plant.example')],
    [],
    [uri('https://evil.example\\@plant.example/')],
    ['nameConstraints', 'permitted subtree violation'],
  ),
  under(
    'a user with an @',
    [uri('plant.example')],
    [],
    [uri('https://a@evil.example@plant.example/')],
    ['nameConstraints', 'permitted subtree violation'],
  ),
  under(
    'an address in hexadecimal',
    [],
    [uri('plant.example')],
    [uri('https://0x7f000001/')],
    ['nameConstraints', 'ok', '§4.2.1.10: a URI without a host name has to be refused'],
  ),
  under(
    'an escaped host',
    [],
    [uri('plant.example')],
    [uri('https://plant%2eexample/')],
    ['nameConstraints', 'ok', 'there is no telling where it lies'],
  ),
  under(
    'a base that is no host name',
    [],
    [dns('*.plant.example')],
    [dns('a.plant.example')],
    ['nameConstraints', 'ok', 'a constraint that cannot be read refuses what it bears on'],
  ),
  under(
    'an empty label',
    [],
    [dns('plant.example')],
    [dns('a..plant.example')],
    ['nameConstraints', 'excluded subtree violation'],
  ),
  under(
    'a wildcard inside a label',
    [],
    [dns('a.plant.example')],
    [dns('a*.plant.example')],
    ['nameConstraints', 'ok', 'no host name: there is no telling where it lies'],
  ),
  under(
    'a soft hyphen, which nobody sees, in an excluded name',
    [],
    [directory('O=Secret')],
    [directory('CN=x,O=Sec\u00adret')],
    ['nameConstraints', 'ok', 'RFC 4518 §2.2: it counts for nothing'],
  ),
  under(
    'ß and SS',
    [],
    [directory('O=Straße')],
    [directory('CN=x,O=STRASSE')],
    ['nameConstraints', 'ok', 'RFC 4518 §2.2: the same without regard to case'],
  ),
  under(
    'the empty directory name holds all',
    [],
    [directory('')],
    [directory('CN=x')],
    ['nameConstraints', 'excluded subtree violation'],
  ),
  under(
    'an IPv4 address as an IPv6 one lies not among IPv4 ones',
    [{ kind: 'ip', value: Uint8Array.of(10, 0, 0, 0, 255, 0, 0, 0) }],
    [],
    [{ kind: 'ip', value: Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1) }],
    ['nameConstraints', 'permitted subtree violation'],
  ),
  row('nc: permitted subtrees without any', three({ middle: { with: [subtrees(0)] } }), [
    'malformed',
    'ok',
    '§4.2.1.10: at least one',
  ]),
  row('nc: excluded subtrees without any', three({ middle: { with: [subtrees(1)] } }), [
    'malformed',
    'ok',
    '§4.2.1.10: at least one',
  ]),
  row(
    'nc: an address without a mask',
    three({ middle: { with: [nc([{ kind: 'ip', value: Uint8Array.of(10, 0, 0, 0) }], [])] } }),
    ['malformed', 'ok', 'OpenSSL looks at it only when there is an address'],
  ),
];

const twin = party('CN=Issuing CA,O=Plant');
const third = party('CN=Issuing CA,O=Plant');
const again = (order: object) => certify(root, root, { ca: true, ...order });
const impostor = party('CN=Root CA,O=Plant');

const pathological: Row[] = [
  row(
    'pathological: an expired cross-certificate beside the trusted root',
    {
      leaf: leafDer,
      intermediates: [middleDer, certify(root, otherRoot, { ca: true, notAfter: noon - day })],
      anchors: [otherRootDer, rootDer],
    },
    valid,
  ),
  row(
    'pathological: two keys of one CA certify each other',
    {
      leaf: certify(device, twin),
      intermediates: [certify(twin, third, { ca: true }), certify(third, twin, { ca: true })],
      anchors: [rootDer],
    },
    ['unknownIssuer', 'unable to get local issuer certificate'],
  ),
  row(
    'pathological: two keys of one CA certify each other, and the root one of them',
    {
      leaf: certify(device, twin),
      intermediates: [
        certify(twin, third, { ca: true }),
        certify(third, twin, { ca: true }),
        certify(third, root, { ca: true }),
      ],
      anchors: [rootDer],
    },
    [
      'ok',
      'unable to get local issuer certificate',
      'OpenSSL goes with the first issuer that fits and never turns back',
    ],
  ),
  row(
    'pathological: a CA certifies itself',
    {
      leaf: leafDer,
      intermediates: [certify(middle, middle, { ca: true }), middleDer],
      anchors: [rootDer],
    },
    [
      'ok',
      'self-signed certificate in certificate chain',
      'OpenSSL goes with the first issuer that fits and never turns back',
    ],
  ),
  row(
    'pathological: the peer sends a root of the same name',
    {
      leaf: certify(device, impostor),
      intermediates: [certify(impostor, impostor, { ca: true })],
      anchors: [rootDer],
    },
    ['unknownIssuer', 'self-signed certificate in certificate chain'],
  ),
  row(
    'pathological: the peer sends such a root without key identifiers',
    (() => {
      const bare = { without: [oid.authorityKeyIdentifier, oid.subjectKeyIdentifier] };
      return {
        leaf: certify(device, impostor, bare),
        intermediates: [certify(impostor, impostor, { ca: true, ...bare })],
        anchors: [certify(root, root, { ca: true, ...bare })],
      };
    })(),
    ['badSignature', 'Missing Authority Key Identifier'],
  ),
  row(
    'pathological: a leaf that says it is issued by itself',
    {
      leaf: certify(device, device),
      intermediates: [],
      anchors: [rootDer],
    },
    ['unknownIssuer', 'self-signed certificate'],
  ),
  row(
    'pathological: the same CA a hundred times',
    {
      leaf: leafDer,
      intermediates: Array.from({ length: 100 }, () => middleDer),
      anchors: [rootDer],
    },
    valid,
  ),
  row(
    'pathological: one anchor of the key has a path length, the other none',
    {
      leaf: certify(device, twin),
      intermediates: [certify(twin, middle, { ca: true }), middleDer],
      anchors: [again({ pathLength: 0 }), again({})],
    },
    [
      'ok',
      'path length constraint exceeded',
      'OpenSSL goes with the first anchor that fits and never turns back',
    ],
  ),
  row(
    'pathological: of the anchors of one key each excludes the name',
    {
      leaf: leafDer,
      intermediates: [middleDer],
      anchors: ['O=Plant', 'CN=device-1,O=Plant'].map((name) => again({ with: [nc([], [directory(name)])] })),
    },
    ['nameConstraints', 'excluded subtree violation'],
  ),
  row(
    'pathological: the anchor is sent too, changed, by the peer',
    {
      leaf: leafDer,
      intermediates: [middleDer, again({ pathLength: 5 })],
      anchors: [again({ with: [nc([], [directory('O=Plant')])] })],
    },
    ['nameConstraints', 'excluded subtree violation'],
  ),
  row(
    'pathological: a CA revoked by one root is certified by another',
    {
      leaf: leafDer,
      intermediates: [
        certify(middle, root, { ca: true, serial: Uint8Array.of(9, 9, 9) }),
        certify(middle, otherRoot, { ca: true }),
      ],
      anchors: [rootDer, otherRootDer],
    },
    ['ok', 'ok'],
    { revoked: [Uint8Array.of(9, 9, 9)] },
  ),
];

const names: Row[] = [
  row(
    'the same name with what nobody sees in it',
    three({
      leaf: {
        issuer: buildName(
          middle.name.rdns.map((rdn) =>
            rdn.map((one) => ({ ...one, value: one.value.replace('CA', 'C\u200bA') })),
          ),
        ),
      },
    }),
    ['ok', 'unable to get local issuer certificate', 'RFC 4518 §2.2: it counts for nothing'],
  ),
];

export const rowsOfLimbo: readonly Row[] = [
  ...hints,
  ...times,
  ...numbers,
  ...structure,
  ...constraints,
  ...pathological,
  ...names,
];
