import type { Extension } from '#core/x509/extension.ts';
import { subjectAltNameExtension } from '#core/x509/extensions/identity.ts';
import { nameConstraintsExtension } from '#core/x509/extensions/name-constraints.ts';
import type { GeneralName } from '#core/x509/general-name.ts';
import { parseDistinguishedName } from '#core/x509/name.ts';
import { type Row, row, type Verdict } from './row.ts';
import { chainOf, type Step } from './steps.ts';

// PKITS 4.13.

type Base = readonly ['email' | 'dns' | 'uri' | 'directory', string];

const nameOf = ([kind, value]: Base): GeneralName =>
  kind === 'directory' ? { kind, value: parseDistinguishedName(value) } : { kind, value };

/** Permitted, or excluded. */
type Subtree = readonly [sign: '+' | '-', ...Base];

/** `+` before permitted bases, `-` before excluded ones. */
function constraints(...bases: readonly Subtree[]): Extension {
  const of = (sign: '+' | '-') =>
    bases.filter(([which]) => which === sign).map(([, kind, value]) => nameOf([kind, value]));
  return nameConstraintsExtension({ permitted: of('+'), excluded: of('-') });
}

const organisation = 'O=Test Certificates,C=US';
const subtree = (name: string) => `OU=${name},${organisation}`;
const [permitted1, permitted2] = [subtree('permittedSubtree1'), subtree('permittedSubtree2')];
const [excluded1, excluded2] = [subtree('excludedSubtree1'), subtree('excludedSubtree2')];

/** Returns a CA with this name and these constraints. */
const ca = (name: string, ...bases: readonly Subtree[]): Step => ({
  name,
  with: [constraints(...bases)],
});
/** Returns an end entity with this name and these alternative names. */
const ee = (name: string, ...names: readonly Base[]): Step => ({
  name,
  ...(names.length > 0 && { with: [subjectAltNameExtension(names.map(nameOf))] }),
});

const dn = (sign: '+' | '-', name: string) => [sign, 'directory', name] as const;
const device = (below: string) => `CN=EE,${below}`;
const ca1 = 'CN=nameConstraints CA,O=Test Certificates,C=US';

const dn1 = ca(ca1, dn('+', permitted1));
const dn2 = ca(ca1, dn('+', permitted1), dn('+', permitted2));
const dn3 = ca(ca1, dn('-', excluded1));
const dn4 = ca(ca1, dn('-', excluded1), dn('-', excluded2));
const dn5 = ca(ca1, dn('+', permitted1), dn('-', `OU=excludedSubtree1,${permitted1}`));
const sub = (below: string, ...bases: readonly Subtree[]) => ca(`CN=subCA,${below}`, ...bases);
const mail1 = ca(ca1, ['+', 'email', '.testcertificates.gov']);
const mail2 = ca(ca1, ['+', 'email', 'testcertificates.gov']);
const mail3 = ca(ca1, ['-', 'email', 'testcertificates.gov']);
const dns1 = ca(ca1, ['+', 'dns', 'testcertificates.gov']);
const dns2 = ca(ca1, ['-', 'dns', 'invalidcertificates.gov']);
const uri1 = ca(ca1, ['+', 'uri', '.testcertificates.gov']);
const uri2 = ca(ca1, ['-', 'uri', 'invalidcertificates.gov']);
const both = sub(permitted1, ['+', 'email', 'testcertificates.gov']);

const valid: Verdict = ['ok', 'ok'];
const notPermitted: Verdict = ['nameConstraints', 'permitted subtree violation'];
const excluded: Verdict = ['nameConstraints', 'excluded subtree violation'];
const plain = device(organisation);

const tests: readonly (readonly [test: string, verdict: Verdict, ...below: readonly Step[]])[] = [
  ['4.13.1 Valid DN nameConstraints', valid, dn1, ee(device(permitted1))],
  ['4.13.2 Invalid DN nameConstraints', notPermitted, dn1, ee(device(excluded1))],
  [
    '4.13.3 Invalid DN nameConstraints',
    notPermitted,
    dn1,
    ee(device(permitted1), ['directory', device(excluded1)]),
  ],
  [
    '4.13.4 Valid DN nameConstraints',
    valid,
    dn1,
    ee(device(permitted1), ['email', 'test@testcertificates.gov']),
  ],
  ['4.13.5 Valid DN nameConstraints', valid, dn2, ee(device(permitted2))],
  ['4.13.6 Valid DN nameConstraints', valid, dn3, ee(device(permitted1))],
  ['4.13.7 Invalid DN nameConstraints', excluded, dn3, ee(device(excluded1))],
  ['4.13.8 Invalid DN nameConstraints', excluded, dn4, ee(device(excluded1))],
  ['4.13.9 Invalid DN nameConstraints', excluded, dn4, ee(device(excluded2))],
  ['4.13.10 Invalid DN nameConstraints', excluded, dn5, ee(device(`OU=excludedSubtree1,${permitted1}`))],
  ['4.13.11 Valid DN nameConstraints', valid, dn5, ee(device(`OU=permittedSubtree2,${permitted1}`))],
  [
    '4.13.12 Invalid DN nameConstraints',
    notPermitted,
    dn1,
    sub(permitted1, dn('+', `OU=permittedSubtree2,${permitted1}`)),
    ee(device(permitted1)),
  ],
  [
    '4.13.13 Invalid DN nameConstraints',
    notPermitted,
    dn1,
    sub(permitted1, dn('+', permitted2)),
    ee(device(permitted2)),
  ],
  [
    '4.13.14 Valid DN nameConstraints',
    valid,
    dn1,
    { name: `CN=subCA,${permitted1}` },
    ee(device(permitted1)),
  ],
  [
    '4.13.15 Invalid DN nameConstraints',
    excluded,
    dn3,
    sub(permitted1, dn('-', excluded2)),
    ee(device(excluded1)),
  ],
  [
    '4.13.16 Invalid DN nameConstraints',
    excluded,
    dn3,
    sub(permitted1, dn('-', excluded2)),
    ee(device(excluded2)),
  ],
  [
    '4.13.17 Invalid DN nameConstraints',
    notPermitted,
    dn3,
    sub(permitted1, dn('+', permitted1)),
    ee(device(permitted2)),
  ],
  [
    '4.13.18 Valid DN nameConstraints',
    valid,
    dn3,
    sub(permitted1, dn('+', permitted1)),
    ee(device(permitted1)),
  ],
  ['4.13.19 Valid Self-Issued DN nameConstraints', valid, dn1, { self: true }, ee(device(permitted1))],
  ['4.13.20 Invalid Self-Issued DN nameConstraints', notPermitted, dn1, { self: true }, ee(ca1)],
  ['4.13.21 Valid RFC822 nameConstraints', valid, mail1, ee(plain, ['email', 'a@mail.testcertificates.gov'])],
  [
    '4.13.22 Invalid RFC822 nameConstraints',
    notPermitted,
    mail1,
    ee(plain, ['email', 'a@testcertificates.gov']),
  ],
  ['4.13.23 Valid RFC822 nameConstraints', valid, mail2, ee(plain, ['email', 'a@testcertificates.gov'])],
  [
    '4.13.24 Invalid RFC822 nameConstraints',
    notPermitted,
    mail2,
    ee(plain, ['email', 'a@mail.testcertificates.gov']),
  ],
  ['4.13.25 Valid RFC822 nameConstraints', valid, mail3, ee(plain, ['email', 'a@mail.testcertificates.gov'])],
  ['4.13.26 Invalid RFC822 nameConstraints', excluded, mail3, ee(plain, ['email', 'a@testcertificates.gov'])],
  [
    '4.13.27 Valid DN and RFC822 nameConstraints',
    valid,
    dn1,
    both,
    ee(device(permitted1), ['email', 'a@testcertificates.gov']),
  ],
  [
    '4.13.28 Invalid DN and RFC822 nameConstraints',
    notPermitted,
    dn1,
    both,
    ee(device(permitted1), ['email', 'a@invalidcertificates.gov']),
  ],
  [
    '4.13.29 Invalid DN and RFC822 nameConstraints',
    notPermitted,
    dn1,
    both,
    ee(`emailAddress=a@invalidcertificates.gov,${device(permitted1)}`),
  ],
  ['4.13.30 Valid DNS nameConstraints', valid, dns1, ee(plain, ['dns', 'server.testcertificates.gov'])],
  [
    '4.13.31 Invalid DNS nameConstraints',
    notPermitted,
    dns1,
    ee(plain, ['dns', 'server.invalidcertificates.gov']),
  ],
  ['4.13.32 Valid DNS nameConstraints', valid, dns2, ee(plain, ['dns', 'server.testcertificates.gov'])],
  [
    '4.13.33 Invalid DNS nameConstraints',
    excluded,
    dns2,
    ee(plain, ['dns', 'server.invalidcertificates.gov']),
  ],
  [
    '4.13.34 Valid URI nameConstraints',
    valid,
    uri1,
    ee(plain, ['uri', 'http://server.testcertificates.gov/index.html']),
  ],
  [
    '4.13.35 Invalid URI nameConstraints',
    notPermitted,
    uri1,
    ee(plain, ['uri', 'http://testcertificates.gov/index.html']),
  ],
  [
    '4.13.36 Valid URI nameConstraints',
    valid,
    uri2,
    ee(plain, ['uri', 'ftp://testcertificates.gov:21/test37/']),
  ],
  [
    '4.13.37 Invalid URI nameConstraints',
    excluded,
    uri2,
    ee(plain, ['uri', 'ftp://invalidcertificates.gov:21/test37/']),
  ],
  ['4.13.38 Invalid DNS nameConstraints', notPermitted, dns1, ee(plain, ['dns', 'mytestcertificates.gov'])],
];

export const rowsOfPkitsNames: readonly Row[] = tests.map(([test, verdict, ...below]) =>
  row(test, chainOf({}, ...below), verdict),
);
