import { describe, expect, test } from 'bun:test';
import * as asn1js from 'asn1js';
import fc from 'fast-check';
import { DerBuilder, der } from '#core/der/builder.ts';
import { hex } from '#core/der/bytes.ts';
import { type DerReader, readDer } from '#core/der/reader.ts';
import { context, tag } from '#core/der/tag.ts';
import { runs } from '#tests/property.ts';

describe('DerBuilder', () => {
  test.each<[string, (builder: DerBuilder) => unknown]>([
    ['0101FF', (b) => b.boolean(true)],
    ['020100', (b) => b.integer(0)],
    ['02020080', (b) => b.integer(128)],
    ['020180', (b) => b.integer(-128)],
    ['0202FF7F', (b) => b.integer(-129)],
    ['0209010000000000000000', (b) => b.integer(2n ** 64n)],
    ['800105', (b) => b.integer(5, context(0))],
    ['020100', (b) => b.unsigned(Uint8Array.of(0, 0))],
    ['02020080', (b) => b.unsigned(Uint8Array.of(0, 0x80))],
    ['02017F', (b) => b.unsigned(Uint8Array.of(0, 0x7f))],
    ['0603550403', (b) => b.oid('2.5.4.3')],
    ['030100', (b) => b.bitString(new Uint8Array())],
    ['030100', (b) => b.namedBits([false, false])],
    ['03020780', (b) => b.namedBits([true, false, false])],
    ['0303070080', (b) => b.namedBits([false, false, false, false, false, false, false, false, true])],
    ['0500', (b) => b.null()],
    ['0C02C3BC', (b) => b.string('ü')],
    ['160141', (b) => b.string('A', tag.ia5String)],
    ['170D3730303130313030303030305A', (b) => b.time(0)],
    ['180F31393730303130313030303030305A', (b) => b.generalizedTime(0)],
    ['3004A0020500', (b) => b.sequence((s) => s.explicit(0, (e) => e.null()))],
    ['3106020101020102', (b) => b.setOf([Uint8Array.of(2, 1, 2), Uint8Array.of(2, 1, 1)])],
    ['31070401FF04020000', (b) => b.setOf([Uint8Array.of(4, 2, 0, 0), Uint8Array.of(4, 1, 255)])],
  ])('writes %s', (digits, build) => {
    expect(hex(der(build))).toBe(digits);
  });

  test.each([0, 1, 127, 128, 255, 256, 65535, 65536, 70000])(
    'contents of %d octets are read as written, from bytes and from a closure',
    (length) => {
      const contents = new Uint8Array(length).fill(7);
      const direct = der((b) => b.octetString(contents));
      expect(der((b) => b.octetString((inner) => inner.raw(contents)))).toEqual(direct);
      expect(readDer(direct, (r) => r.octetString())).toEqual(contents);
    },
  );

  test.each([
    [0xffffff, '0483FFFFFF'],
    [0x1000000, '048401000000'],
  ])('a length of %d is written in the fewest octets', (length, header) => {
    const contents = new Uint8Array(length);
    for (const encoded of [
      der((b) => b.octetString(contents)),
      der((b) => b.octetString((inner) => inner.raw(contents))),
    ]) {
      expect(hex(encoded.subarray(0, header.length / 2))).toBe(header);
      expect(encoded.length).toBe(header.length / 2 + length);
      expect(readDer(encoded, (reader) => reader.octetString()).length).toBe(length);
    }
  });

  test('the result of finish does not change with later writes', () => {
    const builder = new DerBuilder();
    builder.null();
    const first = builder.finish();
    builder.boolean(true);
    expect(first).toEqual(Uint8Array.of(5, 0));
    expect(builder.length).toBe(5);
    expect(hex(builder.view())).toBe('05000101FF');
  });

  test('integers are read as written, also by asn1js', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n }), (n) => {
        const encoded = der((b) => b.integer(n));
        expect(readDer(encoded, (r) => r.integer())).toBe(n);
        const { result } = asn1js.fromBER(encoded);
        expect((result as asn1js.Integer).toBigInt()).toBe(n);
      }),
      runs(500),
    );
  });

  test('the magnitude of an unsigned integer is read as written', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 30 }), (magnitude) => {
        const value = readDer(
          der((b) => b.unsigned(magnitude)),
          (r) => r.integer(),
        );
        expect(value).toBe(BigInt(`0x${hex(magnitude)}`));
      }),
      runs(500),
    );
  });
});

type Tree =
  | { kind: 'leaf'; bytes: Uint8Array }
  | { kind: 'text'; text: string }
  | { kind: 'node'; members: Tree[] };

const trees = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    fc.record({ kind: fc.constant('leaf' as const), bytes: fc.uint8Array({ maxLength: 200 }) }),
    fc.record({ kind: fc.constant('text' as const), text: fc.string({ unit: 'grapheme', maxLength: 60 }) }),
    fc.record({ kind: fc.constant('node' as const), members: fc.array(tie('tree'), { maxLength: 5 }) }),
  ),
})).tree;

function write(builder: DerBuilder, tree: Tree): void {
  if (tree.kind === 'leaf') builder.octetString(tree.bytes);
  else if (tree.kind === 'text') builder.string(tree.text);
  else {
    builder.sequence((s) => {
      for (const member of tree.members) write(s, member);
    });
  }
}

function read(reader: DerReader): Tree {
  if (reader.peek() === tag.octetString) return { kind: 'leaf', bytes: reader.octetString() };
  if (reader.peek() === tag.utf8String) return { kind: 'text', text: reader.utf8String() };
  const sequence = reader.sequence();
  const members: Tree[] = [];
  while (!sequence.empty) members.push(read(sequence));
  return { kind: 'node', members };
}

function toAsn1js(tree: Tree): asn1js.BaseBlock {
  if (tree.kind === 'leaf') return new asn1js.OctetString({ valueHex: tree.bytes.slice().buffer });
  if (tree.kind === 'text') return new asn1js.Utf8String({ value: tree.text });
  return new asn1js.Sequence({ value: tree.members.map(toAsn1js) });
}

describe('nested structures', () => {
  test('are read as written', () => {
    fc.assert(
      fc.property(trees, (tree) => {
        expect(
          readDer(
            der((b) => write(b, tree)),
            read,
          ),
        ).toEqual(tree);
      }),
      runs(500),
    );
  });

  test('are encoded as by asn1js', () => {
    fc.assert(
      fc.property(trees, (tree) => {
        expect(der((b) => write(b, tree))).toEqual(new Uint8Array(toAsn1js(tree).toBER()));
      }),
      runs(300),
    );
  });
});
