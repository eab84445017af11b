import { describe, expect, test } from 'bun:test';
import * as asn1js from 'asn1js';
import fc from 'fast-check';
import { GeneralNames } from 'pkijs';
import { der } from '#core/der/builder.ts';
import { readDer } from '#core/der/reader.ts';
import { contextConstructed } from '#core/der/tag.ts';
import { Fault } from '#core/fault.ts';
import {
  addGeneralName,
  addGeneralNames,
  formatGeneralName,
  type GeneralName,
  parseGeneralName,
  readGeneralName,
  readGeneralNames,
  sameGeneralName,
  sameGeneralNames,
} from '#core/x509/general-name.ts';
import { parseDistinguishedName } from '#core/x509/name.ts';
import { runs } from '#tests/property.ts';

const hostname = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,5}[a-z0-9])?(\.[a-z0-9]{1,5}){0,3}$/);
const octets = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const element = fc.uint8Array({ maxLength: 9 }).map((bytes) => der((b) => b.octetString(bytes)));

const generalNames: fc.Arbitrary<GeneralName> = fc.oneof(
  hostname.map((value) => ({ kind: 'dns' as const, value })),
  hostname.map((host) => ({ kind: 'email' as const, value: `a.b+c@${host}` })),
  hostname.map((host) => ({ kind: 'uri' as const, value: `https://${host}/x?y=z#f` })),
  fc.oneof(octets(4), octets(16), octets(8), octets(32)).map((value) => ({ kind: 'ip' as const, value })),
  fc.constantFrom('', 'CN=a', 'CN=a\\,b,O=c').map((text) => ({
    kind: 'directory' as const,
    value: parseDistinguishedName(text),
  })),
  fc.constantFrom('1.2.3', '2.999.1').map((value) => ({ kind: 'registeredId' as const, value })),
  element.map((value) => ({ kind: 'otherName' as const, type: '1.3.6.1.4.1.311.20.2.3', value })),
  fc.tuple(fc.constantFrom(3, 5), element).map(([n, value]) => ({
    kind: 'other' as const,
    tag: contextConstructed(n),
    value,
  })),
);

describe('general names', () => {
  test('are read as they were written, in DER and as text', () => {
    fc.assert(
      fc.property(generalNames, (name) => {
        const encoded = der((b) => addGeneralName(b, name));
        const read = readDer(encoded, readGeneralName);
        expect(read).toEqual(name);
        expect(sameGeneralName(read, name)).toBe(true);
        expect(parseGeneralName(formatGeneralName(name))).toEqual(name);
      }),
      runs(1000),
    );
  });

  test('of different kinds or values are different', () => {
    fc.assert(
      fc.property(generalNames, generalNames, (a, b) => {
        expect(sameGeneralName(a, b)).toBe(formatGeneralName(a) === formatGeneralName(b));
      }),
      runs(500),
    );
  });

  test('lists are read as they were written, also with implicit tags', () => {
    fc.assert(
      fc.property(fc.array(generalNames, { minLength: 1, maxLength: 5 }), (names) => {
        const read = (identifier?: number) =>
          readDer(
            der((b) => addGeneralNames(b, names, identifier)),
            (r) => readGeneralNames(r, identifier),
          );
        expect(read()).toEqual(names);
        expect(read(contextConstructed(1))).toEqual(names);
      }),
      runs(200),
    );
  });

  test('pkijs reads the same names', () => {
    const names: GeneralName[] = ['email:a@b.example', 'DNS:a.example', 'URI:urn:dev:1', 'RID:1.2.3'].map(
      parseGeneralName,
    );
    const { result } = asn1js.fromBER(der((b) => addGeneralNames(b, names)));
    const theirs = new GeneralNames({ schema: result }).names.map(({ type, value }) => [type, value]);
    expect(theirs).toEqual([
      [1, 'a@b.example'],
      [2, 'a.example'],
      [6, 'urn:dev:1'],
      [8, '1.2.3'],
    ]);
  });

  test.each([
    ['DNS:*.example.com', 'DNS:*.example.com'],
    ['dns:_sip._tcp.example', 'DNS:_sip._tcp.example'],
    ['ip:10.0.0.0/255.0.0.0', 'IP:10.0.0.0/255.0.0.0'],
    ['Email:a@b', 'email:a@b'],
    ['uri:urn:uuid:1', 'URI:urn:uuid:1'],
    ['RID:1.2.3', 'RID:1.2.3'],
    ['dirname:cn=a , o=b', 'DirName:CN=a,O=b'],
    ['otherName:1.2.3;#0C0161', 'otherName:1.2.3;#0c0161'],
    ['x400Address:#0500', 'x400Address:#0500'],
    ['ediPartyName:#', 'ediPartyName:#'],
  ])('%s is written %s', (text, canonical) => {
    expect(formatGeneralName(parseGeneralName(text))).toBe(canonical);
  });

  test.each([
    '',
    'a.example',
    'DNS:',
    'DNS:a b',
    'DNS:a..b',
    'DNS:-a',
    'DNS:a.',
    'DNS:ü',
    'DNS:a.*.b',
    `DNS:${'a'.repeat(64)}`,
    `DNS:${'a.'.repeat(127)}b`,
    'email:a',
    'email:@b',
    'email:a@b@c',
    'URI:example',
    'URI:http://a b',
    'IP:1.2.3',
    'IP:1.2.3.4/8',
    'IP:1.2.3.4/255.0.0.0/1.2.3.4',
    'IP:1.2.3.4/::1',
    'RID:1',
    'DirName:CN',
    'otherName:1.2.3',
    'otherName:1.2.3;0500',
    'otherName:1.2.3;#05',
    'otherName:1.2.3;#05000500',
    'x400Address:0500',
    'other:#0500',
    'DNS:a\0b',
  ])('%j is rejected', (text) => {
    expect(() => parseGeneralName(text)).toThrow(Fault);
  });

  test.each([
    ['DNS:a.example', 'DNS:A.EXAMPLE', true],
    ['email:Joe@a.example', 'email:Joe@A.example', true],
    ['email:Joe@a.example', 'email:joe@a.example', false],
    ['URI:http://a/b', 'URI:http://a/B', false],
    ['DirName:CN=a', 'DirName:CN=A', true],
    ['DNS:a.example', 'URI:a.example:x', false],
  ])('%s and %s: %p', (a, b, same) => {
    expect(sameGeneralName(parseGeneralName(a), parseGeneralName(b))).toBe(same);
  });

  test.each([
    [['DNS:a', 'DNS:b'], ['DNS:B', 'DNS:a'], true],
    [['DNS:a', 'DNS:a'], ['DNS:a'], true],
    [['DNS:a', 'DNS:a'], ['DNS:a', 'DNS:b'], false],
    [['DNS:a'], [], false],
    [[], [], true],
  ])('the names %j and %j: %p', (a, b, same) => {
    expect(sameGeneralNames(a.map(parseGeneralName), b.map(parseGeneralName))).toBe(same);
  });

  test.each([
    ['an empty list', '3000'],
    ['a NUL in a DNS name', '3005820361 0062'],
    ['a line break in an email address', '300581030a4062'],
    ['an octet above 7F', '30038201fc'],
    ['an IP address of 5 octets', '300787050102030405'],
    ['an unknown kind', '30028900'],
    ['a directory name in an implicit tag', '3002a400'],
    ['two directory names', '3006a40430003000'],
    ['an other name without a value', '3006a00406022a03'],
  ])('%s is rejected', (_, digits) => {
    const encoded = Buffer.from(digits.replaceAll(' ', ''), 'hex');
    expect(() => readDer(encoded, (r) => readGeneralNames(r))).toThrow(Fault);
  });

  test('256 names are read, and 257 rejected', () => {
    const names = Array.from({ length: 257 }, (): GeneralName => ({ kind: 'dns', value: 'a' }));
    const read = (count: number) =>
      readDer(
        der((b) => addGeneralNames(b, names.slice(0, count))),
        (r) => readGeneralNames(r),
      );
    expect(read(256)).toHaveLength(256);
    expect(() => read(257)).toThrow(Fault);
  });

  test('arbitrary octets and changed names give a Fault, or names that can be printed', () => {
    const changed = fc
      .tuple(
        fc.array(generalNames, { minLength: 1, maxLength: 3 }),
        fc.nat(),
        fc.integer({ min: 0, max: 255 }),
      )
      .map(([names, at, octet]) => {
        const encoded = der((b) => addGeneralNames(b, names));
        return encoded.with(at % encoded.length, octet);
      });
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 40 }), changed), (octets) => {
        try {
          for (const name of readDer(octets, (r) => readGeneralNames(r))) {
            expect(formatGeneralName(name)).toMatch(/^[^\x00-\x1f]+$/);
          }
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
          expect((error as Fault).code).toBe('malformed');
        }
      }),
      runs(2000),
    );
  });
});
