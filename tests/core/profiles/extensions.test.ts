import { describe, expect, test } from 'bun:test';
import { der } from '#core/der/builder.ts';
import { fromHex, hex } from '#core/der/bytes.ts';
import type { ProfileOutcome } from '#core/profiles/apply.ts';
import type { KeyType } from '#core/x509/algorithm.ts';
import {
  authorityKeyIdentifierOf,
  basicConstraintsOf,
  extendedKeyUsageOf,
  extension,
  keyUsageOf,
  subjectKeyIdentifierOf,
} from '#core/x509/certificate.ts';
import type { Extension } from '#core/x509/extension.ts';
import {
  authorityKeyIdentifierExtension,
  subjectKeyIdentifierExtension,
} from '#core/x509/extensions/identity.ts';
import {
  crlDistributionPointsExtension,
  decodeAuthorityInfoAccess,
  decodeCrlDistributionPoints,
} from '#core/x509/extensions/locations.ts';
import { decodeCertificatePolicies } from '#core/x509/extensions/policies.ts';
import {
  basicConstraintsExtension,
  extendedKeyUsageExtension,
  type KeyUsage,
  keyUsageExtension,
} from '#core/x509/extensions/usage.ts';
import { oid } from '#core/x509/oids.ts';
import { keyIdentifier } from '#core/x509/public-key.ts';
import { testCa } from '#tests/fixtures/certificates.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { apply, issuer, plain, refusal } from './rehearsal.ts';

const rules = (extensions: object, others = 'refuse') => ({
  ...plain,
  extensions,
  others: { extensions: others },
});
const given = (
  rule: object,
  extensions: readonly Extension[] = [],
  key: KeyType = 'p-256',
  others?: string,
) => apply(rules(rule, others), { subject: 'CN=x', extensions, key });
const text = (value: string, type = '1.2.3.4', critical = false): Extension => ({
  oid: type,
  critical,
  value: der((b) => b.string(value)),
});
const encodedIn = (outcome: ProfileOutcome, type: string): string | undefined => {
  const found = extension(outcome, type);
  return found && hex(found.value);
};

describe('key usage', () => {
  const every: KeyUsage[] = [
    'digitalSignature',
    'nonRepudiation',
    'keyEncipherment',
    'dataEncipherment',
    'keyAgreement',
  ];
  const rows: readonly [rule: object, requested: KeyUsage[], key: KeyType, usages: KeyUsage[]][] = [
    [{ fixed: ['digitalSignature'] }, [], 'p-256', ['digitalSignature']],
    [
      { fixed: ['digitalSignature', 'keyAgreement'] },
      ['keyAgreement'],
      'p-256',
      ['digitalSignature', 'keyAgreement'],
    ],
    [{ fixed: ['digitalSignature'], unfit: 'drop' }, ['keyEncipherment'], 'p-256', ['digitalSignature']],
    [{ default: ['digitalSignature'] }, [], 'p-256', ['digitalSignature']],
    [
      { default: ['digitalSignature'], allowed: ['digitalSignature', 'nonRepudiation'] },
      ['nonRepudiation'],
      'p-256',
      ['nonRepudiation'],
    ],
    [{ default: ['digitalSignature'], unfit: 'drop' }, ['nonRepudiation'], 'p-256', ['digitalSignature']],
    [
      { allowed: ['nonRepudiation', 'digitalSignature'], required: ['digitalSignature'] },
      ['digitalSignature'],
      'p-256',
      ['digitalSignature'],
    ],
    // usages that a type of key does not support
    [
      { fixed: every },
      [],
      'rsa-2048',
      ['digitalSignature', 'nonRepudiation', 'keyEncipherment', 'dataEncipherment'],
    ],
    [{ fixed: every }, [], 'p-256', ['digitalSignature', 'nonRepudiation', 'keyAgreement']],
    [{ fixed: every }, [], 'ed25519', ['digitalSignature', 'nonRepudiation']],
    [{ fixed: every }, [], 'ml-dsa-44', ['digitalSignature', 'nonRepudiation']],
    [{ allowed: every }, ['digitalSignature', 'keyEncipherment'], 'p-256', ['digitalSignature']],
    [
      { fixed: ['digitalSignature', 'keyAgreement', 'encipherOnly'] },
      [],
      'p-256',
      ['digitalSignature', 'keyAgreement', 'encipherOnly'],
    ],
    [{ fixed: ['digitalSignature', 'keyAgreement', 'encipherOnly'] }, [], 'rsa-2048', ['digitalSignature']],
    [{ fixed: ['digitalSignature', 'encipherOnly'] }, [], 'p-256', ['digitalSignature']],
  ];
  for (const [rule, requested, key, usages] of rows) {
    test(`${JSON.stringify(rule)} with ${key}, requested ${requested}: ${usages}`, () => {
      const asked = requested.length > 0 ? [keyUsageExtension(requested)] : [];
      const outcome = given({ keyUsage: rule }, asked, key);
      expect(keyUsageOf(outcome)).toEqual(usages);
      expect(extension(outcome, oid.keyUsage)?.critical).toBe(true);
    });
  }

  const refused: readonly [rule: object, requested: KeyUsage[], key: KeyType, detail: string][] = [
    [
      { fixed: ['digitalSignature'] },
      ['keyAgreement'],
      'p-256',
      'badCsr: extensions.keyUsage: keyAgreement is not allowed; allowed: digitalSignature',
    ],
    [
      { default: ['digitalSignature'] },
      ['keyCertSign'],
      'p-256',
      'badCsr: extensions.keyUsage: keyCertSign is not allowed',
    ],
    [
      { allowed: ['nonRepudiation', 'digitalSignature'], required: ['digitalSignature'] },
      ['nonRepudiation'],
      'p-256',
      'badCsr: extensions.keyUsage: the request must contain digitalSignature',
    ],
    [
      { required: ['digitalSignature'] },
      [],
      'p-256',
      'badCsr: extensions.keyUsage: the request must contain digitalSignature',
    ],
    [
      { forbidden: true },
      ['digitalSignature'],
      'p-256',
      'badCsr: extensions.keyUsage: digitalSignature is not allowed; allowed: none',
    ],
    [
      { fixed: ['keyEncipherment'] },
      [],
      'p-256',
      'badAlgorithm: keys: p-256 cannot be used for any of keyEncipherment',
    ],
    [
      { fixed: ['keyAgreement'] },
      [],
      'ed25519',
      'badAlgorithm: keys: ed25519 cannot be used for any of keyAgreement',
    ],
  ];
  for (const [rule, requested, key, detail] of refused) {
    test(detail, () => {
      const asked = requested.length > 0 ? [keyUsageExtension(requested)] : [];
      expect(refusal(() => given({ keyUsage: rule }, asked, key))).toStartWith(detail);
    });
  }

  test('is absent without a rule, or when it is forbidden', () => {
    expect(keyUsageOf(given({}))).toBeUndefined();
    const forbidden = { keyUsage: { forbidden: true, unfit: 'drop' } };
    expect(keyUsageOf(given(forbidden, [keyUsageExtension(['digitalSignature'])]))).toBeUndefined();
  });

  test('is malformed when it is unreadable', () => {
    const bad = { oid: oid.keyUsage, critical: true, value: Uint8Array.of(5, 0) };
    expect(
      refusal(() => given({ keyUsage: { fixed: ['digitalSignature'], unfit: 'drop' } }, [bad])),
    ).toStartWith('malformed: ');
  });
});

describe('extended key usage', () => {
  const { serverAuth, clientAuth, ocspSigning } = oid;
  const rows: readonly [rule: object, requested: string[], purposes: string[] | undefined][] = [
    [{ fixed: ['serverAuth', '1.2.3'] }, [], [serverAuth, '1.2.3']],
    [{ fixed: [serverAuth] }, [serverAuth], [serverAuth]],
    [
      { default: ['serverAuth'], allowed: ['serverAuth', 'clientAuth'] },
      [clientAuth, serverAuth],
      [clientAuth, serverAuth],
    ],
    [
      { default: ['serverAuth'], allowed: ['serverAuth', 'clientAuth'], unfit: 'drop' },
      [ocspSigning, clientAuth],
      [clientAuth],
    ],
    [{ default: ['serverAuth'], unfit: 'drop' }, [ocspSigning], [serverAuth]],
    [{ allowed: ['serverAuth'] }, [], undefined],
    [{ forbidden: true }, [], undefined],
  ];
  for (const [rule, requested, purposes] of rows) {
    test(`${JSON.stringify(rule)}, requested ${requested}`, () => {
      const asked = requested.length > 0 ? [extendedKeyUsageExtension(requested)] : [];
      expect(extendedKeyUsageOf(given({ extendedKeyUsage: rule }, asked))).toEqual(purposes);
    });
  }

  test('is rejected by name when it is not allowed', () => {
    const rule = { extendedKeyUsage: { default: ['clientAuth'] } };
    const asked = extendedKeyUsageExtension([oid.anyExtendedKeyUsage, '1.2.3']);
    expect(refusal(() => given(rule, [asked]))).toBe(
      'badCsr: extensions.extendedKeyUsage: anyExtendedKeyUsage, 1.2.3 is not allowed; allowed: clientAuth',
    );
  });

  test('is critical when the profile says so', () => {
    for (const critical of [true, false]) {
      const outcome = given({ extendedKeyUsage: { fixed: ['timeStamping'], critical } });
      expect(extension(outcome, oid.extendedKeyUsage)?.critical).toBe(critical);
    }
  });
});

describe('basic constraints', () => {
  const ca = { keyUsage: { fixed: ['keyCertSign'] } };
  test('make a CA only when the profile says so', () => {
    expect(basicConstraintsOf(given({}))).toBeUndefined();
    expect(basicConstraintsOf(given({ basicConstraints: { ca: false } }))).toEqual({ ca: false });
    expect(basicConstraintsOf(given({ ...ca, basicConstraints: { ca: true } }))).toEqual({ ca: true });
    expect(basicConstraintsOf(given({ ...ca, basicConstraints: { ca: true, pathLength: 0 } }))).toEqual({
      ca: true,
      pathLength: 0,
    });
  });

  test('for a CA in a request are rejected by all other profiles, whatever they do with other extensions', () => {
    const asked = [basicConstraintsExtension({ ca: true })];
    for (const others of ['refuse', 'drop', 'keep']) {
      for (const rule of [{}, { basicConstraints: { ca: false } }]) {
        expect(refusal(() => given(rule, asked, 'p-256', others))).toBe(
          'badCsr: extensions.basicConstraints: the request is for a CA certificate, which the profile does not allow',
        );
      }
    }
  });

  test('with cA FALSE in a request change nothing', () => {
    expect(basicConstraintsOf(given({}, [basicConstraintsExtension({ ca: false })]))).toBeUndefined();
  });

  test('in a request do not set the path length', () => {
    const outcome = given({ ...ca, basicConstraints: { ca: true, pathLength: 0 } }, [
      basicConstraintsExtension({ ca: true, pathLength: 9 }),
    ]);
    expect(basicConstraintsOf(outcome)?.pathLength).toBe(0);
  });

  test('of a CA require a subject (RFC 5280 §4.1.2.6)', () => {
    const profile = {
      ...rules({ ...ca, basicConstraints: { ca: true } }),
      subjectAltName: { dns: {} },
    };
    expect(refusal(() => apply(profile, { names: ['DNS:a'] }))).toBe(
      'badCsr: subject: a CA certificate must have a subject',
    );
  });
});

describe('key identifiers', () => {
  test('are those of the subject key and of the issuer, whatever is requested', () => {
    const asked = [
      subjectKeyIdentifierExtension(Uint8Array.of(1)),
      authorityKeyIdentifierExtension(Uint8Array.of(2)),
    ];
    const outcome = given({}, asked, 'p-256', 'keep');
    expect(subjectKeyIdentifierOf(outcome)).toEqual(keyIdentifier(testKey('p-256').publicKey));
    expect(authorityKeyIdentifierOf(outcome)).toEqual({ keyIdentifier: subjectKeyIdentifierOf(issuer)! });
    expect(outcome.extensions).toHaveLength(2);
  });

  test('of an issuer without one are computed from its key', () => {
    const bare = testCa('p-384').issue(testKey('p-384'), { extensions: [] });
    const outcome = apply(plain, { subject: 'CN=x' }, { issuer: bare });
    expect(authorityKeyIdentifierOf(outcome)?.keyIdentifier).toEqual(
      keyIdentifier(testKey('p-384').publicKey),
    );
  });
});

describe('distribution points and issuer URLs', () => {
  const urls = { crl: 'http://a/crl', aia: 'http://a/cer', ocsp: 'http://a/ocsp' };
  const published = (rule: object, from: typeof urls | { crl: string; aia: string }) =>
    apply(rules(rule), { subject: 'CN=x' }, { urls: from });
  const crlsOf = (outcome: ProfileOutcome) => {
    const found = extension(outcome, oid.crlDistributionPoints);
    return found && decodeCrlDistributionPoints(found.value);
  };
  const accessOf = (outcome: ProfileOutcome) => {
    const found = extension(outcome, oid.authorityInfoAccess);
    return found && decodeAuthorityInfoAccess(found.value);
  };

  test('have the URL of the service first, then the others', () => {
    const rule = { crlDistributionPoints: { service: true, urls: ['ldap://b/crl'] } };
    expect(crlsOf(published(rule, urls))).toEqual(['http://a/crl', 'ldap://b/crl']);
  });

  test('can be configured without the service', () => {
    const rule = {
      crlDistributionPoints: { service: false, urls: ['http://b/crl'] },
      authorityInfoAccess: { service: false, ocsp: ['http://b/ocsp'] },
    };
    expect(crlsOf(published(rule, urls))).toEqual(['http://b/crl']);
    expect(accessOf(published(rule, urls))).toEqual({ caIssuers: [], ocsp: ['http://b/ocsp'] });
  });

  test('are absent without a rule or without a service URL', () => {
    expect(published({}, urls).extensions).toHaveLength(2);
    const rule = { crlDistributionPoints: { service: true }, authorityInfoAccess: { service: true } };
    expect(published(rule, { crl: '', aia: '' }).extensions).toHaveLength(2);
  });

  test('include OCSP when it is configured', () => {
    const rule = { authorityInfoAccess: { service: true, caIssuers: ['http://b/cer'] } };
    expect(accessOf(published(rule, urls))).toEqual({
      caIssuers: ['http://a/cer', 'http://b/cer'],
      ocsp: ['http://a/ocsp'],
    });
    expect(accessOf(published(rule, { crl: '', aia: 'http://a/cer' }))?.ocsp).toEqual([]);
  });

  test('change with the URLs for the same compiled profile', () => {
    const rule = { crlDistributionPoints: { service: true } };
    const profile = rules(rule);
    for (const crl of ['http://one/', 'http://two/', 'http://one/']) {
      expect(crlsOf(apply(profile, { subject: 'CN=x' }, { urls: { ...urls, crl } }))).toEqual([crl]);
    }
  });

  test('cannot be chosen by a device', () => {
    const asked = [crlDistributionPointsExtension(['http://evil/crl'])];
    expect(crlsOf(given({}, asked, 'p-256', 'keep'))).toBeUndefined();
    expect(crlsOf(given({ crlDistributionPoints: { service: true } }, asked))).toEqual([
      'http://pki.example/crl/1.crl',
    ]);
  });
});

test('certificate policies are fixed', () => {
  const rule = {
    certificatePolicies: {
      policies: [{ oid: '1.2.3' }, { oid: '1.2.4', cps: 'https://a/cps' }],
      critical: true,
    },
  };
  const found = extension(given(rule), oid.certificatePolicies);
  expect(found?.critical).toBe(true);
  expect(decodeCertificatePolicies(found!.value)).toEqual([
    { oid: '1.2.3' },
    { oid: '1.2.4', cps: ['https://a/cps'] },
  ]);
});

describe('custom extensions', () => {
  const custom = (rule: object, extensions: readonly Extension[] = []) =>
    encodedIn(given({ custom: { '1.2.3.4': rule } }, extensions), '1.2.3.4');
  const rows: readonly [rule: object, requested: string | undefined, value: string | undefined][] = [
    [{ fixed: { hex: '0500' } }, undefined, '0500'],
    [{ fixed: { base64: 'BQA=' } }, undefined, '0500'],
    [{ fixed: { text: 'abc' } }, undefined, '0C03616263'],
    [{ fixed: { text: '{device.common_name}' } }, undefined, '0C0670756D702D31'],
    [{ fixed: { text: 'abc' } }, 'abc', '0C03616263'],
    [{ fixed: { text: 'abc' }, unfit: 'drop' }, 'abd', '0C03616263'],
    [{ default: { text: 'abc' } }, undefined, '0C03616263'],
    [{ default: { text: 'abc' } }, 'x', '0C0178'],
    [{ default: { text: '{device.serial_number}' }, allowed: [{ text: 'a' }] }, undefined, undefined],
    [{}, 'x', '0C0178'],
    [{}, undefined, undefined],
    [{ allowed: [{ text: 'x' }, { hex: '0500' }] }, 'x', '0C0178'],
    [{ required: true }, 'x', '0C0178'],
    [{ pattern: 'x|y' }, 'x', '0C0178'],
    [{ pattern: '{request.common_name}' }, 'x', '0C0178'],
    [{ pattern: 'y', unfit: 'drop' }, 'x', undefined],
    [{ forbidden: true }, undefined, undefined],
    [{ forbidden: true, unfit: 'drop' }, 'x', undefined],
  ];
  for (const [rule, requested, value] of rows) {
    test(`${JSON.stringify(rule)}, requested ${requested}: ${value}`, () => {
      expect(custom(rule, requested === undefined ? [] : [text(requested)])).toBe(value);
    });
  }

  const refused: readonly [rule: object, requested: Extension[], detail: string][] = [
    [{ fixed: { text: 'abc' } }, [text('abd')], '"abd" is not allowed: the profile fixes "abc"'],
    [{ allowed: [{ hex: '0500' }] }, [text('x')], '"x" is not allowed; allowed: "#0500"'],
    [{ required: true }, [], 'the request must contain a value'],
    [{ forbidden: true }, [text('x')], '"x" is forbidden by the profile'],
    [{ pattern: 'y' }, [text('x')], '"x" does not match the pattern "y"'],
    [
      { pattern: 'y' },
      [{ ...text(''), value: Uint8Array.of(5, 0) }],
      '"#0500" is not text, so the pattern cannot match',
    ],
    [{}, [{ ...text(''), value: Uint8Array.of(5, 1) }], '"#0501" is not one DER element'],
    [{}, [{ ...text(''), value: Uint8Array.of(5, 0, 5, 0) }], '"#05000500" is not one DER element'],
    [{}, [{ ...text(''), value: new Uint8Array(0) }], '"#" is not one DER element'],
    [{}, [text('x'.repeat(5000))], `"${'x'.repeat(80)}…" has more than 4096 octets`],
    [{}, [text('a\x1b[2Jb')], '"a\\u{1b}[2Jb" has control characters'],
  ];
  for (const [rule, requested, detail] of refused) {
    test(detail.slice(0, 80), () => {
      expect(refusal(() => custom(rule, requested))).toBe(`badCsr: extensions.custom.1.2.3.4: ${detail}`);
    });
  }

  test('are critical when the profile says so, not the request', () => {
    const asked = [text('x', '1.2.3.4', true)];
    expect(extension(given({ custom: { '1.2.3.4': {} } }, asked), '1.2.3.4')?.critical).toBe(false);
    expect(
      extension(given({ custom: { '1.2.3.4': { critical: true } } }, [text('x')]), '1.2.3.4')?.critical,
    ).toBe(true);
  });

  test('with constraints for other certificates can be fixed by a profile', () => {
    const rule = { custom: { [oid.nameConstraints]: { fixed: { hex: '3000' }, critical: true } } };
    expect(extension(given(rule), oid.nameConstraints)).toEqual({
      oid: oid.nameConstraints,
      critical: true,
      value: fromHex('3000')!,
    });
  });
});

describe('requested extensions without a rule', () => {
  const asked = [
    text('x', '1.2.3.4', true),
    keyUsageExtension(['cRLSign']),
    { ...text(''), oid: oid.nameConstraints, value: fromHex('3000')! },
    // RFC 6960 §4.2.2.2.1: only the CA can add it.
    { ...text(''), oid: oid.ocspNoCheck, value: fromHex('0500')! },
  ];

  test('are rejected', () => {
    expect(refusal(() => given({}, asked))).toBe(
      'badCsr: extensions.1.2.3.4: the profile does not allow this extension',
    );
    expect(refusal(() => given({}, [asked[1]!]))).toStartWith(
      'badCsr: extensions.2.5.29.15: the profile does not allow',
    );
  });

  test('or are dropped', () => {
    expect(given({}, asked, 'p-256', 'drop').extensions).toHaveLength(2);
  });

  test('or are kept, except those with rules of their own and those that bind other certificates', () => {
    const outcome = given({}, asked, 'p-256', 'keep');
    expect(outcome.extensions.slice(2)).toEqual([asked[0]!]);
  });

  test('must be DER when they are kept', () => {
    const bad = { ...text('x'), value: Uint8Array.of(1) };
    expect(refusal(() => given({}, [bad], 'p-256', 'keep'))).toBe(
      'badCsr: extensions.1.2.3.4: the value is not one DER element',
    );
  });
});

test('are kept in a fixed order', () => {
  const rule = {
    custom: { '1.2.3.5': { fixed: { text: 'b' } }, '1.2.3.4': { fixed: { text: 'a' } } },
    authorityInfoAccess: { service: true },
    crlDistributionPoints: { service: true },
    certificatePolicies: { policies: [{ oid: '1.2.3' }] },
    extendedKeyUsage: { fixed: ['clientAuth'] },
    keyUsage: { fixed: ['digitalSignature'] },
    basicConstraints: { ca: false },
  };
  const profile = { ...rules(rule, 'keep'), subjectAltName: { dns: {} } };
  const outcome = apply(profile, { subject: 'CN=x', names: ['DNS:x'], extensions: [text('c', '1.2.3.3')] });
  expect(outcome.extensions.map((one) => one.oid)).toEqual([
    oid.basicConstraints,
    oid.keyUsage,
    oid.extendedKeyUsage,
    oid.subjectAltName,
    oid.subjectKeyIdentifier,
    oid.authorityKeyIdentifier,
    oid.certificatePolicies,
    oid.crlDistributionPoints,
    oid.authorityInfoAccess,
    '1.2.3.5',
    '1.2.3.4',
    '1.2.3.3',
  ]);
});
