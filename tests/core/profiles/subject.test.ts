import { describe, expect, test } from 'bun:test';
import { readDer } from '#core/der/reader.ts';
import { tag } from '#core/der/tag.ts';
import { attribute, buildName, type Name, parseDistinguishedName, readName } from '#core/x509/name.ts';
import { apply, plain, refusal, requestFor, subjectOf } from './rehearsal.ts';

const { validity } = plain;

/** Applies rules for the subject; the rest of the request is dropped. */
const rules = (subject: object, others = 'refuse') => ({ validity, subject, others: { subject: others } });

describe('a rule is applied:', () => {
  const rows: readonly [rule: object, requested: string, subject: string][] = [
    // fixed
    [{ CN: { fixed: 'gate' } }, '', 'CN=gate'],
    [{ CN: { fixed: 'gate' } }, 'CN=gate', 'CN=gate'],
    [{ CN: { fixed: '{device.common_name}' } }, 'CN=pump-1', 'CN=pump-1'],
    [{ CN: { fixed: 'gate', unfit: 'drop' } }, 'CN=door', 'CN=gate'],
    [{ CN: { fixed: 'gate', unfit: 'drop' } }, 'CN=door,CN=gate', 'CN=gate'],
    [{ OU: { fixed: ['a', 'b'] } }, 'OU=b', 'OU=a,OU=b'],
    [{ OU: { fixed: ['a', 'b'] } }, '', 'OU=b,OU=a'],
    [{ OU: { fixed: ['a', 'b'] } }, 'OU=a,OU=b', 'OU=a,OU=b'],
    [{ O: { fixed: '{domain.unique_name} {{{device.id}}}' } }, '', 'O=plant {7}'],
    // default
    [{ CN: { default: '{device.common_name}' } }, '', 'CN=pump-1'],
    [{ CN: { default: '{device.common_name}' } }, 'CN=other', 'CN=other'],
    [{ CN: {}, OU: { default: ['a', 'b'] } }, 'CN=x', 'OU=b,OU=a,CN=x'],
    [{ CN: {}, C: { default: '{domain.unique_name}' } }, 'CN=x', 'CN=x'],
    [{ CN: {}, O: { default: '{device.serial_number}', pattern: '[a-z]+' } }, 'CN=x', 'CN=x'],
    // required
    [{ CN: { required: true } }, 'CN=x', 'CN=x'],
    [{ CN: { required: true, default: 'y' } }, '', 'CN=y'],
    // allowed
    [{ CN: { allowed: ['a', 'b'] } }, 'CN=b', 'CN=b'],
    [
      { CN: {}, serialNumber: { allowed: ['{device.serial_number}'] } },
      'serialNumber=SN-0001,CN=x',
      'serialNumber=SN-0001,CN=x',
    ],
    [{ CN: {}, O: { allowed: ['a'], unfit: 'drop' } }, 'CN=x,O=b', 'CN=x'],
    // forbidden
    [{ CN: {}, O: { forbidden: true } }, 'CN=x', 'CN=x'],
    [{ CN: {}, O: { forbidden: true, unfit: 'drop' } }, 'O=x,CN=x', 'CN=x'],
    // pattern
    [{ CN: { pattern: 'pump-\\d+' } }, 'CN=pump-44', 'CN=pump-44'],
    [{ CN: { pattern: '.*@{device.common_name}' } }, 'CN=app@pump-1', 'CN=app@pump-1'],
    [{ CN: {}, O: { pattern: 'a|b', unfit: 'drop' } }, 'CN=x,O=ab', 'CN=x'],
    // most
    [{ OU: { most: 2 } }, 'OU=a,OU=b', 'OU=a,OU=b'],
    [{ OU: { most: 2, unfit: 'drop' } }, 'OU=c,OU=b,OU=a', 'OU=b,OU=a'],
    // others
    [{ CN: {} }, 'CN=x', 'CN=x'],
    // by OID, and by another name
    [{ '2.5.4.3': { fixed: 'x' } }, '', 'CN=x'],
    [{ commonName: { fixed: 'x' } }, '', 'CN=x'],
    [{ '1.2.3.4': { fixed: 'x' } }, '', '1.2.3.4=#0c0178'],
  ];
  for (const [rule, requested, subject] of rows) {
    test(`${JSON.stringify(rule)}: ${requested || 'nothing'} → ${subject}`, () => {
      expect(subjectOf(apply(rules(rule), { subject: requested }))).toBe(subject);
    });
  }

  test('others: keep', () => {
    const outcome = apply(rules({ CN: {} }, 'keep'), { subject: 'UID=7,CN=x,1.2.3=#0c0161' });
    expect(subjectOf(outcome)).toBe('UID=7,CN=x,1.2.3=#0c0161');
  });

  test('others: drop', () => {
    const outcome = apply(rules({ CN: {} }, 'drop'), { subject: 'UID=7,CN=x+O=y' });
    expect(subjectOf(outcome)).toBe('CN=x');
  });
});

describe('a request that breaks a rule is rejected with the name of the rule', () => {
  const rows: readonly [rule: object, requested: string, detail: string][] = [
    [
      { CN: { fixed: '{device.common_name}' } },
      'CN=pump-2',
      'subject.CN: "pump-2" is not allowed: the profile fixes "pump-1"',
    ],
    [{ CN: { fixed: 'gate' } }, 'CN=Gate', 'subject.CN: "Gate" is not allowed: the profile fixes "gate"'],
    [
      { CN: { fixed: 'gate' } },
      'CN=gate,CN=gate',
      'subject.CN: "gate" is not allowed: the profile fixes "gate"',
    ],
    [{ CN: { fixed: 'gate' } }, 'CN=gate,CN=admin', 'subject.CN: "admin" is not allowed'],
    [{ CN: { required: true } }, '', 'subject.CN: the request must contain a value'],
    [
      { C: { required: true, default: '{domain.unique_name}' } },
      '',
      'subject.C: the request must contain a value; the default {domain.unique_name} gives none: "plant" is not a country code of two letters',
    ],
    [{ CN: { allowed: ['a', 'b'] } }, 'CN=c', 'subject.CN: "c" is not allowed; allowed: "a", "b"'],
    [
      { CN: { allowed: ['1', '2', '3', '4', '5', '6'] } },
      'CN=c',
      'subject.CN: "c" is not allowed; allowed: "1", "2", "3", "4", "5", …',
    ],
    [{ O: { forbidden: true } }, 'O=x', 'subject.O: "x" is forbidden by the profile'],
    [
      { CN: { pattern: 'pump-\\d+' } },
      'CN=pump-',
      'subject.CN: "pump-" does not match the pattern "pump-\\d+"',
    ],
    [{ CN: { pattern: 'pump' } }, 'CN=pump-1', 'subject.CN: "pump-1" does not match the pattern "pump"'],
    [
      { CN: { pattern: '.*@{device.common_name}' } },
      'CN=app@pump-2',
      'subject.CN: "app@pump-2" does not match the pattern ".*@{device.common_name}"',
    ],
    [{ CN: {} }, 'CN=a,CN=b', 'subject.CN: "a" exceeds the limit: the profile allows at most 1'],
    [{ CN: {} }, 'UID=7,CN=x', 'subject.UID: the profile does not allow this attribute'],
    [{ CN: {} }, '1.2.3=#0c0161', 'subject.1.2.3: the profile does not allow this attribute'],
    [{ CN: {} }, '', 'subject: the request must contain a subject'],
  ];
  for (const [rule, requested, detail] of rows) {
    test(`${JSON.stringify(rule)}: ${requested || 'nothing'}`, () => {
      expect(refusal(() => apply(rules(rule), { subject: requested }))).toStartWith(`badCsr: ${detail}`);
    });
  }
});

describe('a template whose field has no value', () => {
  const around = { device: undefined };
  test('rejects the request in a fixed rule', () => {
    expect(
      refusal(() => apply(rules({ CN: { fixed: '{device.common_name}' } }), { subject: 'CN=x' }, around)),
    ).toBe(
      'badCsr: subject.CN: the profile fixes {device.common_name}, but the requester is not a device with a common name',
    );
  });

  test('gives no value in a default rule', () => {
    const outcome = apply(
      rules({ CN: {}, O: { default: '{device.common_name}' } }),
      { subject: 'CN=x' },
      around,
    );
    expect(subjectOf(outcome)).toBe('CN=x');
  });

  test('allows nothing in an allowed rule', () => {
    const rule = { CN: { allowed: ['{device.serial_number}'] } };
    const device = { id: 7, commonName: 'pump-1', serialNumber: '' };
    expect(refusal(() => apply(rules(rule), { subject: 'CN=x' }, { device }))).toBe(
      'badCsr: subject.CN: "x" is not allowed: the requester is not a device with a serial number',
    );
  });

  test('matches nothing in a pattern rule', () => {
    const rule = { CN: { pattern: '{device.common_name}?' } };
    expect(refusal(() => apply(rules(rule), { subject: 'CN=pump-' }, around))).toStartWith(
      'badCsr: subject.CN: "pump-" does not match the pattern "{device.common_name}?": the requester is not a device',
    );
  });
});

describe('values of a device or request are not interpreted', () => {
  const hostile = [
    'a,CN=b',
    'a+CN=b',
    'CN=admin',
    '#0c0161',
    '\\,"<>;=',
    ' leading',
    '{device.id}',
    '.*',
    '(?i)x',
    '\\E.*\\Q',
    ')|.*(',
    'a+O=b,CN=c;d"e\\20',
    '{{device.id}}{domain.unique_name}',
    '$1$&$$',
    '/CN=admin',
    '<script>',
  ];
  for (const commonName of hostile) {
    const device = { id: 7, commonName, serialNumber: '1' };
    test(`a device called ${commonName} gets exactly that name`, () => {
      const { subject } = apply(rules({ CN: { fixed: '{device.common_name}' } }), {}, { device });
      expect(subject.rdns).toEqual([[attribute('CN', commonName)]]);
    });

    test(`a pattern with a device called ${commonName} matches only that name`, () => {
      const rule = { CN: { pattern: '{device.common_name}' } };
      const named = (value: string) => buildName([[attribute('CN', value)]]);
      expect(apply(rules(rule), { subject: named(commonName) }, { device }).subject).toEqual(
        named(commonName),
      );
      expect(refusal(() => apply(rules(rule), { subject: named(`${commonName}x`) }, { device }))).toStartWith(
        'badCsr: subject.CN: ',
      );
    });
  }

  const unfit: readonly [value: string, why: string][] = [
    ['a\nb', 'has control characters'],
    ['a\x00b', 'has control characters'],
    ['a\x7fb', 'has control characters'],
    ['a\u0085b', 'has control characters'],
    ['user\u202egnp.exe', 'has control characters'],
    ['a\u2028b', 'has control characters'],
    ['\u200fpump', 'has control characters'],
    ['\u061cpump', 'has control characters'],
    ['pu\u00admp', 'has control characters'],
    ['pu\u200bmp', 'has control characters'],
    ['\ufeffpump', 'has control characters'],
    ['pump\u{e0041}', 'has control characters'],
    ['\x1b[2J', 'has control characters'],
    ['a\tb', 'has control characters'],
    ['x'.repeat(65), 'does not fit: name: CN needs 1 to 64 characters, it has 65'],
  ];
  for (const [value, why] of unfit) {
    test(`${JSON.stringify(value).slice(0, 30)} is rejected from a template`, () => {
      const device = { id: 7, commonName: value, serialNumber: '1' };
      expect(
        refusal(() => apply(rules({ CN: { fixed: '{device.common_name}' } }), {}, { device })),
      ).toEndWith(why);
    });
    // Requests with NUL are rejected before the profile.
    if (value.includes('\x00')) continue;
    test(`${JSON.stringify(value).slice(0, 30)} is rejected from a request`, () => {
      const subject = buildName([[{ type: '2.5.4.3', value, tag: tag.utf8String }]]);
      for (const others of ['refuse', 'keep']) {
        const named = others === 'refuse' ? { CN: {} } : { O: {} };
        const text = refusal(() => apply(rules(named, others), { subject }));
        expect(text).toStartWith('badCsr: subject.CN: ');
        expect(text).toEndWith(why);
        expect(text).not.toMatch(/\p{Cc}|\u202e/u);
      }
    });
  }
});

describe('the encoding of names', () => {
  const withTag = (value: string, identifier: number, type = '2.5.4.3'): Name =>
    buildName([[{ type, value, tag: identifier }]]);

  test('is kept byte for byte when the profile keeps the requested subject', () => {
    const request = requestFor({ subject: withTag('pump-1', tag.printableString) });
    const outcome = apply(plain, {}, { request });
    expect(outcome.subject).toBe(request.subject);
  });

  test('changes string types that RFC 5280 §4.1.2.4 forbids to UTF8String', () => {
    for (const old of [tag.teletexString, tag.bmpString, tag.universalString]) {
      const { subject } = apply(plain, { subject: withTag('Pümpe', old) });
      expect(subject).toEqual(buildName([[attribute('CN', 'Pümpe')]]));
    }
  });

  test('changes a country in UTF8String to PrintableString', () => {
    const { subject } = apply(rules({ C: {} }), { subject: withTag('DE', tag.utf8String, '2.5.4.6') });
    expect(subject.rdns[0]?.[0]?.tag).toBe(tag.printableString);
  });

  test('rejects a value that is not a string, or omits it if the profile says so', () => {
    const subject = buildName([
      [{ type: '2.5.4.3', value: '#030200ff', tag: tag.bitString }],
      [attribute('O', 'x')],
    ]);
    const both = { CN: {}, O: {} };
    expect(refusal(() => apply(rules(both), { subject }))).toBe('badCsr: subject.CN: the value is not text');
    expect(refusal(() => apply(rules({ O: {} }, 'keep'), { subject }))).toBe(
      'badCsr: subject.CN: the value is not text',
    );
    expect(subjectOf(apply(rules({ ...both, CN: { unfit: 'drop' } }), { subject }))).toBe('O=x');
  });

  test('keeps a multi-valued RDN', () => {
    const subject = parseDistinguishedName('CN=x+O=y,C=DE');
    expect(
      subjectOf(apply(rules({ CN: {}, O: {}, C: { unfit: 'drop', allowed: ['FR'] } }), { subject })),
    ).toBe('CN=x+O=y');
  });

  test('sorts the attributes of an RDN as DER requires when a string type changes', () => {
    const requested = buildName([
      [
        { type: '2.5.4.3', value: 'x', tag: tag.bmpString },
        { type: '2.5.4.10', value: 'y', tag: tag.utf8String },
      ],
    ]);
    expect(requested.rdns[0]?.map(({ value }) => value)).toEqual(['y', 'x']);
    const { subject } = apply(rules({ CN: {}, O: {} }), { subject: requested });
    expect(subject.der).toEqual(parseDistinguishedName('CN=x+O=y').der);
    expect(readDer(subject.der, readName).rdns[0]?.map(({ value }) => value)).toEqual(['x', 'y']);
  });
});
