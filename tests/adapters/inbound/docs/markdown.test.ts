import { expect, test } from 'bun:test';
import { addressOf, renderPage } from '#adapters/inbound/docs/markdown.ts';

test('files of the documentation have addresses, others have none', () => {
  const addresses = [
    'README.md',
    'SECURITY.md',
    'docs/decisions/README.md',
    'docs/how-to/a.md',
    'docs/screenshots/a.png',
  ];
  expect(addresses.map(addressOf)).toEqual([
    'index.html',
    'security.html',
    'decisions/index.html',
    'how-to/a.html',
    'screenshots/a.png',
  ]);
  expect(['LICENSE', 'tests/fuzz/README.md', 'docs/notes.txt'].map(addressOf)).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test('links, pictures and tables of a page are adapted to the site', () => {
  const { html } = renderPage(
    'docs/how-to/a.md',
    [
      '# A',
      '[b](b.md#c) [r](../reference/r.md) [home](../../README.md) [a](#a) [web](https://example.com/)',
      '[f](../../tests/f.ts) ![p](../screenshots/p.png)',
      '',
      '| x | |',
      '|---|---|',
      '| `a\\|b` | c |',
    ].join('\n'),
  );
  for (const part of [
    '<a href="b.html#c">b</a>',
    '<a href="../reference/r.html">r</a>',
    '<a href="../index.html">home</a>',
    '<a href="#a">a</a>',
    '<a href="https://example.com/">web</a>',
    'f (tests/f.ts)',
    'src="../screenshots/p.png"',
    '<div class="table" role="group" aria-label="Table" tabindex="0"><table>',
    '<th>x</th><td></td>',
    '<td><code>a|b</code></td>',
  ])
    expect(html).toContain(part);
});

test('comments are left out, and other raw HTML of a page is shown as text', () => {
  const { html } = renderPage(
    'docs/how-to/a.md',
    '# A\n\n<!-- c -->\n\n<script>x</script>\n\n<b onclick="y">z</b>\n',
  );
  expect(html).not.toMatch(/<script|<b |!--/);
  expect(html).toContain('&lt;script&gt;');
});

test('headings have the anchors that GitHub gives them, and sections their text', () => {
  const page = renderPage(
    'docs/how-to/a.md',
    '# Store: `sqlite`\n\nTop.\n\n## A & b\n\nText with `code_x` and <y>.\n\n## A & b\n\n```\n# no\n```\n',
  );
  expect(page.title).toBe('Store: sqlite');
  expect(page.headings.map(({ id }) => id)).toEqual(['store-sqlite', 'a--b', 'a--b-1']);
  expect(page.sections).toEqual([
    { address: 'how-to/a.html', page: 'Store: sqlite', heading: '', text: 'Top.' },
    {
      address: 'how-to/a.html#a--b',
      page: 'Store: sqlite',
      heading: 'A & b',
      text: 'Text with code_x and <y>.',
    },
    { address: 'how-to/a.html#a--b-1', page: 'Store: sqlite', heading: 'A & b', text: '# no' },
  ]);
});
