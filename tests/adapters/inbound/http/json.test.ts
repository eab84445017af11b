import { expect, test } from 'bun:test';
import { parseJson, readJson } from '#adapters/inbound/http/json.ts';

test.each([
  ['at the top', '{"csr":1,"csr":2}', '"csr"'],
  ['written with an escape', '{"csr":1,"\\u0063sr":2}', '"csr"'],
  ['in a nested object', '{"a":[{"b":{"c":1,"d":"}","c":{}}}]}', '"c"'],
  ['after a nested object', '{"a":{"b":1},"c":[],"a":2}', '"a"'],
  ['that is empty', '{"":1,"":2}', '""'],
  ['with spaces around it', '{ "a" : 1 ,\n "a" : 2 }', '"a"'],
])('a duplicate member name is rejected: %s', (_, text, name) => {
  expect(() => parseJson(text)).toThrow(
    expect.objectContaining({
      code: 'malformed',
      detail: `the member ${name} appears more than once`,
    }),
  );
});

test.each([
  '{"a":{"a":1},"b":[{"a":1},{"a":2}]}',
  '{"a":"a","b":["a","a",",","{"],"c":"\\"a\\":"}',
  '[{"a":1},{"a":1}]',
  '{"a":1,"A":2,"a ":3}',
  '"a"',
])('the same text elsewhere than as a second member name is read: %s', (text) => {
  expect(parseJson(text)).toEqual(JSON.parse(text));
});

test.each(['', '{', '{"a":1,}', '{"\\":1}', '{"\\x":1,"b":2}', ']', '"', '{"a"', '\ufeff\ufeff{}'])(
  'invalid JSON is malformed: %j',
  (text) => {
    expect(() => parseJson(text)).toThrow(
      expect.objectContaining({ code: 'malformed', detail: 'the body is not JSON in UTF-8' }),
    );
  },
);

test('a body that is not UTF-8 is malformed', () => {
  expect(() => readJson(Uint8Array.of(0x22, 0xff, 0x22))).toThrow(
    expect.objectContaining({ code: 'malformed' }),
  );
});
