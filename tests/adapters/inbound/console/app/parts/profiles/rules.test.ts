import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { pathAt, placeOf, schemaAt, withMember } from '#adapters/inbound/console/app/parts/profiles/rules.ts';
import { profileRulesSchema } from '#core/profiles/language.ts';
import { runs } from '#tests/property.ts';

const text = '{\n  "subject": { "CN": { "allowed": ["a", "b"] }, "2.5.4.5": {} },\n  "a/b": 1\n}';

/** Returns the value at a JSON pointer. */
const at = (pointer: string, of = text): string | undefined => {
  const place = placeOf(of, pointer);
  return place && of.slice(place.start, place.end);
};

describe('the position of a member in JSON', () => {
  test.each([
    ['', text],
    ['/subject/CN', '"CN": { "allowed": ["a", "b"] }'],
    ['/subject/CN/allowed/1', '"b"'],
    ['/subject/2.5.4.5', '"2.5.4.5": {}'],
    ['/a~1b', '"a/b": 1'],
    ['/subject/O', '"subject": { "CN": { "allowed": ["a", "b"] }, "2.5.4.5": {} }'],
  ])('%p is %p', (pointer, found) => expect(at(pointer)).toBe(found));

  test('is known in an incomplete text up to its end', () => {
    expect(at('/subject/CN', '{"subject": {"CN": {"fixed": ')).toBe('"CN": {"fixed": ');
    expect(pathAt('{"subject": {"CN": ', 19)).toEqual(['subject', 'CN']);
  });

  test('leads to the member for any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, indent) => {
        const written = JSON.stringify(value, null, indent);
        const walk = (of: unknown, pointer: string): void => {
          if (typeof of !== 'object' || of === null) return;
          for (const [name, member] of Object.entries(of)) {
            const to = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
            const found = at(to, written)!;
            const prefix = Array.isArray(of) ? '' : `${JSON.stringify(name)}:`;
            expect(found.startsWith(prefix)).toBe(true);
            expect(JSON.parse(found.slice(prefix.length))).toEqual(JSON.parse(JSON.stringify(member)));
            walk(member, to);
          }
        };
        walk(JSON.parse(written), '');
      }),
      runs(200),
    );
  });
});

test('the schema of profiles lists what is allowed at the caret', () => {
  const path = pathAt(text, text.indexOf('"a"'));
  expect(path).toEqual(['subject', 'CN', 'allowed', '0']);
  expect(schemaAt(profileRulesSchema, path.slice(0, 2))?.members).toContain('pattern');
  expect(schemaAt(profileRulesSchema, path.slice(0, 3))?.description).toBe('The values that fit');
  expect(schemaAt(profileRulesSchema, ['nothing'])).toBeUndefined();
});

test('a member can be changed, added and removed without changes to the others', () => {
  const rules = { a: { b: 1, c: 2 }, d: 3 };
  expect(JSON.stringify(withMember(rules, ['a', 'b'], 5))).toBe('{"a":{"b":5,"c":2},"d":3}');
  expect(withMember(rules, ['a', 'b'], undefined)).toEqual({ a: { c: 2 }, d: 3 });
  expect(withMember(rules, ['e', 'f'], true)).toEqual({ ...rules, e: { f: true } });
});
