import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Fields, parseTemplate, type Template } from '#core/profiles/template.ts';
import { parseDistinguishedName } from '#core/x509/name.ts';
import { runs } from '#tests/property.ts';

const from: Fields = {
  device: { id: 7, commonName: 'pump-1', serialNumber: 'SN-0001' },
  domain: { uniqueName: 'plant' },
  request: parseDistinguishedName('CN=app,serialNumber=42'),
};

function template(text: string): Template {
  const parsed = parseTemplate(text);
  if (typeof parsed === 'string') throw new Error(parsed);
  return parsed;
}

describe('fields are replaced by their values', () => {
  const rows: readonly [text: string, value: string][] = [
    ['ACME', 'ACME'],
    ['{device.common_name}', 'pump-1'],
    ['{device.id}', '7'],
    ['{device.serial_number}/{device.id}', 'SN-0001/7'],
    ['urn:{domain.unique_name}:{device.common_name}:app', 'urn:plant:pump-1:app'],
    ['{request.common_name}-{request.serial_number}', 'app-42'],
    ['{{device.common_name}}', '{device.common_name}'],
    ['{{{device.id}}}', '{7}'],
    ['a{{b}}c', 'a{b}c'],
  ];
  for (const [text, value] of rows) {
    test(text, () => {
      expect(template(text).render(from)).toBe(value);
    });
  }
});

describe('an invalid template is rejected with a reason', () => {
  const rows: readonly [text: string, why: string][] = [
    ['{', 'a lone "{"'],
    ['a}', 'a lone "}"'],
    ['{}', 'no field {}'],
    ['{device}', 'no field {device}'],
    ['{device.password}', 'no field {device.password}'],
    ['{ device.id }', 'no field { device.id }'],
    ['{__proto__}', 'no field {__proto__}'],
    ['{constructor}', 'no field {constructor}'],
    ['{device.common_name', 'a lone "{"'],
    [`{${'x'.repeat(200)}}`, 'no field {xxx'],
    ['{device.common_name.length}', 'no field {device.common_name.length}'],
    ['{device[common_name]}', 'no field {device[common_name]}'],
    ['{device.{domain.unique_name}}', 'a lone "{"'],
    ['${device.id', 'a lone "{"'],
    ['{DEVICE.ID}', 'no field {DEVICE.ID}'],
    ['{device.id\0}', 'no field {device.id\0}'],
    ['{'.repeat(255), 'a lone "{"'],
    [`${'{'.repeat(128)}device.id${'}'.repeat(127)}`, 'a lone "}"'],
  ];
  for (const [text, why] of rows) {
    test(text.slice(0, 40), () => {
      expect(parseTemplate(text)).toStartWith(why);
    });
  }
});

describe('a field without a value gives no text and names the field', () => {
  const rows: readonly [text: string, from: Fields, why: string][] = [
    ['x-{device.id}', { ...from, device: undefined }, 'the requester is not a device'],
    [
      '{device.serial_number}',
      { ...from, device: { id: 7, commonName: 'pump-1', serialNumber: '' } },
      'the requester is not a device with a serial number',
    ],
    ['{request.common_name}', { ...from, request: undefined }, 'the request has no common name'],
    [
      '{domain.unique_name}{request.serial_number}',
      { ...from, request: parseDistinguishedName('CN=x') },
      'the request has no serial number',
    ],
  ];
  for (const [text, fields, why] of rows) {
    test(text, () => {
      expect(template(text).render(fields)).toBeUndefined();
      expect(template(text).missing(fields)).toBe(why);
    });
  }
});

test('values are inserted literally: braces in them are not fields', () => {
  const device = { id: 1, commonName: '{device.id}{{}}', serialNumber: '$&$1' };
  expect(template('{device.common_name}{device.serial_number}').render({ ...from, device })).toBe(
    '{device.id}{{}}$&$1',
  );
});

describe('delimiters', () => {
  const strict = (text: string): Template => {
    const parsed = parseTemplate(text, /[:/]/);
    if (typeof parsed === 'string') throw new Error(parsed);
    return parsed;
  };
  const device = { id: 7, commonName: 'a:b', serialNumber: 'SN' };

  test('in the value of a field next to other text are rejected by name', () => {
    expect(strict('urn:{device.common_name}').render({ ...from, device })).toBeUndefined();
    expect(strict('urn:{device.common_name}').missing({ ...from, device })).toBe(
      'the value of {device.common_name} contains ":"',
    );
    expect(strict('{device.id}{device.common_name}').render({ ...from, device })).toBeUndefined();
  });

  test('are allowed in the text and in a template with a single field', () => {
    expect(strict('urn:{device.serial_number}/x').render({ ...from, device })).toBe('urn:SN/x');
    expect(strict('{device.common_name}').render({ ...from, device })).toBe('a:b');
  });
});

test('any text with doubled braces is a constant', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: 'binary' }), (text) => {
      const parsed = template(text.replace(/[{}]/g, '$&$&'));
      expect(parsed.constant).toBe(true);
      expect(parsed.render(from)).toBe(text);
    }),
    runs(200),
  );
});
