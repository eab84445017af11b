import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { germanError, germanErrors, germanFieldErrors } from '#adapters/inbound/console/app/error-words.ts';

/** The ids of Faults; other objects have other kinds of ids. */
function idsIn(folder: string): readonly string[] {
  return [...new Bun.Glob('**/*.ts').scanSync(folder)].flatMap((path) =>
    [...readFileSync(`${folder}/${path}`, 'utf8').matchAll(/\bid: '([a-z]+(?:_[a-z]+)+)'/g)].map(
      ([, id]) => id!,
    ),
  );
}

/** Errors of devices, and errors whose text has details that cannot be translated. */
const english: readonly string[] = ['security_level'];

test('every error id of the core has a German text', () => {
  const ids = ['core', 'adapters/outbound'].flatMap(idsIn);
  expect(ids.length).toBeGreaterThan(40);
  expect(ids.filter((id) => !Object.hasOwn(germanErrors, id) && !english.includes(id))).toEqual([]);
});

test('every code that the reference names for itself has a German text', () => {
  const reference = readFileSync('docs/reference/management-api.md', 'utf8');
  const [, table = ''] = /\| Code \| Meaning \|\n([\s\S]*?)\n\n/.exec(reference) ?? [];
  const codes = [...table.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, code]) => code!);
  expect(codes.length).toBeGreaterThan(10);
  expect(codes.filter((code) => !Object.hasOwn(germanErrors, code))).toEqual([]);
});

test('an error with values has them in its German text', () => {
  expect(germanError('permission_missing', { permission: 'devices.write' })).toBe(
    'Dazu ist die Berechtigung „devices.write“ nötig.',
  );
  expect(germanError('still_used', { device: 2, certificate: 1 })).toBe(
    'Der Eintrag wird noch verwendet: Geräte (2), Zertifikate (1).',
  );
});

test('an error without a German text is shown in English', () => {
  for (const code of ['malformed', 'constructor', 7, undefined]) expect(germanError(code)).toBeUndefined();
});

test('field errors are read from the Error-Codes header', () => {
  const header = 'unique_name=already_taken, password=password_length;shortest=8;longest=1024, url=invalid';
  expect(germanFieldErrors(header)).toEqual({
    unique_name: 'Dieser Wert ist bereits vergeben.',
    password: 'Ein Kennwort hat 8 bis 1024 Zeichen.',
  });
  for (const odd of [null, '', 'a', '=required', 'a=b;c, __proto__=required']) {
    expect(germanFieldErrors(odd)).toEqual({});
  }
});
