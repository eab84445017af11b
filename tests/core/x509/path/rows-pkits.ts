import { der } from '#core/der/builder.ts';
import { tag } from '#core/der/tag.ts';
import { basicConstraintsExtension, keyUsageExtension } from '#core/x509/extensions/usage.ts';
import { attribute, buildName, parseDistinguishedName } from '#core/x509/name.ts';
import { oid } from '#core/x509/oids.ts';
import { noon } from './certify.ts';
import { flipped, type Row, row, type Verdict } from './row.ts';
import { chainOf, type Step } from './steps.ts';

// The tests of NIST's Public Key Interoperability Test Suite (PKITS) 1.0.1, by number and name, with our own
// certificates. Not included: DSA (4.1.4 to 4.1.6), CRLs, which path validation leaves to its caller (4.4,
// 4.14, 4.15), and tests with initial policies.

const valid: Verdict = ['ok', 'ok'];
const root: Step = {};
const day = 24 * 3600 * 1000;

/** Returns a validity with these times as they are written. */
const times = (notBefore: string, notAfter: string): Step => ({
  raw: {
    validity: der((b) =>
      b.sequence((s) => {
        for (const time of [notBefore, notAfter]) {
          s.string(time, time.length === 13 ? tag.utcTime : tag.generalizedTime);
        }
      }),
    ),
  },
});

const good = chainOf(root, {}, {});

const signatures: Row[] = [
  row('4.1.1 Valid Signatures', good, valid),
  row('4.1.2 Invalid CA Signature', { ...good, intermediates: good.intermediates.map(flipped) }, [
    'badSignature',
    'certificate signature failure',
  ]),
  row('4.1.3 Invalid EE Signature', { ...good, leaf: flipped(good.leaf) }, [
    'badSignature',
    'certificate signature failure',
  ]),
];

const notYet: Verdict = ['notYetValid', 'certificate is not yet valid'];
const expired: Verdict = ['expired', 'certificate has expired'];

const validity: Row[] = [
  row('4.2.1 Invalid CA notBefore Date', chainOf(root, { notBefore: noon + day }, {}), notYet),
  row('4.2.2 Invalid EE notBefore Date', chainOf(root, {}, { notBefore: noon + day }), notYet),
  row(
    '4.2.3 Valid pre2000 UTC notBefore Date',
    chainOf(root, {}, times('500101000000Z', '490101000000Z')),
    valid,
  ),
  row(
    '4.2.4 Valid GeneralizedTime notBefore Date',
    chainOf(root, {}, times('20200101000000Z', '490101000000Z')),
    valid,
  ),
  row('4.2.5 Invalid CA notAfter Date', chainOf(root, { notAfter: noon - day }, {}), expired),
  row('4.2.6 Invalid EE notAfter Date', chainOf(root, {}, { notAfter: noon - day }), expired),
  row(
    '4.2.7 Invalid pre2000 UTC EE notAfter Date',
    chainOf(root, {}, times('970101000000Z', '990101000000Z')),
    expired,
  ),
  row(
    '4.2.8 Valid GeneralizedTime notAfter Date',
    chainOf(root, {}, times('200101000000Z', '20500101000000Z')),
    valid,
  ),
];

/** The subject of the CA, and the issuer in the leaf. */
const called = (ca: string, issuer: string) =>
  chainOf(root, { name: ca }, { issuer: parseDistinguishedName(issuer) });
const inTag = (identifier: number, text: string, type = 'CN') =>
  buildName([[{ ...attribute(type, text), tag: identifier }]]);
const every = (...types: string[]) => `CN=CA,${types.map((type) => `${type}=x`).join(',')}`;

const names: Row[] = [
  row('4.3.1 Invalid Name Chaining EE', called('CN=Good CA', 'CN=Good CA Root'), [
    'unknownIssuer',
    'unable to get local issuer certificate',
  ]),
  row('4.3.2 Invalid Name Chaining Order', called('CN=CA,OU=b,O=a', 'CN=CA,O=a,OU=b'), [
    'unknownIssuer',
    'unable to get local issuer certificate',
  ]),
  row('4.3.3 Valid Name Chaining Whitespace', called('CN=Good CA', 'CN=Good     CA'), valid),
  row('4.3.4 Valid Name Chaining Whitespace', called('CN=Good CA', 'CN=\\ \\  Good  CA\\ '), valid),
  row('4.3.5 Valid Name Chaining Capitalization', called('CN=Good CA', 'CN=GOOD CA'), valid),
  row('4.3.6 Valid Name UIDs', called('UID=7,CN=CA', 'UID=7,CN=CA'), valid),
  row(
    '4.3.7 Valid RFC3280 Mandatory Attribute Types',
    (() => {
      const name = `${every('O', 'OU', 'serialNumber', 'ST', 'dnQualifier', 'DC')},C=DE`;
      return called(name, name);
    })(),
    valid,
  ),
  row(
    '4.3.8 Valid RFC3280 Optional Attribute Types',
    (() => {
      const name = every('L', 'title', 'SN', 'GN', 'initials', 'pseudonym', 'generationQualifier');
      return called(name, name);
    })(),
    valid,
  ),
  row('4.3.9 Valid UTF8String Encoded Names', called('CN=Größe', 'CN=Größe'), valid),
  row(
    '4.3.10 Valid Rollover from PrintableString to UTF8String',
    chainOf(root, { subject: inTag(tag.utf8String, 'CA') }, { issuer: inTag(tag.printableString, 'CA') }),
    valid,
  ),
  row('4.3.11 Valid UTF8String Case Insensitive Match', called('CN=good CA', 'CN=GOOD  ca'), valid),
];

const noCa: Verdict = ['notACa', 'invalid CA certificate'];
const tooLong: Verdict = ['pathTooLong', 'path length constraint exceeded'];
const looseCa = (ca: boolean) => ({ ...basicConstraintsExtension({ ca }), critical: false });
const usage = (critical: boolean) => ({ ...keyUsageExtension(['cRLSign', 'digitalSignature']), critical });
const length = (pathLength: number): Step => ({ pathLength });
const self: Step = { self: true };

const selfIssued: Row[] = [
  row('4.5.1 Valid Basic Self-Issued Old With New', chainOf(root, {}, self, {}), valid),
  row('4.5.3 Valid Basic Self-Issued New With Old', chainOf(root, self, {}, {}), valid),
  row('4.5.4 Valid Basic Self-Issued New With Old', chainOf(root, self, self, {}), valid),
  row(
    '4.5.8 Invalid Basic Self-Issued CRL Signing Key',
    chainOf(root, {}, { self: true, with: [keyUsageExtension(['cRLSign'])] }, {}),
    ['keyUsage', 'invalid CA certificate'],
  ),
];

const basicConstraints: Row[] = [
  row('4.6.1 Invalid Missing basicConstraints', chainOf(root, { without: [oid.basicConstraints] }, {}), noCa),
  row(
    '4.6.2 Invalid cA False',
    chainOf(root, { with: [basicConstraintsExtension({ ca: false })] }, {}),
    noCa,
  ),
  row('4.6.3 Invalid cA False', chainOf(root, { with: [looseCa(false)] }, {}), noCa),
  row('4.6.4 Valid basicConstraints Not Critical', chainOf(root, { with: [looseCa(true)] }, {}), [
    'ok',
    'Basic Constraints of CA cert not marked critical',
    '§4.2.1.9 binds CAs, §6.1.4 (k) only looks at the value',
  ]),
  row('4.6.5 Invalid pathLenConstraint', chainOf(root, length(0), {}, {}), tooLong),
  row('4.6.6 Invalid pathLenConstraint', chainOf(root, length(0), {}, { ca: true }), tooLong),
  row('4.6.7 Valid pathLenConstraint', chainOf(root, length(0), {}), valid),
  row('4.6.8 Valid pathLenConstraint', chainOf(root, length(0), { ca: true }), valid),
  row('4.6.9 Invalid pathLenConstraint', chainOf(root, length(6), length(0), length(0), {}), tooLong),
  row(
    '4.6.10 Invalid pathLenConstraint',
    chainOf(root, length(6), length(0), length(0), { ca: true }),
    tooLong,
  ),
  row(
    '4.6.11 Invalid pathLenConstraint',
    chainOf(root, length(6), length(1), length(1), length(0), {}),
    tooLong,
  ),
  row(
    '4.6.12 Invalid pathLenConstraint',
    chainOf(root, length(6), length(1), length(1), length(0), { ca: true }),
    tooLong,
  ),
  row('4.6.13 Valid pathLenConstraint', chainOf(root, length(6), length(4), length(1), length(1), {}), valid),
  row(
    '4.6.14 Valid pathLenConstraint',
    chainOf(root, length(6), length(4), length(1), length(1), { ca: true }),
    valid,
  ),
  row('4.6.15 Valid Self-Issued pathLenConstraint', chainOf(root, length(0), self, {}), valid),
  row('4.6.16 Invalid Self-Issued pathLenConstraint', chainOf(root, length(0), self, {}, {}), tooLong),
  row('4.6.17 Valid Self-Issued pathLenConstraint', chainOf(root, length(1), self, {}, self, {}), valid),
];

const keyUsage: Row[] = [
  row('4.7.1 Invalid keyUsage Critical keyCertSign False', chainOf(root, { with: [usage(true)] }, {}), [
    'keyUsage',
    'invalid CA certificate',
  ]),
  row('4.7.2 Invalid keyUsage Not Critical keyCertSign False', chainOf(root, { with: [usage(false)] }, {}), [
    'keyUsage',
    'invalid CA certificate',
  ]),
  row(
    '4.7.3 Valid keyUsage Not Critical',
    chainOf(root, { with: [{ ...keyUsageExtension(['keyCertSign', 'cRLSign']), critical: false }] }, {}),
    valid,
  ),
];

const strange = (critical: boolean): Step => ({
  with: [{ oid: '2.16.840.1.101.2.1.12.2', critical, value: Uint8Array.of(5, 0) }],
});

const privateExtensions: Row[] = [
  row('4.16.1 Valid Unknown Not Critical Certificate Extension', chainOf(root, {}, strange(false)), valid),
  row('4.16.2 Invalid Unknown Critical Certificate Extension', chainOf(root, {}, strange(true)), [
    'unknownCriticalExtension',
    'unhandled critical extension',
  ]),
];

export const rowsOfPkits: readonly Row[] = [
  ...signatures,
  ...validity,
  ...names,
  ...selfIssued,
  ...basicConstraints,
  ...keyUsage,
  ...privateExtensions,
];
