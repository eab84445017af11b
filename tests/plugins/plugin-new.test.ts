import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { shell, startServer } from '#tests/fixtures/server.ts';
import { nightly } from '#tests/property.ts';

const root = resolve(import.meta.dir, '../..');
const elsewhere = mkdtempSync(join(tmpdir(), 'postern-kit-'));
afterAll(() => rmSync(elsewhere, { recursive: true }));

function run(command: readonly string[], cwd = elsewhere) {
  // The nightly runs of the suites are elsewhere.
  const { POSTERN_NIGHTLY: _, ...env } = process.env;
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { cwd, env });
  return { status: exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}
const postern = (...words: readonly string[]) => run([join(root, 'postern'), ...words]);
const pluginNew = (...words: readonly string[]) => postern('plugin', 'new', ...words);

const slots = ['keys', 'issuers', 'store', 'inbound'] as const;

describe('postern plugin new', () => {
  const written = new Map<string, ReturnType<typeof run>>();
  beforeAll(() => {
    for (const slot of slots) written.set(slot, pluginNew(`my-${slot}`, '--slot', slot));
  }, 60_000);

  test.each(slots)(
    'writes a plugin for %s that passes the contract suite from outside',
    (slot) => {
      const { status, stdout } = written.get(slot)!;
      const directory = join(elsewhere, `my-${slot}`);
      expect({ status, told: stdout.includes(directory) }).toEqual({ status: 0, told: true });
      expect(readdirSync(directory).sort()).toEqual([
        '.gitignore',
        'README.md',
        'node_modules',
        'package.json',
        'plugin.test.ts',
        'plugin.ts',
        'tsconfig.json',
      ]);
      for (const file of ['plugin.ts', 'plugin.test.ts', 'README.md']) {
        const text = readFileSync(join(directory, file), 'utf8');
        expect(text).toContain(`my-${slot}`);
        expect(text).not.toContain('my-plugin');
      }
      const { test: line } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')).scripts;
      const tests = run(['sh', '-c', line], directory);
      expect(tests.stderr).toContain(' 0 fail');
      expect(tests.status).toBe(0);
    },
    120_000,
  );

  test('the plugins it wrote for each slot work in one gateway', async () => {
    const module = (name: string): string => `module = "${join(elsewhere, name)}"\n`;
    const config = [
      `[store]\n${module('my-store')}`,
      `[keys.own]\n${module('my-keys')}[keys.keyfile]\n`,
      `[issuers.own]\n${module('my-issuers')}url = "https://ca.example/api"\ntoken = { file = "ca-token" }\n`,
      `[inbound.own]\n${module('my-inbound')}[inbound.management]\n`,
    ].join('');
    writeFileSync(join(elsewhere, 'postern.toml'), config);
    writeFileSync(join(elsewhere, 'ca-token'), 'secret\n', { mode: 0o600 });
    const checked = postern('check', '--config', join(elsewhere, 'postern.toml'));
    expect(checked).toMatchObject({ status: 0, stdout: expect.stringContaining('is valid') });

    await using server = await startServer({ config: config.replace('ca-token', `${elsewhere}/ca-token`) });
    // serve prints it as well.
    expect(server.output.join('\n')).toContain(
      'Disabled inbound plugins: cmp, est, rest, publication, console, docs.',
    );
    const curl = (path: string) =>
      JSON.parse(shell(server.directory, `curl -sSfk ${server.baseUrl}${path}`).stdout);
    const [issuing, above] = curl('/my-inbound');
    for (const { not_after: notAfter } of [issuing, above])
      expect(Date.parse(notAfter)).toBeGreaterThan(Date.now());
    const health = curl('/api/health/');
    expect(health.status).toBe('ok');
    expect(Object.keys(health.checks)).toEqual(
      expect.arrayContaining(['store', 'keys.own', 'keys.keyfile', 'issuers.own']),
    );
    expect(readdirSync(join(server.directory, 'data', 'own')).length).toBeGreaterThanOrEqual(2);
    expect(existsSync(join(server.directory, 'data', 'my-store.db'))).toBe(true);
  }, 60_000);

  // The compiler reads all of Postern each time.
  test.if(nightly)(
    'the plugins it wrote compile',
    () => {
      for (const slot of slots) {
        const directory = join(elsewhere, `my-${slot}`);
        const { check } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')).scripts;
        expect(run(['sh', '-c', check], directory)).toMatchObject({ status: 0, stdout: '' });
      }
    },
    120_000,
  );

  const wrong: readonly [what: string, words: readonly string[], told: string][] = [
    ['a slot that does not exist', ['x', '--slot', 'outbound'], '--slot must be one of'],
    ['no slot', ['x'], '--slot must be one of'],
    ['no name', ['--slot', 'keys'], 'takes NAME'],
    [
      'a path for a name',
      ['../x', '--slot', 'keys'],
      'NAME must have at most 40 characters: lower-case letters',
    ],
    ['capitals', ['Mine', '--slot', 'keys'], 'NAME must have at most 40 characters: lower-case letters'],
    [
      'a name that ends in -',
      ['mine-', '--slot', 'keys'],
      'NAME must have at most 40 characters: lower-case letters',
    ],
    [
      'a long name',
      ['a'.repeat(41), '--slot', 'keys'],
      'NAME must have at most 40 characters: lower-case letters',
    ],
    [
      'the name of a plugin that is built in',
      ['keyfile', '--slot', 'keys'],
      'the name keyfile is already in use',
    ],
    ['the name of Postern', ['postern', '--slot', 'keys'], 'the name postern is already in use'],
    [
      "Postern's own directory",
      ['x', '--slot', 'keys', '--dir', join(root, 'x')],
      "cannot be inside Postern's own directory",
    ],
  ];
  test.each(wrong)('rejects %s', (_, words, told) => {
    const before = readdirSync(elsewhere);
    const { status, stderr } = pluginNew(...words);
    expect({ status, told: stderr.includes(told) }).toEqual({ status: 2, told: true });
    expect(readdirSync(elsewhere)).toEqual(before);
    expect(existsSync(join(root, 'x'))).toBe(false);
  });

  test('overwrites nothing, and accepts an empty directory', () => {
    const full = join(elsewhere, 'full');
    mkdirSync(full);
    writeFileSync(join(full, 'notes'), 'mine');
    const refused = pluginNew('notes', '--slot', 'keys', '--dir', full);
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain('already exists and is not empty');
    expect(readdirSync(full)).toEqual(['notes']);
    const file = pluginNew('notes', '--slot', 'keys', '--dir', join(full, 'notes'));
    expect(file.status).toBe(2);
    expect(file.stderr).toContain('is not a directory');
    const empty = join(elsewhere, 'empty');
    mkdirSync(empty);
    expect(pluginNew('notes', '--slot', 'inbound', '--dir', empty).status).toBe(0);
    expect(readFileSync(join(empty, 'plugin.ts'), 'utf8')).toContain("name: 'notes'");
  });
});
