import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Type } from '@sinclair/typebox';
import Ajv from 'ajv';
import { auditActions } from '#core/audit/actions.ts';
import { shippedProfiles } from '#core/profiles/shipped.ts';
import { catalog } from '#plugins/catalog.ts';
import { readConfiguration } from '#plugins/host/config.ts';
import { sections } from '#plugins/host/sections.ts';
import { definePlugin } from '#plugins/kit/contract.ts';
import ocsp from '#plugins/kit/examples/ocsp/plugin.ts';
import { exampleOf, keysOf } from './reference/configuration.ts';
import { configurationSchema, valueSchema } from './reference/json-schema.ts';
import { partsOf } from './reference/page.ts';
import { reference } from './reference/pages.ts';

const root = join(import.meta.dir, '..');
const page = (name: string): string => readFileSync(join(root, 'docs/reference', name), 'utf8');
const missing = (text: string, words: readonly string[]): readonly string[] =>
  words.filter((word) => !text.includes(`\`${word}\``));

const ajv = new Ajv({ strict: true, strictRequired: false });
const matchesSchema = ajv.compile(configurationSchema);

describe('the reference pages', () => {
  test.each(reference(root))('$path is what `npm run reference` writes', ({ now, before }) => {
    expect(before).toBe(now);
  });

  test('have every part that the program generates', () => {
    for (const { before, parts } of reference(root)) {
      expect(partsOf(before).toSorted()).toEqual(Object.keys(parts).toSorted());
    }
  });

  test('list every built-in certificate profile', () => {
    expect(missing(page('certificate-profiles.md'), Object.keys(shippedProfiles))).toEqual([]);
  });

  test('name every metric', () => {
    const files = [...new Bun.Glob('core/metrics/*.ts').scanSync(root)];
    const code = files.map((file) => readFileSync(join(root, file), 'utf8')).join('');
    const metrics = [...code.matchAll(/'(postern_[a-z_]+)'/g)].map(([, name]) => name!);
    expect(metrics.length).toBeGreaterThan(8);
    expect(missing(page('health.md'), metrics)).toEqual([]);
  });
});

describe('the list of audit actions', () => {
  // The compiler checks every action that is written out. Those of administered records are composed from their kinds.
  test('has the actions of every kind of record that is administered', () => {
    const never = ['certificate.create', 'deviceImport.update'];
    const kinds = [...new Bun.Glob('core/**/*.ts').scanSync(root)].flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      if (!/\bresource[<(]/.test(text)) return [];
      return [...text.matchAll(/^ {4}kind: '(\w+)',$/gm)].map(([, kind]) => kind!);
    });
    const composed = kinds.flatMap((kind) => ['create', 'update', 'delete'].map((verb) => `${kind}.${verb}`));
    expect(kinds.length).toBeGreaterThan(14);
    expect(composed.filter((action) => !(action in auditActions)).toSorted()).toEqual(never);
  });
});

describe('every key of the configuration', () => {
  const tables = [...Object.values(sections), ...catalog.map(({ config }) => config)];
  const keys = tables.flatMap((schema) => keysOf(schema));

  test('has a description', () => {
    expect(keys.length).toBeGreaterThan(100);
    expect(keys.filter(({ schema }) => !schema.description).map(({ path }) => path)).toEqual([]);
  });

  test('has an example that the JSON Schema accepts', () => {
    const { $defs } = configurationSchema;
    const wrong = keys.filter(
      ({ schema }) => !ajv.validate({ ...valueSchema(schema), $defs }, exampleOf(schema)),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });
});

describe('the blocks of the pages', () => {
  const blocks = (language: string): [string, string][] =>
    [...new Bun.Glob('docs/**/*.md').scanSync(root)].sort().flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      const found = text.matchAll(new RegExp(`^( *)\`\`\`${language}\n(.*?)^ *\`\`\``, 'gms'));
      return [...found].map(([, indent, block], n): [string, string] => [
        `${file}, ${language} block ${n + 1}`,
        block!.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      ]);
    });
  const outside = definePlugin({
    slot: 'inbound',
    name: 'metering',
    summary: '',
    config: Type.Object({}),
    open: async () => ({ mounts: [] }),
  });
  const source = {
    environment: { PGPASSWORD: 'x', POSTERN_PASSPHRASE: 'x', DATABASE_URL: 'postgres://localhost/x' },
    directory: root,
    readSecret: () => 'a-secret-of-enough-characters-for-everything',
  };

  test('are at least a dozen', () => {
    expect(blocks('toml').length + blocks('json').length).toBeGreaterThanOrEqual(12);
  });

  test.each(blocks('toml'))('%s is a valid configuration', async (_, block) => {
    const load = async (module: string) => (module.includes('ocsp') ? ocsp : outside);
    // Examples of a fingerprint are cut short.
    const tables = Bun.TOML.parse(block.replace(/"(?:[0-9A-F]{2}:)+…"/g, `"${'00'.repeat(32)}"`));
    expect(await readConfiguration({ tables, overrides: {}, source, catalog, load })).toBeDefined();
    expect([matchesSchema(tables), matchesSchema.errors]).toEqual([true, null]);
  });

  test.each([
    '[server]\nhttps = 8443',
    '[servers]',
    '[server]\nhttps_port = 70000',
    '[server]\nbase_url = "ftp://pki.example"',
    '[log]\nlevel = "verbose"',
    '[store]\nplugin = "oracle"',
    '[store]\nplugin = "postgres"',
    '[store]\npath = "x.db"',
    '[keys.hsm]\nlibrary = "x.so"\npin = "1"',
    '[keys.hsm]\nplugin = "pkcs11"\nlibrary = "x.so"',
    '[inbound.cmp]\nconfirm_minutes = 1',
    '[secrets]\npassphrase = { files = "x" }',
  ])('the JSON Schema rejects %j', (block) => {
    expect(matchesSchema(Bun.TOML.parse(block))).toBe(false);
  });

  test.each(blocks('json').filter(([, block]) => !block.includes('…')))('%s is JSON', (_, block) => {
    expect(() => JSON.parse(block)).not.toThrow();
  });

  test('a wrong key in one of them is found', async () => {
    const tables = Bun.TOML.parse('[server]\nhttps = 8443\n');
    const load = async () => outside;
    await expect(readConfiguration({ tables, overrides: {}, source, catalog, load })).rejects.toThrow(
      'https',
    );
  });
});
