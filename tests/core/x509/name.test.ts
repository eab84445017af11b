import { describe, expect, spyOn, test } from 'bun:test';
import * as asn1js from 'asn1js';
import fc from 'fast-check';
import { RelativeDistinguishedNames } from 'pkijs';
import { der } from '#core/der/builder.ts';
import { hex } from '#core/der/bytes.ts';
import { readDer } from '#core/der/reader.ts';
import { tag } from '#core/der/tag.ts';
import { Fault } from '#core/fault.ts';
import {
  attribute,
  buildName,
  commonName,
  emptyName,
  formatDistinguishedName,
  isSorted,
  type Name,
  type NameAttribute,
  parseDistinguishedName,
  readName,
  sameName,
} from '#core/x509/name.ts';
import { foldName } from '#core/x509/path/folded-name.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { openssl, pem } from '#tests/fixtures/openssl.ts';
import { growsFasterThanInput } from '#tests/growth.ts';
import { runs } from '#tests/property.ts';

const cn = (value: string, identifier: number = tag.utf8String): NameAttribute => ({
  type: '2.5.4.3',
  value,
  tag: identifier,
});
const read = (encoded: Uint8Array): Name => readDer(encoded, readName);
/** Returns a name with one CN, from the DER of its value. */
const nameOf = (value: string): Uint8Array =>
  der((b) =>
    b.sequence((s) => s.set((r) => r.sequence((a) => a.oid('2.5.4.3').raw(Buffer.from(value, 'hex'))))),
  );

describe('strings in names', () => {
  test.each([
    ['UTF8String', '0c08 47 72 c3bc c39f 65 0a', 'Grüße\n'],
    ['PrintableString', '1305 412d 5a20 39', 'A-Z 9'],
    ['IA5String', '1603 614062', 'a@b'],
    ['NumericString', '1203 312032', '1 2'],
    ['VisibleString', '1a01 7e', '~'],
    ['TeletexString in Latin-1', '1403 fcdf41', 'üßA'],
    ['BMPString', '1e04 00fc 20ac', 'ü€'],
    ['UniversalString', '1c08 000000fc 0001f600', 'ü😀'],
  ])('%s is read and written', (_, value, text) => {
    const encoded = nameOf(value.replaceAll(' ', ''));
    const name = read(encoded);
    expect(commonName(name)).toBe(text);
    expect(buildName(name.rdns).der).toEqual(encoded);
  });

  test.each([
    ['bad UTF-8', '0c02c328'],
    ['a NUL', '0c03610062'],
    ['half a character of BMPString', '1e03006100'],
    ['a lone surrogate in BMPString', '1e02d800'],
    ['a surrogate in UniversalString', '1c040000d800'],
    ['a character beyond Unicode', '1c0400110000'],
    ['Latin-1 in a PrintableString', '1301fc'],
  ])('%s is rejected', (_, value) => {
    expect(() => read(nameOf(value))).toThrow(Fault);
  });

  test('a value that is not a string is kept as DER', () => {
    const name = read(nameOf('03020780'));
    expect(name.rdns).toEqual([[{ type: '2.5.4.3', value: '#03020780', tag: tag.bitString }]]);
    expect(buildName(name.rdns).der).toEqual(name.der);
  });
});

/** Returns a name with one attribute of an unnamed type, from the DER of its value. */
const nameOfUnknownType = (value: string): Uint8Array =>
  der((b) =>
    b.sequence((s) => s.set((r) => r.sequence((a) => a.oid('2.5.4.51').raw(Buffer.from(value, 'hex'))))),
  );

describe('names that can be read but not written', () => {
  test.each([
    ['an underscore in a PrintableString', '1304615f6263', 'a_bc'],
    ['@, * and & in a PrintableString', '1303402a26', '@*&'],
    ['letters in a NumericString', '1203616263', 'abc'],
    ['a surrogate pair in a BMPString', '1e04d83dde00', '😀'],
    ['control characters in a VisibleString', '1a020102', '\x01\x02'],
    ['nothing at all in a UTF8String', '0c00', ''],
  ])('%s is printed as it was read', (_, value, text) => {
    const name = read(nameOfUnknownType(value));
    expect(name.rdns[0]?.[0]?.value).toBe(text);
    expect(formatDistinguishedName(name)).toBe(`2.5.4.51=#${value}`);
    expect(sameName(name, read(nameOfUnknownType(value)))).toBe(true);
    expect(foldName(name)).toBe(foldName(read(nameOfUnknownType(value))));
  });

  test('the subject of the smallest such certificate can be printed', () => {
    const name = read(Buffer.from('3010310e300c06042a0304051304615f6263', 'hex'));
    expect(formatDistinguishedName(name)).toBe('1.2.3.4.5=#1304615f6263');
  });

  test('names with the same text in different string types are equal', () => {
    const printable = read(nameOf('1303615f62'));
    expect(sameName(printable, read(nameOf('0c03615f62')))).toBe(true);
    expect(sameName(printable, read(nameOf('0c03612d62')))).toBe(false);
  });

  test('the builder rejects such a name', () => {
    const name = read(nameOfUnknownType('1304615f6263'));
    expect(() => buildName(name.rdns)).toThrow(Fault);
  });
});

test('each value is normalized once when RDNs with many attributes are compared', () => {
  const rdn = (from: number) => [Array.from({ length: 64 }, (_, n) => cn(`ä${(from + n) % 64}`))];
  const [a, b] = [buildName(rdn(0)), buildName(rdn(1))];
  const unsorted = { der: new Uint8Array(0), rdns: b.rdns.map((one) => one.toReversed()) };
  const normalize = spyOn(String.prototype, 'normalize');
  try {
    expect(sameName(a, unsorted)).toBe(true);
    expect(normalize).toHaveBeenCalledTimes(128);
  } finally {
    normalize.mockRestore();
  }
});

test('the attributes of an RDN are sorted as DER requires, and a wrong order is detected', () => {
  const name = buildName([[attribute('O', 'b'), attribute('CN', 'a'), attribute('1.2.3', 'c')]]);
  expect(formatDistinguishedName(name)).toBe(formatDistinguishedName(read(name.der)));
  expect(isSorted(name)).toBe(true);
  const members = readDer(name.der, (reader) => {
    const set = reader.sequence().set();
    return [set.element(), set.element(), set.element()];
  });
  const reversed = read(
    der((b) => b.sequence((s) => s.set((r) => members.toReversed().forEach((m) => void r.raw(m))))),
  );
  expect(isSorted(reversed)).toBe(false);
  expect(sameName(reversed, name)).toBe(true);
});

test('spaces inside a value are scanned once', async () => {
  const text = (spaces: number) => `CN=a${' '.repeat(spaces)}b`;
  const parse = (written: string) => expect(() => parseDistinguishedName(written)).toThrow(Fault);
  expect(await growsFasterThanInput(text, parse, 4000)).toBe(false);
});

describe('reading names', () => {
  test('an empty name is read', () => {
    expect(read(emptyName.der)).toEqual(emptyName);
    expect(buildName([])).toBe(emptyName);
  });

  test('64 attributes are read, and 65 rejected', () => {
    const rdns = Array.from({ length: 64 }, () => [cn('a')]);
    expect(read(buildName(rdns).der).rdns).toEqual(rdns);
    const longer = der((b) =>
      b.sequence((s) => [...rdns, rdns[0]!].forEach(() => void s.raw(nameOf('0c0161').subarray(2)))),
    );
    expect(() => read(longer)).toThrow(Fault);
    expect(() => buildName([...rdns, [cn('a')]])).toThrow(Fault);
  });

  test.each([
    ['an empty RDN', '30023100'],
    ['an attribute without a value', '30093107300506035504 03'],
    ['an attribute with two values', '300d310b3009060355040305000500'],
    ['something else', '0400'],
  ])('%s is rejected', (_, digits) => {
    expect(() => read(Buffer.from(digits.replaceAll(' ', ''), 'hex'))).toThrow(Fault);
  });

  test('the most specific common name is returned', () => {
    expect(commonName(parseDistinguishedName('CN=device,CN=plant'))).toBe('device');
    expect(commonName(parseDistinguishedName('O=Example'))).toBeUndefined();
  });
});

describe('attributes', () => {
  test.each([
    ['C', 'DE', tag.printableString],
    ['serialNumber', 'SN-1', tag.printableString],
    ['dnQualifier', 'a', tag.printableString],
    ['DC', 'example', tag.ia5String],
    ['emailAddress', 'a@b.example', tag.ia5String],
    ['CN', 'gerät', tag.utf8String],
    ['2.5.4.3', 'by OID', tag.utf8String],
    ['1.2.3.4', 'of a type nobody knows', tag.utf8String],
  ])('%s is written as RFC 5280 §4.1.2.4 requires', (type, value, identifier) => {
    expect(attribute(type, value)).toMatchObject({ value, tag: identifier });
  });

  test.each([
    ['C', 'D'],
    ['C', 'DEU'],
    ['CN', ''],
    ['CN', 'x'.repeat(65)],
    ['CN', '😀'.repeat(65)],
    ['O', 'x'.repeat(65)],
    ['CN', 'a\nb'],
    ['CN', 'a\u0085b'],
    ['CN', '\ud800'],
    ['serialNumber', 'a_b'],
    ['DC', 'ü'],
    ['nonsense', 'x'],
    ['1.2.3.', 'x'],
    ['9.9', 'x'],
  ])('%s = %j is rejected', (type, value) => {
    expect(() => attribute(type, value)).toThrow(Fault);
  });

  test('lengths are counted in characters, not in UTF-16 units', () => {
    expect(attribute('CN', '😀'.repeat(64)).value).toHaveLength(128);
  });
});

describe('RFC 4514', () => {
  // The examples of RFC 4514 §4, without the escapes that are optional.
  test.each([
    'UID=jsmith,DC=example,DC=net',
    'OU=Sales+CN=J.  Smith,DC=example,DC=net',
    'CN=James \\"Jim\\" Smith\\, III,DC=example,DC=net',
    'CN=Before\\0DAfter,DC=example,DC=net',
    '1.3.6.1.4.1.1466.0=#04024869',
  ])('%s is read and written', (text) => {
    const name = text.includes('\\0D')
      ? read(buildName([[attribute('DC', 'net')], [attribute('DC', 'example')], [cn('Before\rAfter')]]).der)
      : parseDistinguishedName(text);
    expect(formatDistinguishedName(name)).toBe(text);
  });

  test.each([
    ['CN=Lu\\C4\\8Di\\C4\\87', 'CN=Lučić'],
    ['cn=a , o = b', 'CN=a,O=b'],
    ['CN=\\ a \\ ', 'CN=\\ a \\ '],
    ['CN=\\20', 'CN=\\ '],
    ['CN=a\\=b=c', 'CN=a=b=c'],
    ['2.5.4.3=x', 'CN=x'],
    ['commonName=x,E=a@b.example,S=y,streetAddress=z', 'CN=x,emailAddress=a@b.example,ST=y,STREET=z'],
    ['CN=#0c0161', 'CN=a'],
    ['CN=\\#a', 'CN=\\#a'],
    ['CN=a#b', 'CN=a#b'],
    ['', ''],
    ['  ', ''],
  ])('"%s" is read as "%s"', (text, canonical) => {
    expect(formatDistinguishedName(parseDistinguishedName(text))).toBe(canonical);
  });

  test.each([
    'CN',
    'CN=',
    '=a',
    'CN=a,',
    'CN=a,,O=b',
    'CN=a+',
    'CN=a;O=b',
    'CN=a"b"',
    'CN="a"',
    'CN=a<b',
    'CN=a\\',
    'CN=a\\x',
    'CN=\\C3',
    'CN=\\00',
    'CN=#0c01',
    'CN=#0c016',
    'CN=#xyz',
    'CN=#',
    'CN=#0c016105',
    'X Y=a',
    'oid.2.5.4.3=a',
    `CN=${'a'.repeat(70_000)}`,
    Array.from({ length: 65 }, () => 'CN=a').join(','),
  ])('%s is rejected', (text) => {
    expect(() => parseDistinguishedName(text)).toThrow(Fault);
  });
});

const texts = fc
  .string({
    unit: fc.oneof(fc.constantFrom(...' ,+"\\<>;=#/aBü€😀'), fc.string({ minLength: 1, maxLength: 1 })),
    minLength: 1,
    maxLength: 30,
  })
  .filter((text) => text.isWellFormed() && !/\p{Cc}/u.test(text));
const attributes = fc.oneof(
  fc.tuple(fc.constantFrom('CN', 'O', 'OU', 'L', 'ST', 'title', 'UID', 'name', '1.2.3.4.5'), texts),
  fc.tuple(fc.constant('C'), fc.constantFrom('DE', 'US')),
  fc.tuple(fc.constant('DC'), fc.constantFrom('example', 'net')),
);
const rdnLists = fc.array(
  fc.array(
    attributes.map(([type, value]) => attribute(type, value)),
    { minLength: 1, maxLength: 3 },
  ),
  { maxLength: 5 },
);

describe('names of all kinds', () => {
  test('are read as they were written, in DER and as text', () => {
    fc.assert(
      fc.property(rdnLists, (rdns) => {
        const name = buildName(rdns);
        expect(buildName(read(name.der).rdns).der).toEqual(name.der);
        const parsed = parseDistinguishedName(formatDistinguishedName(name));
        expect(parsed.der).toEqual(name.der);
        expect(sameName(parsed, name)).toBe(true);
      }),
      runs(1000),
    );
  });

  test('pkijs reads the same attributes', () => {
    fc.assert(
      fc.property(rdnLists, (rdns) => {
        const { result } = asn1js.fromBER(buildName(rdns).der);
        const { typesAndValues } = new RelativeDistinguishedNames({ schema: result });
        const theirs = typesAndValues.map(({ type, value }) => [type, value.valueBlock.value]);
        const ours = read(buildName(rdns).der).rdns.flat();
        expect(theirs).toEqual(ours.map(({ type, value }) => [type, value]));
      }),
      runs(200),
    );
  });

  test('OpenSSL prints the same text (-nameopt RFC2253)', () => {
    const text = 'CN=a\\, \\"b\\" \\+ c,OU=\\#1,O=Grüße,ST=y,DC=example';
    const csr = openssl(
      [
        'req',
        '-new',
        '-key',
        'key.pem',
        '-utf8',
        '-outform',
        'DER',
        '-out',
        'csr',
        '-subj',
        '/DC=example/ST=y/O=Grüße/OU=#1/CN=a, "b" \\+ c',
      ],
      { 'key.pem': testKey('p-256').pem() },
      ['csr'],
    ).file('csr');
    const { text: printed } = openssl(
      ['req', '-in', 'csr.pem', '-noout', '-subject', '-nameopt', 'RFC2253,-esc_msb,utf8'],
      { 'csr.pem': pem('CERTIFICATE REQUEST', csr) },
    );
    const subject = readDer(csr, (reader) => {
      const info = reader.sequence().sequence();
      info.integer();
      return readName(info);
    });
    expect(printed.trim()).toBe(`subject=${formatDistinguishedName(subject)}`);
    expect(sameName(subject, parseDistinguishedName(text))).toBe(true);
  });

  test('arbitrary octets and changed names give a Fault, or a name that can be printed', () => {
    const valid = buildName([[attribute('C', 'DE')], [attribute('CN', 'grün'), attribute('UID', 'x')]]).der;
    const changed = fc
      .tuple(fc.nat({ max: valid.length - 1 }), fc.integer({ min: 0, max: 255 }))
      .map(([at, octet]) => valid.with(at, octet));
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 60 }), changed), (octets) => {
        try {
          const name = read(octets);
          expect(formatDistinguishedName(name)).toMatch(/^[^\x00-\x1f]*$/);
          expect(buildName(name.rdns).der.length).toBe(octets.length);
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
          expect((error as Fault).code).toBe('malformed');
        }
      }),
      runs(2000),
    );
  });

  test('arbitrary text gives a Fault or a name', () => {
    const piece = fc.constantFrom(
      'CN',
      'O',
      '=',
      ',',
      '+',
      '\\',
      '#',
      '"',
      ' ',
      'a',
      '0c0161',
      'ü',
      '1.2.3',
      '\0',
      '\ud800',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        try {
          const name = parseDistinguishedName(pieces.join(''));
          expect(hex(parseDistinguishedName(formatDistinguishedName(name)).der)).toBe(hex(name.der));
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
        }
      }),
      runs(3000),
    );
  });
});

describe('names are equal (RFC 5280 §7.1)', () => {
  test.each([
    ['CN=Example', 'CN=EXAMPLE'],
    ['CN=a  b', 'CN= a b'],
    ['CN=\\ a b\\ ', 'CN=a b'],
    ['CN=a+O=b', 'O=b+CN=a'],
    ['CN=a+CN=A+O=b', 'O=b+CN=a+CN=a'],
    ['CN=ﬁne', 'CN=FINE'],
    ['CN=a', 'CN=#130161'],
    ['CN=a', 'CN=#1e020061'],
  ])('%s and %s', (a, b) => {
    expect(sameName(parseDistinguishedName(a), parseDistinguishedName(b))).toBe(true);
  });

  test.each([
    ['CN=a', 'CN=b'],
    ['CN=a', 'O=a'],
    ['CN=a', ''],
    ['CN=a,O=b', 'O=b,CN=a'],
    ['CN=a+O=b', 'CN=a,O=b'],
    ['CN=a+O=b', 'CN=a+O=c'],
    ['CN=a+CN=a+O=b', 'CN=a+O=b+O=b'],
    ['CN=ab', 'CN=a b'],
    ['CN=#03020780', 'CN=\\#03020780'],
  ])('%s and %s are not', (a, b) => {
    expect(sameName(parseDistinguishedName(a), parseDistinguishedName(b))).toBe(false);
  });

  test('in both directions, and every name equals itself', () => {
    fc.assert(
      fc.property(rdnLists, rdnLists, (a, b) => {
        const [one, other] = [buildName(a), buildName(b)];
        expect(sameName(one, other)).toBe(sameName(other, one));
        expect(sameName(one, read(one.der))).toBe(true);
      }),
      runs(300),
    );
  });
});
