import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { patterns } from '#adapters/outbound/system/patterns.ts';
import { Fault } from '#core/fault.ts';
import { profileRulesSchema } from '#core/profiles/language.ts';
import { parseProfileRules } from '#core/profiles/parse.ts';
import { runs } from '#tests/property.ts';
import { parse, plain, refusal } from './rehearsal.ts';

const validity = plain.validity;
const refused = (rules: unknown): string => refusal(() => parse(rules));

describe('an invalid profile is rejected with the place of the problem', () => {
  const rows: readonly [rules: unknown, problem: string][] = [
    // form
    [null, 'profile: expected object'],
    ['tls', 'profile: expected object'],
    [[], 'profile: expected object'],
    [{}, 'profile.validity: is missing'],
    [{ validity, subjects: {} }, 'profile.subjects: unknown member'],
    [{ validity: { duration: 'P1Y', from: 'now' } }, 'profile.validity.from: unknown member'],
    [{ validity, subject: { CN: { fix: 'x' } } }, 'profile.subject.CN.fix: unknown member'],
    [{ validity, subject: { CN: 'pump-1' } }, 'profile.subject.CN: expected object'],
    [{ validity, subject: { 'C N': {} } }, 'profile.subject.C N: unknown member'],
    [{ validity, subject: { CN: { fixed: '' } } }, 'profile.subject.CN.fixed: must be a template'],
    [{ validity, subject: { CN: { fixed: [] } } }, 'profile.subject.CN.fixed: must be a template'],
    [{ validity, subject: { CN: { fixed: 'x'.repeat(257) } } }, 'profile.subject.CN.fixed: must be'],
    [{ validity, subject: { CN: { most: 0 } } }, 'profile.subject.CN.most: expected integer'],
    [
      { validity, subject: { CN: { unfit: 'keep' } } },
      'profile.subject.CN.unfit: must be one of refuse, drop',
    ],
    [{ validity, others: { subject: 'allow' } }, 'profile.others.subject: must be one of refuse, drop, keep'],
    [{ validity, keys: { allowed: ['rsa-1024'] } }, 'profile.keys.allowed.0: expected string to match'],
    [{ validity, keys: { allowed: ['brainpool'] } }, 'profile.keys.allowed.0: expected string to match'],
    [{ validity, keys: { minimumRsaBits: 1024 } }, 'profile.keys.minimumRsaBits: expected integer'],
    [
      { validity, extensions: { keyUsage: { fixed: ['sign'] } } },
      'profile.extensions.keyUsage.fixed.0: must be one of digitalSignature, nonRepudiation',
    ],
    [{ validity, subjectAltName: { upn: {} } }, 'profile.subjectAltName.upn: unknown member'],
    [{ validity, subjectAltName: { otherName: {} } }, 'profile.subjectAltName.otherName.types: is missing'],
    [
      { validity, subjectAltName: { directory: { fixed: 'pump' } } },
      'profile.subjectAltName.directory.fixed: "pump" is not a valid directory name',
    ],
    [
      { validity, subjectAltName: { registeredId: { fixed: '1.x' } } },
      'profile.subjectAltName.registeredId.fixed: "1.x" is not a valid registered ID',
    ],
    [
      { validity, subjectAltName: { otherName: { types: ['1.2.3'], fixed: '1.2.4;a' } } },
      'profile.subjectAltName.otherName.fixed: "1.2.4;a" is of a type that the profile does not allow',
    ],
    [
      { validity, subjectAltName: { otherName: { types: ['1.2.3'], fixed: '1.2.3;#0c' } } },
      'profile.subjectAltName.otherName.fixed: "1.2.3;#0c" is not one DER element',
    ],
    [
      { validity, subjectAltName: { otherName: { types: ['1.2.3'], fixed: '1.2.3;#zz' } } },
      'profile.subjectAltName.otherName.fixed: "1.2.3;#zz" is not hexadecimal',
    ],
    // templates
    [
      { validity, subject: { CN: { fixed: '{device.name}' } } },
      'profile.subject.CN.fixed: no field {device.name}; use one of {device.id}, {device.common_name}',
    ],
    [{ validity, subject: { CN: { default: 'a{' } } }, 'profile.subject.CN.default: a lone "{"'],
    [
      { validity, subject: { O: { fixed: '{request.common_name}' } } },
      'profile.subject.O.fixed: rules of the subject cannot take values from the request',
    ],
    [
      { validity, subject: { O: { pattern: '{request.common_name}' } } },
      'profile.subject.O.pattern: rules of the subject cannot take values from the request',
    ],
    // attribute types
    [
      { validity, subject: { commonname: {}, CN: {} } },
      'profile.subject.CN: this attribute type occurs twice',
    ],
    [
      { validity, subject: { CN: {}, '2.5.4.3': {} } },
      'profile.subject.2.5.4.3: this attribute type occurs twice',
    ],
    [{ validity, subject: { nickname: {} } }, 'profile.subject.nickname: unknown attribute type'],
    [{ validity, subject: { '3.1': {} } }, 'profile.subject.3.1: unknown member'],
    // values that can never be valid
    [
      { validity, subject: { C: { fixed: 'DEU' } } },
      'profile.subject.C.fixed: "DEU" is not a country code of two letters',
    ],
    [{ validity, subject: { CN: { fixed: 'x'.repeat(65) } } }, 'profile.subject.CN.fixed: "xxx'],
    [
      { validity, subject: { CN: { allowed: ['ok', 'a\nb'] } } },
      'profile.subject.CN.allowed: "a\\u{a}b" has control characters',
    ],
    [
      { validity, subject: { O: { default: 'acme', pattern: '[A-Z]+' } } },
      'profile.subject.O.default: "acme" does not match the pattern "[A-Z]+"',
    ],
    [
      { validity, subject: { O: { default: 'x', allowed: ['y'] } } },
      'profile.subject.O.default: "x" is not among the allowed',
    ],
    [
      { validity, subjectAltName: { dns: { fixed: ['a.example', 'a b'] } } },
      'profile.subjectAltName.dns.fixed: "a b" is not a valid DNS name',
    ],
    [
      { validity, subjectAltName: { ip: { default: '10.0.0.256' } } },
      'profile.subjectAltName.ip.default: "10.0.0.256" is not a valid IP address',
    ],
    [
      { validity, subjectAltName: { uri: { allowed: ['no-scheme'] } } },
      'profile.subjectAltName.uri.allowed: "no-scheme" is not a valid URI',
    ],
    // contradictions
    [
      { validity, subject: { CN: { forbidden: true, required: true } } },
      'profile.subject.CN.required: has no effect beside forbidden',
    ],
    [
      { validity, subject: { CN: { fixed: 'x', default: 'y' } } },
      'profile.subject.CN.default: has no effect beside fixed',
    ],
    [
      { validity, subject: { OU: { default: ['a', 'b'], most: 1 } } },
      'profile.subject.OU.default: has more values than the 1 allowed',
    ],
    [
      { validity, subjectAltName: { atLeastOneOf: ['dns'] } },
      'profile.subjectAltName.atLeastOneOf: has dns, for which there is no rule',
    ],
    // patterns
    [{ validity, subject: { CN: { pattern: '(' } } }, 'profile.subject.CN.pattern: invalid pattern'],
    [{ validity, subject: { CN: { pattern: '(a)\\1' } } }, 'profile.subject.CN.pattern: invalid pattern'],
    [{ validity, subject: { CN: { pattern: '(?=a)a' } } }, 'profile.subject.CN.pattern: invalid pattern'],
    [{ validity, subject: { CN: { pattern: '((a{100}){100}){100}' } } }, 'profile.subject.CN.pattern: '],
    [{ validity, subject: { CN: { pattern: 'a'.repeat(1001) } } }, 'profile.subject.CN.pattern: expected'],
    [
      { validity, subject: { CN: { pattern: '{device.secret}' } } },
      'profile.subject.CN.pattern: there are only the fields {device.id}',
    ],
    // keys and validity
    [
      { validity, keys: { allowed: ['p-256'], minimumRsaBits: 3072 } },
      'profile.keys.minimumRsaBits: has no effect, because no RSA key is allowed',
    ],
    [
      { validity, keys: { allowed: ['rsa-2048'], minimumRsaBits: 3072 } },
      'profile.keys.allowed: rsa-2048 is below the 3072 bits',
    ],
    [{ validity: {} }, 'profile.validity: needs either duration or until'],
    [
      { validity: { duration: 'P1Y', until: '2030-01-01T00:00:00Z' } },
      'profile.validity: needs either duration or until',
    ],
    [{ validity: { duration: '1 year' } }, 'profile.validity.duration: is not an ISO 8601 duration'],
    [{ validity: { until: '2030-02-30T00:00:00Z' } }, 'profile.validity.until: is not a UTC time'],
    [{ validity: { until: '2030-01-01' } }, 'profile.validity.until: is not a UTC time'],
    [{ validity: { until: '2030-01-01T00:00:00+1' } }, 'profile.validity.until: expected string'],
    // extensions
    [
      { validity, extensions: { keyUsage: { fixed: ['keyCertSign'] } } },
      'profile.extensions.keyUsage.fixed: keyCertSign needs basicConstraints with ca: true',
    ],
    [
      {
        validity,
        extensions: {
          keyUsage: { default: ['digitalSignature'], allowed: ['digitalSignature', 'keyCertSign'] },
        },
      },
      'profile.extensions.keyUsage.allowed: keyCertSign needs basicConstraints with ca: true',
    ],
    [
      { validity, extensions: { basicConstraints: { ca: true } } },
      'profile.extensions.keyUsage.fixed: a CA needs keyCertSign here',
    ],
    [
      { validity, extensions: { basicConstraints: { ca: false, pathLength: 0 } } },
      'profile.extensions.basicConstraints.pathLength: is for a CA (ca: true) only',
    ],
    [{ validity, extensions: { keyUsage: {} } }, 'profile.extensions.keyUsage: allows nothing'],
    [
      { validity, extensions: { keyUsage: { default: ['cRLSign'], allowed: ['digitalSignature'] } } },
      'profile.extensions.keyUsage.default: cRLSign is not among the allowed',
    ],
    [
      { validity, extensions: { keyUsage: { fixed: ['cRLSign'], required: ['cRLSign'] } } },
      'profile.extensions.keyUsage.required: has no effect beside fixed',
    ],
    [
      { validity, extensions: { keyUsage: { forbidden: true, fixed: ['cRLSign'] } } },
      'profile.extensions.keyUsage.fixed: has no effect beside forbidden',
    ],
    [
      { validity, extensions: { extendedKeyUsage: { fixed: ['webServer'] } } },
      'profile.extensions.extendedKeyUsage.fixed: webServer is neither an OID nor one of serverAuth',
    ],
    [
      { validity, extensions: { extendedKeyUsage: { fixed: ['1.99.1'] } } },
      'profile.extensions.extendedKeyUsage.fixed: 1.99.1 is neither an OID',
    ],
    [
      { validity, extensions: { crlDistributionPoints: { service: false } } },
      'profile.extensions.crlDistributionPoints: has no URL',
    ],
    [
      { validity, extensions: { crlDistributionPoints: { service: true, urls: ['/crl'] } } },
      'profile.extensions.crlDistributionPoints.urls: "/crl" is not a URI with the scheme http or ldap',
    ],
    [
      { validity, extensions: { authorityInfoAccess: { service: true, ocsp: ['https://x/ocsp'] } } },
      'profile.extensions.authorityInfoAccess.ocsp: "https://x/ocsp" is not a URI with the scheme http',
    ],
    [
      { validity, extensions: { authorityInfoAccess: { service: false } } },
      'profile.extensions.authorityInfoAccess: has no URL',
    ],
    [
      { validity, extensions: { certificatePolicies: { policies: [{ oid: '1.2.3' }, { oid: '1.2.3' }] } } },
      'profile.extensions.certificatePolicies.policies: a policy occurs twice',
    ],
    [
      { validity, extensions: { certificatePolicies: { policies: [{ oid: '1.2.3', cps: 'see page 5' }] } } },
      'profile.extensions.certificatePolicies.policies: cps is not a URI',
    ],
    [
      { validity, extensions: { certificatePolicies: { policies: [{ oid: '1.99.3' }] } } },
      'profile.extensions.certificatePolicies.policies: 1.99.3 is not an OID',
    ],
    [
      { validity, extensions: { custom: { '2.5.29.19': { fixed: { hex: '30030101ff' } } } } },
      'profile.extensions.custom.2.5.29.19: the profile language has a member for this extension',
    ],
    [
      { validity, extensions: { custom: { '2.5.29.30': {} } } },
      'profile.extensions.custom.2.5.29.30: this extension can only be fixed',
    ],
    [
      { validity, extensions: { custom: { '1.99.4': {} } } },
      'profile.extensions.custom.1.99.4: is not an OID',
    ],
    [
      { validity, extensions: { custom: { '1.99.4': { fixed: { hex: '0500' } } } } },
      'profile.extensions.custom.1.99.4: is not an OID',
    ],
    [
      { validity, extensions: { custom: { '1.2.3.4': { fixed: { hex: '0c01' } } } } },
      'profile.extensions.custom.1.2.3.4.fixed: "#0c01" is not one DER element',
    ],
    [
      { validity, extensions: { custom: { '1.2.3.4': { fixed: { hex: '0c0141ff' } } } } },
      'profile.extensions.custom.1.2.3.4.fixed: "#0c0141ff" is not one DER element',
    ],
    [
      { validity, extensions: { custom: { '1.2.3.4': { fixed: { hex: 'zzzz' } } } } },
      'profile.extensions.custom.1.2.3.4.fixed: is not hexadecimal',
    ],
    [
      { validity, extensions: { custom: { '1.2.3.4': { default: { base64: 'DAFB=' } } } } },
      'profile.extensions.custom.1.2.3.4.default: is not base64',
    ],
    [
      { validity, extensions: { custom: { '1.2.3.4': { fixed: { hex: '0500', text: 'x' } } } } },
      'profile.extensions.custom.1.2.3.4.fixed: needs one of hex, base64 and text',
    ],
    [
      { validity, extensions: { custom: { '1.2.3.4': { fixed: { text: '{x}' } } } } },
      'profile.extensions.custom.1.2.3.4.fixed.text: no field {x}',
    ],
    [
      { validity, extensions: { custom: { '1.2.3.4': { fixed: { hex: '0500' }, pattern: 'x' } } } },
      'profile.extensions.custom.1.2.3.4.fixed: "#0500" is not text, so the pattern cannot match',
    ],
  ];
  for (const [rules, problem] of rows) {
    test(problem.slice(0, 100), () => {
      expect(refused(rules)).toStartWith(`malformed: ${problem}`);
    });
  }
});

test('the Fault names the field, and lists up to ten problems', () => {
  const subject = Object.fromEntries('ABCDEFGHIJKLMN'.split('').map((letter) => [`x${letter}`, {}]));
  try {
    parse({ validity: { duration: 'x' }, subject, keys: { allowed: ['p-256'], minimumRsaBits: 2048 } });
    throw new Error('was accepted');
  } catch (error) {
    const { field, detail } = error as Fault;
    expect(field).toBe('profile');
    expect(detail.split('; write its OID').length + detail.split('profile.').length).toBeGreaterThan(10);
    expect(detail.match(/profile\./g)).toHaveLength(10);
  }
});

test('names of unknown members are shortened and escaped in messages', () => {
  const detail = refused({ validity, [`\u202e\n${'x'.repeat(100_000)}`]: 1 });
  expect(detail).toStartWith('malformed: profile.\\u{202e}\\u{a}xxx');
  expect(detail.length).toBeLessThan(600);
});

test('the schema is plain JSON Schema', () => {
  const schema = JSON.parse(JSON.stringify(profileRulesSchema));
  expect(schema.type).toBe('object');
  expect(schema.additionalProperties).toBe(false);
  expect(Object.keys(schema.properties)).toContain('validity');
  expect(schema.properties.validity.description).toBeString();
});

test('rules with every member are accepted and read as they were written', () => {
  const rules = {
    description: 'all of it',
    keys: { allowed: ['rsa', 'rsa-4096', 'p-256', 'ml-dsa-65'], minimumRsaBits: 3072 },
    validity: { until: '9999-12-31T23:59:59Z' },
    subject: {
      CN: { fixed: '{device.common_name}', unfit: 'drop' },
      OU: { default: ['{domain.unique_name}', 'Pumps {{west}}'], most: 3, pattern: '.{1,32}' },
      '1.2.3.4.5': { allowed: ['a', 'b'], required: true },
      emailAddress: { forbidden: true },
    },
    subjectAltName: {
      dns: { pattern: '{device.common_name}\\..*', wildcards: true },
      ip: { allowed: ['10.0.0.1', '2001:db8::1'] },
      uri: { fixed: ['urn:{device.id}'] },
      email: {},
      directory: { most: 1 },
      registeredId: { forbidden: true },
      otherName: { types: ['1.3.6.1.5.5.7.8.4'], unfit: 'drop' },
      atLeastOneOf: ['dns', 'uri'],
    },
    extensions: {
      basicConstraints: { ca: true, pathLength: 1 },
      keyUsage: { fixed: ['keyCertSign', 'cRLSign'], unfit: 'drop' },
      extendedKeyUsage: {
        default: ['serverAuth', '1.3.6.1.5.5.7.3.17'],
        allowed: ['serverAuth', '1.3.6.1.5.5.7.3.17', '1.2.3'],
        required: ['serverAuth'],
        critical: true,
      },
      certificatePolicies: { policies: [{ oid: '1.2.3', cps: 'https://pki.example/cps' }], critical: false },
      crlDistributionPoints: { service: true, urls: ['ldap://x/cn=crl'] },
      authorityInfoAccess: { service: false, caIssuers: ['http://x/ca'], ocsp: ['http://x/ocsp'] },
      custom: {
        '1.2.3.4': { fixed: { text: 'for {device.common_name}' }, critical: true },
        '1.2.3.5': { default: { hex: '0500' }, allowed: [{ base64: 'BQA=' }], required: true },
        '2.5.29.30': { fixed: { hex: '3000' }, critical: true },
      },
    },
    others: { subject: 'keep', subjectAltName: 'drop', extensions: 'keep' },
  };
  expect(parse(rules) as unknown).toEqual(rules);
});

test('arbitrary JSON is accepted, or rejected as malformed', () => {
  const word = fc.constantFrom(
    'validity',
    'duration',
    'P1Y',
    'subject',
    'CN',
    'fixed',
    'default',
    '{device.id}',
    'pattern',
    '(a*)*b',
    'extensions',
    'custom',
    '1.2.3',
    'hex',
    '0500',
    'subjectAltName',
    'dns',
    '__proto__',
  );
  const { json } = fc.letrec((tie) => ({
    json: fc.oneof(
      { depthSize: 'medium', withCrossShrink: true },
      word,
      fc.boolean(),
      fc.integer(),
      fc.constant(null),
      fc.array(tie('json'), { maxLength: 3 }),
      fc.dictionary(word, tie('json'), { maxKeys: 6 }),
    ),
  }));
  fc.assert(
    fc.property(json, (value) => {
      try {
        parseProfileRules(value, patterns);
      } catch (error) {
        expect(error).toBeInstanceOf(Fault);
        expect((error as Fault).code).toBe('malformed');
        expect((error as Fault).field).toBe('profile');
      }
    }),
    runs(500),
  );
});

test('the example in docs/reference/certificate-profiles.md is valid and uses every kind of rule', () => {
  const page = readFileSync(
    new URL('../../../docs/reference/certificate-profiles.md', import.meta.url),
    'utf8',
  );
  const [, example] = /```jsonc\n([\s\S]*?)```/.exec(page)!;
  const rules = JSON.parse(example!.replace(/\s\/\/ .*$/gm, ''));
  expect(parse(rules)).toEqual(rules);
  for (const member of ['fixed', 'default', 'required', 'allowed', 'forbidden', 'pattern'])
    expect(example).toContain(`"${member}"`);
});
