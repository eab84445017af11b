import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { straysIn, unusedOf } from './import-table.ts';
import { circles, type ImportGraph, importGraph, layerStrays } from './layers.ts';
import { withDrawing } from './layers-page.ts';

const root = join(import.meta.dir, '..');

describe('the import table', () => {
  const sources = new Map(
    [...new Bun.Glob('{core,adapters,plugins,tests,bench,release}/**/*.{ts,tsx}').scanSync(root)]
      .sort()
      .map((file) => [file, readFileSync(join(root, file), 'utf8')]),
  );

  test('allows every import', () => {
    expect(sources.size).toBeGreaterThan(50);
    expect([...sources].flatMap(([file, source]) => straysIn(file, source))).toEqual([]);
  });

  test('allows nothing that no file imports', () => {
    expect(unusedOf(sources)).toEqual([]);
  });

  test('has no package of a row left when its only user is gone', () => {
    const planted = new Map(sources).set('adapters/wire/csv.ts', '');
    expect(unusedOf(planted)).toContain('adapters/wire/: nothing imports csv-parse');
  });
});

describe('the size of source files', () => {
  const sizes = new Map(
    [...new Bun.Glob('{core,adapters,plugins,bench,release}/**/*.{ts,tsx}').scanSync(root)]
      .filter((file) => !file.endsWith('.test.ts'))
      .map((file) => [file, readFileSync(join(root, file), 'utf8').split('\n').length - 1]),
  );

  test('nine in ten have at most 220 lines', () => {
    const long = [...sizes.values()].filter((lines) => lines > 220).length;
    expect(sizes.size).toBeGreaterThan(500);
    expect(long / sizes.size).toBeLessThanOrEqual(0.1);
  });

  test('fewer than 40 have less than 30 lines', () => {
    const short = [...sizes].filter(([, lines]) => lines < 30).map(([file]) => file);
    expect(short.length, `merge files that belong together:\n${short.join('\n')}`).toBeLessThan(40);
  });
});

describe('layers', () => {
  const graph = importGraph(root);

  test('the folders of core/ import lower layers only', () => {
    expect(graph.size).toBeGreaterThan(500);
    expect(layerStrays(graph)).toEqual([]);
  });

  test('no files import each other', () => {
    expect(circles(graph)).toEqual([]);
  });

  test('the page in docs/ draws the layers as they are', () => {
    const page = readFileSync(join(root, 'docs/explanation/layers.md'), 'utf8');
    expect(withDrawing(page, root)).toBe(page);
  });

  test('an import upwards, sideways or of an unknown folder is seen', () => {
    const planted: ImportGraph = new Map([
      ['core/der/reader.ts', ['core/x509/name.ts']],
      ['core/security/levels.ts', ['core/storage/commit.ts']],
      ['core/elsewhere/file.ts', []],
    ]);
    expect(layerStrays(planted)).toEqual([
      'core/der/reader.ts: imports core/x509/name.ts, which is not in a lower layer',
      'core/security/levels.ts: imports core/storage/commit.ts, which is not in a lower layer',
      'core/elsewhere/file.ts: core/elsewhere is in no layer',
    ]);
  });

  test('a circle of files is seen', () => {
    const planted: ImportGraph = new Map([
      ['core/a.ts', ['core/b.ts']],
      ['core/b.ts', ['core/c.ts']],
      ['core/c.ts', ['core/a.ts', 'core/d.ts']],
      ['core/d.ts', []],
    ]);
    expect(circles(planted)).toEqual([['core/a.ts', 'core/b.ts', 'core/c.ts']]);
  });
});

describe('a stray is seen', () => {
  const strays: readonly [file: string, line: string, what: string][] = [
    ['core/der/reader.ts', "import { parseName } from '../x509/name.ts';", 'imports ../x509/name.ts'],
    [
      'core/der/reader.ts',
      "import type { Store } from '#core/ports/store.ts';",
      'imports #core/ports/store.ts',
    ],
    ['core/fault.ts', "import { Reader } from './der/reader.ts';", 'imports ./der/reader.ts'],
    ['core/ports/keys.ts', "import { lint } from '../x509/lint.ts';", 'imports ../x509/lint.ts'],
    ['core/issuance/serial.ts', "import { readFileSync } from 'node:fs';", 'imports node:fs'],
    ['core/issuance/serial.ts', "import { hash, sign } from 'node:crypto';", 'imports sign of node:crypto'],
    [
      'core/issuance/serial.ts',
      "import {\n  hash,\n  randomBytes as hash2,\n} from 'node:crypto';",
      'imports randomBytes of node:crypto',
    ],
    ['core/issuance/serial.ts', "import crypto from 'node:crypto';", 'imports * of node:crypto'],
    ['core/issuance/serial.ts', "import * as c from 'node:crypto';", 'imports * of node:crypto'],
    ['core/issuance/serial.ts', "import crypto, { hash } from 'node:crypto';", 'imports * of node:crypto'],
    ['core/issuance/serial.ts', "import { Type } from '@sinclair/typebox';", 'imports @sinclair/typebox'],
    ['core/issuance/serial.ts', "import type { Kysely } from 'kysely';", 'imports kysely'],
    [
      'core/issuance/serial.ts',
      "export { x } from '#adapters/wire/pem.ts';",
      'imports #adapters/wire/pem.ts',
    ],
    ['core/issuance/serial.ts', "export * from '#adapters/wire/pem.ts';", 'imports #adapters/wire/pem.ts'],
    ['core/issuance/serial.ts', "import '#adapters/wire/pem.ts';", 'imports #adapters/wire/pem.ts'],
    [
      'core/issuance/serial.ts',
      "import { x } from '../../adapters/wire/pem.ts';",
      'imports ../../adapters/wire/pem.ts',
    ],
    ['core/issuance/serial.ts', "const fs = await import('node:fs');", 'imports node:fs'],
    ['core/issuance/serial.ts', "const fs = require('node:fs');", 'imports node:fs'],
    ['core/issuance/serial.ts', "let x: import('kysely').Kysely;", 'imports kysely'],
    ['core/issuance/serial.ts', 'await import(name);', 'imports what is not known before it runs'],
    ['core/issuance/serial.ts', 'const now = Date.now();', 'uses Date.now'],
    ['core/issuance/serial.ts', 'const now = new Date();', 'uses new Date'],
    ['core/issuance/serial.ts', 'const now = new Date;', 'uses new Date'],
    ['core/issuance/serial.ts', 'const x = Math.random();', 'uses Math.random'],
    ['core/issuance/serial.ts', "console.log('x');", 'uses console'],
    ['core/issuance/serial.ts', 'const { env } = process;', 'uses process'],
    ['core/issuance/serial.ts', `const text = \`a \${Bun.version} b\`;`, 'uses Bun'],
    ['core/issuance/serial.ts', "await fetch('http://x');", 'uses fetch'],
    ['core/issuance/serial.ts', 'crypto.getRandomValues(x);', 'uses crypto'],
    ['core/issuance/serial.ts', 'setTimeout(f, 1);', 'uses setTimeout'],
    [
      'adapters/wire/pem.ts',
      "import { Fault } from '#adapters/inbound/http/limits.ts';",
      'imports #adapters/inbound/http/limits.ts',
    ],
    ['adapters/inbound/est/mount.ts', "import { x } from '../rest/mount.ts';", 'imports ../rest/mount.ts'],
    [
      'adapters/inbound/est/mount.ts',
      "import { enrol } from '#core/enrolment/enrol.ts';",
      'imports #core/enrolment/enrol.ts',
    ],
    [
      'adapters/inbound/est/mount.ts',
      "import { openSqliteStore } from '#adapters/outbound/sql/store.ts';",
      'imports #adapters/outbound/sql/store.ts',
    ],
    ['adapters/inbound/est/mount.ts', "import { readFileSync } from 'node:fs';", 'imports node:fs'],
    [
      'adapters/outbound/sql/codec.ts',
      "import { x } from '../keyfile/store.ts';",
      'imports ../keyfile/store.ts',
    ],
    [
      'adapters/outbound/sql/codec.ts',
      "import { createGateway } from '#core/gateway.ts';",
      'imports #core/gateway.ts',
    ],
    ['adapters/outbound/keyfile/store.ts', "import postgres from 'postgres';", 'imports postgres'],
    ['adapters/stray.ts', '', 'no row of the import table covers it'],
    ['plugins/kit/contract.ts', "import { Fault } from '#core/fault.ts';", 'imports #core/fault.ts'],
    ['plugins/kit/contract.ts', "import { Type } from '@sinclair/typebox';", 'imports @sinclair/typebox'],
    ['plugins/builtin/inbound.ts', "import { pkcs11 } from './keys.ts';", 'imports ./keys.ts'],
    ['plugins/host/main.ts', "import { est } from '../builtin/inbound.ts';", 'imports ../builtin/inbound.ts'],
    ['plugins/cli/list.ts', "import { catalog } from '../catalog.ts';", 'imports ../catalog.ts'],
    [
      'plugins/kit/examples/ocsp/mount.ts',
      "import { der } from '#core/der/builder.ts';",
      'imports #core/der/builder.ts',
    ],
    [
      'plugins/kit/examples/ocsp/mount.ts',
      "import type { x } from '../../../builtin/inbound.ts';",
      'imports ../../../builtin/inbound.ts',
    ],
    [
      'plugins/kit/postern.ts',
      "import { est } from '../builtin/inbound.ts';",
      'imports ../builtin/inbound.ts',
    ],
  ];
  for (const [file, line, what] of strays) {
    test(`${file}: ${line}`, () => {
      const reported = straysIn(file, `// a comment\n${line}\n`);
      expect(reported[0] ?? 'nothing reported').toEndWith(what);
    });
  }
});

describe('allowed imports, comments and strings are not reported', () => {
  const allowed: readonly [file: string, line: string][] = [
    ['core/issuance/serial.ts', "import { createHash, type KeyObject, verify } from 'node:crypto';"],
    ['core/issuance/serial.ts', "import type { KeyObject } from 'node:crypto';"],
    ['core/issuance/serial.ts', "// import { sign } from 'node:crypto'; Date.now()"],
    ['core/issuance/serial.ts', "/* console.log(process.env) */ const x = 'Date.now() or fetch';"],
    ['core/issuance/serial.ts', `const text = \`the process is \${state} and console\`;`],
    ['core/issuance/serial.ts', 'const quote = /[\'"`]/; const at = new Date(milliseconds);'],
    [
      'core/issuance/serial.ts',
      'const half = a / b; interface X { process: string; fetch?: number } x.process();',
    ],
    ['core/issuance/serial.ts', 'await keys.import(pkcs8, label);'],
    ['core/profiles/language.ts', "import { Type } from '@sinclair/typebox';"],
    ['core/ports/keys.ts', "import type { KeyType } from '../x509/algorithm.ts';"],
    ['core/ports/keys.ts', "import { type KeyType } from '../x509/algorithm.ts';"],
    ['adapters/inbound/est/mount.ts', "import type { Outcome } from '#core/issuance/enrolment-request.ts';"],
    ['adapters/inbound/est/mount.ts', "import type { Mount } from '../http/exchange.ts';"],
    ['plugins/catalog.ts', "import { est } from './builtin/inbound.ts';"],
    ['plugins/host/registry.ts', 'await import(path);'],
  ];
  for (const [file, line] of allowed) {
    test(`${file}: ${line}`, () => {
      expect(straysIn(file, `${line}\n`)).toEqual([]);
    });
  }
});
