import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { lineTitles } from '#core/devices/enrolment-lines.ts';

// The page is not imported, because it needs a browser: its catalogues are compared as text.
const page = readFileSync('adapters/inbound/console/app/pages/devices/device-commands.tsx', 'utf8');
const [, english = '', german = ''] =
  /meanings\(\s*\{([\s\S]*?)\n {2}\},\s*\{([\s\S]*?)\n {2}\},\s*\)/.exec(page) ?? [];
const keysOf = (catalogue: string): readonly string[] =>
  [...catalogue.matchAll(/^ {4}(\w+): /gm)].map(([, key]) => key!);

test('the console has an English and a German title for each command of a device', () => {
  expect(Object.keys(lineTitles).length).toBeGreaterThan(8);
  for (const catalogue of [english, german]) expect(keysOf(catalogue)).toEqual(Object.keys(lineTitles));
});

test('the English titles of the console are those of the API', () => {
  for (const title of Object.values(lineTitles)) expect(english).toContain(`'${title}'`);
});
