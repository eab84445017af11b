import { describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { constructions, headlessName, mostInTests } from './banned-constructions.ts';
import { anchorsOf, banned, brokenLinks, longLines, orphans, type Pages } from './markdown.ts';

const root = join(import.meta.dir, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const filesOf = (pattern: string): string[] => [...new Bun.Glob(pattern).scanSync(root)].sort();

const longestLine = 120;
const longestReadme = 200;
const patterns = constructions.map(({ pattern }) => pattern);
const pages: Pages = new Map(
  ['README.md', 'CHANGELOG.md', 'SECURITY.md', ...filesOf('docs/**/*.md'), 'tests/fuzz/README.md'].map(
    (path) => [path, read(path)],
  ),
);
const ofPages = (check: (page: string) => readonly string[]): string[] =>
  [...pages].flatMap(([path, page]) => check(page).map((found) => `${path}, ${found}`));

describe('README and docs', () => {
  test('every relative link and anchor leads somewhere', () => {
    expect(pages.size).toBeGreaterThan(40);
    expect(brokenLinks(pages, (path) => existsSync(join(root, path)))).toEqual([]);
  });

  test('every page can be reached from README.md', () => {
    expect(orphans(pages, 'README.md')).toEqual([]);
  });

  test('lines of prose have at most 120 characters', () => {
    expect(ofPages((page) => longLines(page, longestLine))).toEqual([]);
  });

  test('README.md has at most 200 lines', () => {
    expect(pages.get('README.md')!.split('\n').length - 1).toBeLessThanOrEqual(longestReadme);
  });

  test('no banned construction is in a page', () => {
    expect(ofPages((page) => banned(page, patterns))).toEqual([]);
  });
});

test('banned constructions in comments and messages become fewer', () => {
  const lines = filesOf('{core,adapters,plugins}/**/*.{ts,tsx}').flatMap((path) => read(path).split('\n'));
  expect(lines.length).toBeGreaterThan(10_000);
  const grown = constructions.flatMap(({ pattern, instead, inSource }) => {
    const count = lines.filter((line) => pattern.test(line)).length;
    return count > inSource ? [`${pattern}: ${count} rather than ${inSource}; write ${instead}`] : [];
  });
  expect(grown).toEqual([]);
});

test('banned constructions in tests become fewer', () => {
  const files = filesOf('tests/**/*.ts').filter(
    (path) => !/(?:banned-constructions|docs\.test)\.ts$/.test(path),
  );
  const found = files.flatMap((path) =>
    read(path)
      .split('\n')
      .flatMap((line, n) =>
        [...patterns, headlessName].some((pattern) => pattern.test(line))
          ? [`${path}:${n + 1}: ${line.trim()}`]
          : [],
      ),
  );
  expect(files.length).toBeGreaterThan(300);
  expect(found.length > mostInTests ? found : []).toEqual([]);
});

describe('a violation is found', () => {
  const found = (page: string): readonly string[] => banned(page, patterns);

  test.each([
    'Who lost the answer asks again.',
    'It is sent. Whoever asks gets it.',
    '- What is approved is issued.',
    '| a device | What comes back is checked |',
    'The device is told 202.',
    'The store is out of reach.',
    'a CA that comes of it',
    'it is let in',
    'the URL stands in certificates',
    'the table at fault',
  ])('of the banned constructions: %s', (line) => {
    expect(found(`# Title\n\n${line}\n`)).toHaveLength(1);
  });

  test.each([
    'Who can approve a request?',
    'What Postern checks is on another page.',
    'Write `is told` in code.',
    '```\nWho has it\n```',
    'People who lost the password ask an administrator.',
  ])('and nothing else: %s', (text) => {
    expect(found(text)).toEqual([]);
  });

  test.each([
    "test('who asks again gets it', () => {",
    "step('whoever is blocked', run)",
    'describe(`what is sent`',
  ])('of names of tests: %s', (line) => {
    expect(line).toMatch(headlessName);
  });

  test('of the length of lines, code blocks and tables excepted', () => {
    const long = 'x'.repeat(121);
    const page = `${'x'.repeat(120)}\n${long}\n| ${long} |\n\`\`\`\n${long}\n\`\`\`\n${long}`;
    expect(longLines(page, longestLine)).toEqual(['line 2: 121 characters', 'line 7: 121 characters']);
  });

  test('of links, anchors and orphans', () => {
    const planted: Pages = new Map([
      ['README.md', '# A\n[b](docs/b.md#two-words) ![p](docs/p.png) [web](https://example.com/x) [a](#a)'],
      ['docs/b.md', '## Two `words`!\n[gone](c.md) [no anchor](../README.md#b) [file](../LICENSE) [x](#y)'],
      ['docs/orphan.md', '[b](b.md)'],
    ]);
    const exists = (path: string): boolean => path === 'LICENSE';
    expect(brokenLinks(planted, exists)).toEqual([
      'README.md: docs/p.png',
      'docs/b.md: c.md',
      'docs/b.md: ../README.md#b',
      'docs/b.md: #y',
    ]);
    expect(orphans(planted, 'README.md')).toEqual(['docs/orphan.md']);
  });

  test('in headings that repeat, and in links of headings', () => {
    expect([...anchorsOf('# Store: `sqlite`\n## Check\n## Check\n```\n# no\n```\n### [A](b) & c')]).toEqual([
      'store-sqlite',
      'check',
      'check-1',
      'a--c',
    ]);
  });
});

describe('commit subjects', () => {
  /** The rule is checked for the commits after this one. */
  const base = 'd0cd09f934156f58018d6dce10b0e2e0d6698c51';
  const git = (...args: string[]) =>
    Bun.which('git') ? Bun.spawnSync(['git', ...args], { cwd: root, stderr: 'ignore' }) : undefined;
  const isKnown = git('merge-base', '--is-ancestor', base, 'HEAD')?.exitCode === 0;
  const wrong = (subjects: readonly string[]): readonly string[] =>
    subjects.filter((subject) => !/^[a-z0-9][a-z0-9 ,./-]*: \S/.test(subject) || [...subject].length > 72);

  test.skipIf(!isKnown)('are `area: summary` of at most 72 characters', () => {
    const subjects = git('log', '--no-merges', '--format=%s', `${base}..HEAD`)!.stdout.toString().trim();
    expect(wrong(subjects === '' ? [] : subjects.split('\n'))).toEqual([]);
  });

  test('that are too long or have no area are found', () => {
    const long = `core: ${'x'.repeat(67)}`;
    expect(wrong(['core: do it', 'plugins, console: do it', 'Do it', 'core:do it', long])).toEqual([
      'Do it',
      'core:do it',
      long,
    ]);
  });
});
