import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { attribute, buildName, parseDistinguishedName, sameName } from '#core/x509/name.ts';
import { foldName, isBelow } from '#core/x509/path/folded-name.ts';
import { runs } from '#tests/property.ts';

const value = fc.constantFrom('a', 'A', ' a', 'a  b', 'A b', 'ä', 'Ä', 'ß', 'b');
const attributes = fc
  .tuple(fc.constantFrom('CN', 'O', 'OU'), value)
  .map(([type, text]) => attribute(type, text));
const names = fc
  .array(fc.array(attributes, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 3 })
  .map(buildName);

test('folded names are equal exactly when sameName says so', () => {
  fc.assert(
    fc.property(names, names, (a, b) => {
      expect(foldName(a) === foldName(b)).toBe(sameName(a, b));
    }),
    runs(2000),
  );
});

test('a name is below each of its prefixes', () => {
  fc.assert(
    fc.property(names, fc.nat(3), (name, length) => {
      expect(isBelow(name, buildName(name.rdns.slice(0, length)))).toBe(true);
    }),
    runs(200),
  );
});

test('a name is not below a longer name', () => {
  const name = parseDistinguishedName('O=Plant');
  expect(isBelow(name, parseDistinguishedName('CN=device,O=Plant'))).toBe(false);
});
