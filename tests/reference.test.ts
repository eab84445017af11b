import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TSchema } from '@sinclair/typebox';
import { permissions, shippedRoles } from '#core/access/permissions.ts';
import { shippedProfiles } from '#core/profiles/shipped.ts';
import { catalog } from '#plugins/catalog.ts';
import { sections } from '#plugins/host/config.ts';

const root = join(import.meta.dir, '..');
const page = (name: string): string => readFileSync(join(root, 'docs/reference', name), 'utf8');
const missing = (text: string, words: readonly string[]): readonly string[] =>
  words.filter((word) => !text.includes(`\`${word}\``));

/** The keys of a table of the configuration; those of a table inside it as `outer.inner`, or alone. */
const keysOf = (schema: TSchema): string[] => Object.keys(schema.properties ?? {});

describe('the reference pages', () => {
  test('name every key of the configuration', () => {
    const text = page('configuration.md');
    const own = Object.values(sections).flatMap(keysOf);
    const ofPlugins = catalog.flatMap(({ config }) => keysOf(config));
    const nested = catalog.flatMap(({ config }) =>
      Object.entries(config.properties).flatMap(([outer, schema]) =>
        keysOf(schema).map((inner) => [`${outer}.${inner}`, inner] as const),
      ),
    );
    const tables = nested.map(([path]) => path.split('.')[0]!);
    expect(own.length + ofPlugins.length).toBeGreaterThan(60);
    expect(nested.length).toBeGreaterThan(5);
    expect(
      missing(
        text,
        [...own, ...ofPlugins].filter((key) => !tables.includes(key)),
      ),
    ).toEqual([]);
    expect(
      nested.filter(([path, inner]) => missing(text, [path]).length > 0 && missing(text, [inner]).length > 0),
    ).toEqual([]);
  });

  test('list every permission with the built-in roles that have it', () => {
    const rows = [
      ...page('permissions.md').matchAll(/^\| `([a-z.]+)` \| .* \| (\w*) \| (\w*) \| (\w*) \|$/gm),
    ];
    const listed = rows.map(([, name, ...marks]) => [name!, ...marks.map((mark) => mark === 'yes')]);
    const roles = ['Operator', 'Auditor', 'Default'].map((name) => shippedRoles[name]!.permissions);
    expect(listed).toEqual(permissions.map((name) => [name, ...roles.map((role) => role.includes(name))]));
  });

  test('list every built-in certificate profile', () => {
    expect(missing(page('certificate-profiles.md'), Object.keys(shippedProfiles))).toEqual([]);
  });

  test('name every command', () => {
    const { stdout } = Bun.spawnSync([process.execPath, 'plugins/cli/main.ts', '--help'], { cwd: root });
    const commands = [...stdout.toString().matchAll(/^ {2}((?:[a-z-]+ ?)+(?:\[?[A-Z]+\]?)?)/gm)].map(
      ([, text]) => text!.trim(),
    );
    expect(commands.length).toBeGreaterThan(25);
    expect(missing(page('command-line.md'), commands)).toEqual([]);
  });

  test('name every metric', () => {
    const files = [...new Bun.Glob('core/metrics/*.ts').scanSync(root)];
    const code = files.map((file) => readFileSync(join(root, file), 'utf8')).join('');
    const metrics = [...code.matchAll(/'(postern_[a-z_]+)'/g)].map(([, name]) => name!);
    expect(metrics.length).toBeGreaterThan(8);
    expect(missing(page('health.md'), metrics)).toEqual([]);
  });
});
