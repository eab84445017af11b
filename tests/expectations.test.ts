import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sourceText } from './source-text.ts';

const root = join(import.meta.dir, '..');

/** A statement that begins with `expect(` and ends at the line's semicolon. */
const statement = /^[ ]*expect\((?:[^;]|;(?=[^\n]))*?;$/gm;

/** Lines of statements that expect something of a promise and do not wait for it: they pass whatever the promise does. */
const unawaited = (source: string): readonly number[] => {
  const { code } = sourceText(source);
  return [...code.matchAll(statement)]
    .filter(([text]) => /\)\s*\.(?:rejects|resolves)\b/.test(text))
    .map(({ index }) => code.slice(0, index).split('\n').length);
};

test('every expectation of a promise is awaited', () => {
  const files = [...new Bun.Glob('tests/**/*.ts').scanSync(root)].sort();
  expect(files.length).toBeGreaterThan(300);
  const found = files.flatMap((file) =>
    unawaited(readFileSync(join(root, file), 'utf8')).map((line) => `${file}:${line}`),
  );
  expect(found).toEqual([]);
});

test('an expectation of a promise that is not awaited is found', () => {
  const source = [
    'test("x", async () => {',
    '  await expect(a()).rejects.toThrow();',
    '  expect(b()).toBe(1);',
    '  expect(c(";")).rejects.toMatchObject({',
    '    code: "malformed",',
    '  });',
    '  expect(',
    '    d(),',
    '  ).resolves.toBe(2);',
    '});',
  ];
  expect(unawaited(source.join('\n'))).toEqual([4, 7]);
});
