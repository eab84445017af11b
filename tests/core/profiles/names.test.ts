import { describe, expect, test } from 'bun:test';
import { der } from '#core/der/builder.ts';
import { extension } from '#core/x509/certificate.ts';
import { type GeneralName, parseGeneralName } from '#core/x509/general-name.ts';
import { oid } from '#core/x509/oids.ts';
import { apply, namesOf, plain, refusal, requestFor } from './rehearsal.ts';

const rules = (subjectAltName: object, others = 'refuse') => ({
  ...plain,
  subjectAltName,
  others: { subjectAltName: others },
});

describe('a rule is applied:', () => {
  const rows: readonly [rule: object, requested: readonly string[], names: readonly string[]][] = [
    // fixed
    [{ dns: { fixed: 'a.example' } }, [], ['DNS:a.example']],
    [{ dns: { fixed: ['a.example', 'b.example'] } }, ['DNS:b.example'], ['DNS:b.example', 'DNS:a.example']],
    [{ dns: { fixed: 'a.example', unfit: 'drop' } }, ['DNS:x.example'], ['DNS:a.example']],
    [{ dns: { fixed: 'A.example' } }, ['DNS:a.EXAMPLE'], ['DNS:a.EXAMPLE']],
    [{ ip: { fixed: '2001:db8:0::1' } }, ['IP:2001:db8::1'], ['IP:2001:db8::1']],
    [{ ip: { fixed: '2001:db8:0::1' } }, [], ['IP:2001:db8::1']],
    [{ uri: { fixed: 'urn:{domain.unique_name}:{device.common_name}' } }, [], ['URI:urn:plant:pump-1']],
    [{ email: { fixed: 'ops@plant.example' } }, [], ['email:ops@plant.example']],
    // default, also from the request
    [{ dns: { default: '{request.common_name}' } }, [], ['DNS:gate']],
    [{ dns: { default: '{request.common_name}.{domain.unique_name}' } }, [], ['DNS:gate.plant']],
    [{ dns: { default: '{request.common_name}' } }, ['DNS:x'], ['DNS:x']],
    [{ dns: { default: ['a', '{device.serial_number}'] } }, [], ['DNS:a', 'DNS:SN-0001']],
    [{ uri: { default: '{request.common_name}' } }, [], []],
    [{ uri: { default: '{request.serial_number}:x' } }, [], []],
    // required, allowed, forbidden, pattern, most
    [{ dns: { required: true } }, ['DNS:x'], ['DNS:x']],
    [{ dns: { allowed: ['{device.common_name}'] } }, ['DNS:PUMP-1'], ['DNS:PUMP-1']],
    [{ ip: { allowed: ['10.0.0.1'], unfit: 'drop' } }, ['IP:10.0.0.1', 'IP:10.0.0.2'], ['IP:10.0.0.1']],
    [{ dns: {}, ip: { forbidden: true, unfit: 'drop' } }, ['IP:10.0.0.1', 'DNS:x'], ['DNS:x']],
    [{ ip: { pattern: '10\\.0\\.0\\.\\d+' } }, ['IP:10.0.0.9'], ['IP:10.0.0.9']],
    [{ dns: { pattern: '(.+\\.)?{request.common_name}' } }, ['DNS:www.gate'], ['DNS:www.gate']],
    [{ dns: { most: 2, unfit: 'drop' } }, ['DNS:a', 'DNS:b', 'DNS:c'], ['DNS:a', 'DNS:b']],
    [{ dns: { wildcards: true } }, ['DNS:*.a.example'], ['DNS:*.a.example']],
    // one of several kinds; the order of the request is kept
    [{ dns: {}, ip: {}, atLeastOneOf: ['dns', 'ip'] }, ['IP:10.0.0.1'], ['IP:10.0.0.1']],
    [{ dns: {}, ip: {} }, ['IP:::1', 'DNS:x', 'IP:10.0.0.1'], ['IP:::1', 'DNS:x', 'IP:10.0.0.1']],
    // each once, however often it is requested, fixed or the default; each kind has its own comparison
    [{ dns: {} }, ['DNS:x', 'DNS:y', 'DNS:X', 'DNS:y'], ['DNS:x', 'DNS:y']],
    [{ dns: { most: 1 } }, ['DNS:x', 'DNS:x'], ['DNS:x']],
    [{ ip: {}, dns: {} }, ['IP:::1', 'DNS:x', 'IP:0:0::1'], ['IP:::1', 'DNS:x']],
    [{ email: {} }, ['email:a@B', 'email:a@b', 'email:A@b'], ['email:a@B', 'email:A@b']],
    [{ uri: {} }, ['URI:urn:x', 'URI:urn:x', 'URI:urn:X'], ['URI:urn:x', 'URI:urn:X']],
    [{ dns: { fixed: 'a' } }, ['DNS:a', 'DNS:A'], ['DNS:a']],
    [{ dns: { fixed: ['pump-1', '{device.common_name}', 'b'] } }, ['DNS:b'], ['DNS:b', 'DNS:pump-1']],
    [{ dns: { fixed: ['PUMP-1', '{device.common_name}'] } }, [], ['DNS:PUMP-1']],
    [{ dns: { default: ['gate', '{request.common_name}'] } }, [], ['DNS:gate']],
    [{ email: { fixed: ['ops@a', 'ops@A'] } }, [], ['email:ops@a']],
    [{ directory: {} }, ['DirName:CN=x', 'DirName:CN=X'], ['DirName:CN=x']],
    [
      { otherName: { types: ['1.2'] } },
      ['otherName:1.2;#0500', 'otherName:1.2;#0500'],
      ['otherName:1.2;#0500'],
    ],
    // rare kinds
    [{ directory: {} }, ['DirName:CN=x'], ['DirName:CN=x']],
    [{ registeredId: { required: true } }, ['RID:1.2.3'], ['RID:1.2.3']],
    [{ registeredId: { fixed: '1.2.{device.id}' } }, [], ['RID:1.2.7']],
    [{ registeredId: { pattern: '1\\.2\\..*' } }, ['RID:1.2.3'], ['RID:1.2.3']],
    [{ directory: { fixed: 'CN={device.common_name},O=Plant' } }, [], ['DirName:CN=pump-1,O=Plant']],
    [{ directory: { allowed: ['cn=x, o=plant'] } }, ['DirName:CN=X,O=Plant'], ['DirName:CN=X,O=Plant']],
    [{ directory: { default: 'CN={request.common_name}' } }, [], ['DirName:CN=gate']],
    [
      { otherName: { types: ['1.2.3'], fixed: '1.2.3;{device.common_name}@plant' } },
      [],
      ['otherName:1.2.3;#0c0c70756d702d3140706c616e74'],
    ],
    [{ otherName: { types: ['1.2.3'], default: '1.2.3;#0500' } }, [], ['otherName:1.2.3;#0500']],
    [
      { otherName: { types: ['1.2.3'], allowed: ['1.2.3;a', '1.2.3;b'] } },
      ['otherName:1.2.3;#0c0161'],
      ['otherName:1.2.3;#0c0161'],
    ],
    [
      { otherName: { types: ['1.2.3'], pattern: '[a-f]' } },
      ['otherName:1.2.3;#0c0161'],
      ['otherName:1.2.3;#0c0161'],
    ],
    [{ otherName: { types: ['1.2.3'] } }, ['otherName:1.2.3;#0c0161'], ['otherName:1.2.3;#0c0161']],
    [
      { otherName: { types: ['1.2.3'], unfit: 'drop' } },
      ['otherName:1.2.4;#0c0161', 'otherName:1.2.3;#0c0162'],
      ['otherName:1.2.3;#0c0162'],
    ],
  ];
  for (const [rule, requested, names] of rows) {
    test(`${JSON.stringify(rule)}: ${requested} → ${names}`, () => {
      expect(namesOf(apply(rules(rule), { subject: 'CN=gate', names: requested }))).toEqual([...names]);
    });
  }

  const every = [
    'DNS:x',
    'IP:10.0.0.1',
    'URI:urn:x',
    'email:a@b',
    'DirName:CN=x',
    'RID:1.2',
    'otherName:1.2;#0500',
  ];
  test('others: keep', () => {
    expect(namesOf(apply(rules({}, 'keep'), { subject: 'CN=gate', names: every }))).toEqual(every);
  });
  test('others: keep, each once', () => {
    const wish = { subject: 'CN=gate', names: [...every, ...every] };
    expect(namesOf(apply(rules({}, 'keep'), wish))).toEqual(every);
  });
  test('others: drop', () => {
    const outcome = apply(rules({ ip: {} }, 'drop'), {
      subject: 'CN=gate',
      names: [...every, 'x400Address:#30'],
    });
    expect(namesOf(outcome)).toEqual(['IP:10.0.0.1']);
  });
});

describe('a request that breaks a rule is rejected with the name of the rule', () => {
  const rows: readonly [rule: object, requested: readonly (string | GeneralName)[], detail: string][] = [
    [
      { dns: { fixed: 'a.example' } },
      ['DNS:b.example'],
      'subjectAltName.dns: "b.example" is not allowed: the profile fixes "a.example"',
    ],
    [
      { uri: { fixed: '{request.serial_number}:x' } },
      [],
      'subjectAltName.uri: the profile fixes {request.serial_number}:x, but the request has no serial number',
    ],
    [{ uri: { required: true } }, [], 'subjectAltName.uri: the request must contain a value'],
    [
      { uri: { required: true, default: '{request.common_name}' } },
      [],
      'subjectAltName.uri: the request must contain a value; the default {request.common_name} gives none: "gate" is not a valid URI',
    ],
    [{ dns: { allowed: ['a'] } }, ['DNS:b'], 'subjectAltName.dns: "b" is not allowed; allowed: "a"'],
    [{ dns: { forbidden: true } }, ['DNS:b'], 'subjectAltName.dns: "b" is forbidden by the profile'],
    [
      { dns: { pattern: '.*\\.example' } },
      ['DNS:b'],
      'subjectAltName.dns: "b" does not match the pattern ".*\\.example"',
    ],
    [
      { uri: { most: 1 } },
      ['URI:urn:a', 'URI:urn:b'],
      'subjectAltName.uri: "urn:b" exceeds the limit: the profile allows at most 1',
    ],
    [
      { dns: {}, ip: {}, email: {}, atLeastOneOf: ['dns', 'ip'] },
      ['email:a@b'],
      'subjectAltName: the request must contain at least one of: DNS name, IP address',
    ],
    [{ dns: {} }, ['IP:10.0.0.1'], 'subjectAltName.ip: the profile does not allow "IP:10.0.0.1"'],
    [{}, ['DirName:CN=x'], 'subjectAltName.directory: the profile does not allow "DirName:CN=x"'],
    [
      { otherName: { types: ['1.2.3'] } },
      ['otherName:1.3.6.1.4.1.311.20.2.3;#0c0161'],
      'subjectAltName.otherName: "1.3.6.1.4.1.311.20.2.3;a" is of a type that the profile does not allow',
    ],
    // not a valid name of its kind
    [{ dns: {} }, ['DNS:*.a.example'], 'subjectAltName.dns: "*.a.example" is not a valid DNS name'],
    [
      { dns: { wildcards: true } },
      ['DNS:*.example'],
      'subjectAltName.dns: "*.example" is not a valid DNS name',
    ],
    [{ dns: { wildcards: true } }, [{ kind: 'dns', value: '*' }], 'subjectAltName.dns: "*" is not'],
    [
      { dns: { wildcards: true } },
      [{ kind: 'dns', value: 'a.*.example' }],
      'subjectAltName.dns: "a.*.example" is not',
    ],
    [{ dns: {} }, ['DNS:10.0.0.1'], 'subjectAltName.dns: "10.0.0.1" is not a valid DNS name'],
    [{ dns: {} }, ['DNS:12345'], 'subjectAltName.dns: "12345" is not a valid DNS name'],
    [{ dns: {} }, [{ kind: 'dns', value: '' }], 'subjectAltName.dns: "" is not a valid DNS name'],
    [{ dns: {} }, [{ kind: 'dns', value: 'a b' }], 'subjectAltName.dns: "a b" is not'],
    [{ dns: {} }, [{ kind: 'dns', value: '-a.example' }], 'subjectAltName.dns: "-a.example" is not'],
    [{ dns: {} }, [{ kind: 'dns', value: 'a..example' }], 'subjectAltName.dns: "a..example" is not'],
    [{ dns: {} }, [{ kind: 'dns', value: 'a.example.' }], 'subjectAltName.dns: "a.example." is not'],
    [{ dns: {} }, [{ kind: 'dns', value: 'x'.repeat(64) }], 'subjectAltName.dns: "xxx'],
    [{ dns: {} }, [{ kind: 'dns', value: `${'x.'.repeat(127)}x` }], 'subjectAltName.dns: "x.x'],
    [
      { ip: {} },
      [{ kind: 'ip', value: new Uint8Array(8) }],
      'subjectAltName.ip: "0.0.0.0/0.0.0.0" is not a valid IP address',
    ],
    [
      { uri: {} },
      [{ kind: 'uri', value: 'relative/path' }],
      'subjectAltName.uri: "relative/path" is not a valid URI',
    ],
    [{ uri: {} }, [{ kind: 'uri', value: 'http:///path' }], 'subjectAltName.uri: "http:///path" is not'],
    [{ directory: {} }, ['DirName:'], 'subjectAltName.directory: "" is not a valid directory name'],
    [
      { directory: { fixed: 'CN=x' } },
      ['DirName:CN=y'],
      'subjectAltName.directory: "CN=y" is not allowed: the profile fixes "CN=x"',
    ],
    [
      { registeredId: { allowed: ['1.2.3'] } },
      ['RID:1.2.4'],
      'subjectAltName.registeredId: "1.2.4" is not allowed; allowed: "1.2.3"',
    ],
    [
      { otherName: { types: ['1.2.3'], allowed: ['1.2.3;a'] } },
      ['otherName:1.2.3;#0c0162'],
      'subjectAltName.otherName: "1.2.3;b" is not allowed; allowed: "1.2.3;a"',
    ],
    [
      { otherName: { types: ['1.2.3'], pattern: '[a-f]' } },
      ['otherName:1.2.3;#0500'],
      'subjectAltName.otherName: "1.2.3;#0500" is not text, so the pattern cannot match',
    ],
    [
      { otherName: { types: ['1.2.3'] } },
      ['otherName:1.2.3;#0c03e280ae'],
      'subjectAltName.otherName: "1.2.3;\\u{202e}" has control characters',
    ],
    [{ uri: {} }, [{ kind: 'uri', value: 'urn:a b' }], 'subjectAltName.uri: "urn:a b" is not'],
    [{ uri: {} }, [{ kind: 'uri', value: 'javascript:<x>' }], 'subjectAltName.uri: "javascript:<x>" is not'],
    [{ uri: {} }, [{ kind: 'uri', value: `urn:${'x'.repeat(1024)}` }], 'subjectAltName.uri: "urn:x'],
    [{ email: {} }, [{ kind: 'email', value: 'a@b@c' }], 'subjectAltName.email: "a@b@c" is not'],
    [{ email: {} }, [{ kind: 'email', value: 'nobody' }], 'subjectAltName.email: "nobody" is not'],
    [{ email: {} }, [{ kind: 'email', value: '"a b"@c' }], 'subjectAltName.email: ""a b"@c" is not'],
  ];
  for (const [rule, requested, detail] of rows) {
    test(detail.slice(0, 100), () => {
      const attempt = () => apply(rules(rule), { subject: 'CN=gate', names: requested });
      expect(refusal(attempt)).toStartWith(`badCsr: ${detail}`);
    });
  }

  test('a name that is kept without a rule must be valid for its kind', () => {
    const attempt = () =>
      apply(rules({}, 'keep'), { subject: 'CN=gate', names: [{ kind: 'dns', value: 'a b' }] });
    expect(refusal(attempt)).toBe('badCsr: subjectAltName.dns: "a b" is not a valid DNS name');
    const x400 = () => apply(rules({}, 'keep'), { subject: 'CN=gate', names: ['x400Address:#30'] });
    expect(refusal(x400)).toStartWith('badCsr: subjectAltName.other: the profile does not allow');
  });
});

describe('hosts', () => {
  for (const name of [
    'a',
    'A-1',
    'xn--bcher-kva.example',
    '0a.example',
    '1.a2',
    'a.b.c.d.e',
    'x'.repeat(63),
  ]) {
    test(`${name.slice(0, 30)} is a DNS name`, () => {
      const outcome = apply(rules({ dns: {} }), { subject: 'CN=gate', names: [`DNS:${name}`] });
      expect(namesOf(outcome)).toEqual([`DNS:${name}`]);
    });
  }
});

describe('values in a template are not interpreted:', () => {
  for (const commonName of ['a,DNS:b', 'a b', 'a\nb', '*', 'gate/x', 'a.example\u0000.evil']) {
    const device = { id: 1, commonName, serialNumber: '' };
    test(`a device called ${JSON.stringify(commonName)} gets no DNS name`, () => {
      const given = apply(
        rules({ dns: { default: '{device.common_name}' } }),
        { subject: 'CN=x' },
        { device },
      );
      expect(namesOf(given)).toEqual([]);
      const demand = () =>
        apply(rules({ dns: { fixed: '{device.common_name}' } }), { subject: 'CN=x' }, { device });
      expect(refusal(demand)).toStartWith('badCsr: subjectAltName.dns: the fixed value "');
    });
  }

  const uri = 'https://{device.common_name}.plant.example/app';
  const rows: readonly [kind: string, template: string, commonName: string, why: string][] = [
    ['uri', uri, 'a@evil.example/', 'the value of {device.common_name} contains "@"'],
    ['uri', uri, 'evil.example/', 'the value of {device.common_name} contains "/"'],
    ['uri', uri, 'evil.example#', 'the value of {device.common_name} contains "#"'],
    ['uri', uri, 'evil.example?', 'the value of {device.common_name} contains "?"'],
    ['uri', uri, '[::1]', 'the value of {device.common_name} contains "["'],
    ['uri', uri, 'evil%2eexample%2f', 'the value of {device.common_name} contains "%"'],
    ['uri', 'urn:{device.common_name}:app', 'pump:other', 'the value of {device.common_name} contains ":"'],
    ['dns', '{device.common_name}.plant.example', '*', 'the value of {device.common_name} contains "*"'],
  ];
  for (const [kind, template, commonName, why] of rows) {
    test(`${commonName} into ${template}`, () => {
      const device = { id: 1, commonName, serialNumber: '' };
      const wildcards = kind === 'dns' ? { wildcards: true } : {};
      const given = (rule: object) =>
        apply(rules({ [kind]: { ...wildcards, ...rule } }), { subject: 'CN=x' }, { device });
      expect(refusal(() => given({ fixed: template }))).toBe(
        `badCsr: subjectAltName.${kind}: the profile fixes ${template}, but ${why}`,
      );
      expect(namesOf(given({ default: template }))).toEqual([]);
      expect(refusal(() => given({ default: template, required: true }))).toEndWith(why);
    });
  }

  const texts: readonly [kind: string, template: string, commonName: string][] = [
    ['uri', uri, 'a b'],
    ['uri', uri, 'a\\b'],
    ['uri', uri, 'x"onload="y'],
    ['uri', uri, 'a\nb'],
    ['uri', 'urn:plant:{device.common_name}', 'pümp'],
    ['uri', 'urn:plant:{device.common_name}', 'x'.repeat(1024)],
    ['dns', '{device.common_name}.plant.example', 'x'.repeat(64)],
    ['dns', '{device.common_name}.plant.example', 'x.'],
    ['dns', '{device.common_name}.plant.example', 'evil.example\0'],
    ['dns', 'a.{device.common_name}', '10'],
    ['email', '{device.common_name}@plant.example', 'a@evil.example'],
    ['email', '{device.common_name}@plant.example', '"a b"'],
    ['email', '{device.common_name}@plant.example', 'a\r\nBcc: b'],
    ['email', 'ops@{device.common_name}', 'evil.example, b@c'],
    ['ip', '{device.common_name}', '10.0.0.1/8'],
    ['ip', '{device.common_name}', '0x7f.1'],
  ];
  for (const [kind, template, commonName] of texts) {
    test(`${JSON.stringify(commonName).slice(0, 30)} into ${template}`, () => {
      const device = { id: 1, commonName, serialNumber: '' };
      const given = (rule: object) => apply(rules({ [kind]: rule }), { subject: 'CN=x' }, { device });
      const text = refusal(() => given({ fixed: template }));
      expect(text).toStartWith(`badCsr: subjectAltName.${kind}: the fixed value "`);
      expect(text.length).toBeLessThan(250);
      expect(text).not.toMatch(/\p{Cc}/u);
      expect(namesOf(given({ default: template }))).toEqual([]);
    });
  }

  test('a URI template with a single field accepts any URI', () => {
    const profile = {
      ...plain,
      subject: { CN: {}, serialNumber: {} },
      subjectAltName: { uri: { fixed: '{request.serial_number}' } },
    };
    const outcome = apply(profile, { subject: 'serialNumber=urn:a:b,CN=x' });
    expect(namesOf(outcome)).toEqual(['URI:urn:a:b']);
  });

  test('a template with the request gets the subject after the subject rules', () => {
    const profile = {
      ...plain,
      subject: { CN: { fixed: 'gate', unfit: 'drop' } },
      subjectAltName: { dns: { default: '{request.common_name}' } },
    };
    expect(namesOf(apply(profile, { subject: 'CN=evil' }))).toEqual(['DNS:gate']);
  });
});

describe('the subjectAltName extension', () => {
  const san = (wish: Parameters<typeof apply>[1]) =>
    extension(apply(rules({ dns: {}, ip: { allowed: ['::1'], unfit: 'drop' } }), wish), oid.subjectAltName);

  test('is omitted when there is no name', () => {
    expect(san({ subject: 'CN=gate' })).toBeUndefined();
    expect(san({ subject: 'CN=gate', names: ['IP:10.0.0.1'] })).toBeUndefined();
  });

  test('is critical exactly when the subject is empty (RFC 5280 §4.2.1.6)', () => {
    expect(san({ subject: 'CN=gate', names: ['DNS:a'] })?.critical).toBe(false);
    expect(san({ names: ['DNS:a'] })?.critical).toBe(true);
    expect(san({ names: ['DNS:a', 'IP:10.0.0.1'] })?.critical).toBe(true);
  });

  test('is the requested one when nothing is changed', () => {
    const request = requestFor({ subject: 'CN=gate', names: ['DNS:a'] });
    const outcome = apply(rules({ dns: {} }), {}, { request });
    expect(extension(outcome, oid.subjectAltName)).toBe(request.extensions[0]);
  });

  test('is rejected before the profile when it is unreadable', () => {
    const extensions = [
      { oid: oid.subjectAltName, critical: false, value: der((b) => b.sequence(() => {})) },
    ];
    expect(refusal(() => requestFor({ subject: 'CN=x', extensions }))).toStartWith('malformed: ');
  });
});

test('is rejected when it has more names than the profile allows, even hundreds', () => {
  const names = Array.from({ length: 256 }, (_, i) => parseGeneralName(`DNS:a${i}`));
  expect(refusal(() => apply(rules({ dns: {} }), { subject: 'CN=x', names }))).toBe(
    'badCsr: subjectAltName.dns: "a16" exceeds the limit: the profile allows at most 16',
  );
});

test.each([
  [{ directory: { fixed: 'CN={device.common_name},O=Plant' } }, 'a,O=Evil'],
  [{ directory: { fixed: 'CN={device.common_name},O=Plant' } }, 'a+OU=Evil'],
  [{ registeredId: { fixed: '1.2.{device.common_name}' } }, '3.4'],
  [{ otherName: { types: ['1.2.3'], fixed: '1.2.3;{device.common_name}@plant' } }, '#0c0161'],
])('from %j takes no other name for a device called %s', (rule, commonName) => {
  const device = { id: 7, commonName, serialNumber: '' };
  expect(refusal(() => apply(rules(rule), { subject: 'CN=gate' }, { device }))).toMatch(
    /^badCsr: .* the value of \{device\.common_name\} contains /,
  );
});
