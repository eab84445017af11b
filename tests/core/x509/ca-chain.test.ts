import { expect, test } from 'bun:test';
import { der } from '#core/der/builder.ts';
import { isSelfSigned, orderCaChain } from '#core/x509/ca-chain.ts';
import { oid } from '#core/x509/oids.ts';
import { certificate, noon, type Order, party } from './path/certify.ts';

const root = party('CN=Root');
const next = party('CN=Root');
const issuing = party('CN=Issuing');
const ecdsaWithSha1 = {
  algorithm: der((b) => b.sequence((s) => s.oid('1.2.840.10045.4.1'))),
  hash: 'sha1',
} satisfies Order['raw'];

for (const [what, made, selfSigned] of [
  ['signed by its own key', certificate(root, root, { ca: true }), true],
  ['of an old key of the same name', certificate(next, root, { ca: true }), false],
  ['with SHA-1 and its own key identifier', certificate(root, root, { ca: true, raw: ecdsaWithSha1 }), true],
  [
    'with SHA-1 and no key identifiers',
    certificate(root, root, {
      ca: true,
      raw: ecdsaWithSha1,
      without: [oid.authorityKeyIdentifier, oid.subjectKeyIdentifier],
    }),
    true,
  ],
  ['with SHA-1, of an old key', certificate(next, root, { ca: true, raw: ecdsaWithSha1 }), false],
  ['of another name', certificate(issuing, root, { ca: true, raw: ecdsaWithSha1 }), false],
] as const) {
  test(`a certificate ${what} is ${selfSigned ? '' : 'not '}the root's own certificate`, () => {
    expect(isSelfSigned(made)).toBe(selfSigned);
  });
}

test('a chain ends at a root that signed itself with SHA-1, in any order of the certificates', () => {
  const top = certificate(root, root, { ca: true, raw: ecdsaWithSha1 });
  const below = certificate(issuing, root, { ca: true });
  expect(orderCaChain([top, below], noon)).toEqual([below, top]);
});

test('a CA chain is rejected if it requires more than 200 signature checks', () => {
  const strangers = party('CN=A');
  const count = (above: number, below: number) => [
    ...Array.from({ length: above }, () => certificate(party('CN=A'), root, { ca: true })),
    ...Array.from({ length: below }, (_, i) => certificate(party(`CN=${i}`), strangers, { ca: true })),
    certificate(root, root, { ca: true }),
  ];
  // Each pair is one check, the root with the first certificate that it has signed is one, and so is the root itself.
  expect(orderCaChain(count(1, 198), noon)).toHaveLength(2);
  expect(() => orderCaChain(count(1, 199), noon)).toThrow('more than 200 signature checks');
  expect(() => orderCaChain(count(15, 15), noon)).toThrow('more than 200 signature checks');
});

test('roots are counted as well, each of which takes a signature check', () => {
  const key = party('CN=any').key;
  const roots = (n: number) =>
    Array.from({ length: n }, (_, i) => {
      const one = party(`CN=${i}`, key);
      return certificate(one, one, { ca: true });
    });
  expect(orderCaChain(roots(200), noon)).toHaveLength(1);
  expect(() => orderCaChain(roots(201), noon)).toThrow('more than 200 signature checks');
});

test('of many issuing CAs of one name, the newest eight are tried', () => {
  const stranger = party('CN=Root');
  const day = 86_400_000;
  const made = (issuer: typeof root, notBefore: number) =>
    certificate(party('CN=A'), issuer, { ca: true, notBefore });
  const top = certificate(root, root, { ca: true });
  const sound = made(root, noon - 10 * day);
  const others = Array.from({ length: 8 }, (_, n) => made(stranger, noon - n * day));
  expect(orderCaChain([...others.slice(1), sound, top], noon)).toEqual([sound, top]);
  expect(orderCaChain([...others, sound, top], noon)).toBeUndefined();
});
