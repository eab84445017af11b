import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const root = resolve(import.meta.dir, '../../..');
const source = readFileSync(
  resolve(root, 'adapters/inbound/console/app/parts/audit/action-words.ts'),
  'utf8',
);

/** The actions that the core writes into the audit trail, as its source names them. */
const actions = new Set(
  [...new Bun.Glob('core/**/*.ts').scanSync(root)]
    .flatMap((file) => [
      ...readFileSync(resolve(root, file), 'utf8').matchAll(/\baction: '([a-zA-Z]+\.[a-zA-Z]+)'/g),
    ])
    .map(([, action]) => action!),
);

test('every action in the audit trail has a title in the console', () => {
  expect(actions.size).toBeGreaterThan(40);
  const [kinds = ''] = /const kinds = [\s\S]*?\n\);/.exec(source) ?? [];
  const untitled = [...actions].filter((action) => {
    const [kind, change = ''] = action.split('.');
    const isChange = ['create', 'update', 'delete'].includes(change);
    return !source.includes(`'${action}': '`) && !(isChange && new RegExp(`\\b${kind}: '`).test(kinds));
  });
  expect(untitled).toEqual([]);
});
