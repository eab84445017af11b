import { join } from 'node:path';
import type { Section } from './app/section.ts';
import { type Chapter, documentOf, searchPage, searchScripts, stylesheet } from './frame.ts';
import { addressOf, type Page, renderPage, rootPages } from './markdown.ts';

export interface SiteFile {
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** The documentation as a static site. */
export interface Site {
  /** By address relative to the root of the site: `index.html`, `how-to/install.html`, `docs.css`. */
  readonly files: ReadonlyMap<string, SiteFile>;
  /** Returns the page for an address that does not exist. `root`: the path of the site, such as `/docs/`. */
  notFound(root: string): SiteFile;
}

/** The chapters in their order, by folder of `docs/`; '.' is for the pages at the root of the repository. */
const chapters: Readonly<Record<string, string>> = {
  '.': 'Overview',
  tutorials: 'Tutorials',
  'how-to': 'How-to guides',
  reference: 'Reference',
  explanation: 'Explanation',
  decisions: 'Decisions',
};

const root = join(import.meta.dir, '../../..');
const app = join(import.meta.dir, 'app');

/**
 * Renders README.md, its neighbours and `docs/`, and returns every file of the site; undefined if this copy of Postern has no
 * documentation. Takes about a tenth of a second of processor time.
 */
export async function buildSite(): Promise<Site | undefined> {
  if (!(await Bun.file(join(root, 'README.md')).exists())) return undefined;
  const paths = [...rootPages.keys(), ...[...new Bun.Glob('docs/**/*.{md,png,json}').scanSync(root)].sort()];
  const pages: Page[] = [];
  const files = new Map<string, SiteFile>();
  for (const path of paths) {
    const file = Bun.file(join(root, path));
    if (path.endsWith('.md')) pages.push(renderPage(path, await file.text()));
    else files.set(addressOf(path)!, { contentType: file.type, body: await file.bytes() });
  }
  const navigation = Object.entries(chapters).map(([folder, title]) => chapterOf(folder, title, pages));
  for (const page of pages) files.set(page.address, html(documentOf(page, navigation)));
  files.set(searchPage, html(documentOf(search, navigation)));
  const [data, script] = searchScripts;
  files.set(data, javaScript(dataOf(pages.flatMap(({ sections }) => sections))));
  files.set(script, javaScript(await searchScript()));
  files.set(stylesheet, {
    contentType: 'text/css; charset=utf-8',
    body: await Bun.file(join(app, 'docs.css')).bytes(),
  });
  return {
    files,
    notFound: (base) => html(documentOf(missing, navigation, (to) => base + to)),
  };
}

/** The pages of a folder by title, its own README.md first. */
function chapterOf(folder: string, title: string, pages: readonly Page[]): Chapter {
  const isIndex = ({ address }: Page): boolean => address.endsWith('index.html');
  const ofFolder = pages.filter(
    ({ address }) => (address.includes('/') ? address.split('/')[0] : '.') === folder,
  );
  const sorted = ofFolder.sort(
    (a, b) => Number(isIndex(b)) - Number(isIndex(a)) || a.title.localeCompare(b.title, 'en'),
  );
  return { title, pages: sorted };
}

const search = {
  address: searchPage,
  title: 'Search',
  headings: [],
  html: `<h1>Search</h1>
<p id="count" role="status"></p>
<noscript><p>The search needs JavaScript. The list of all pages does not.</p></noscript>
<ul id="results"></ul>
`,
};

const missing = {
  address: '404.html',
  title: 'Page not found',
  headings: [],
  html: '<h1>Page not found</h1>\n<p>The documentation has no page at this address. Search for it, or choose a page from the list.</p>\n',
};

/** A script rather than JSON: a page that is opened as a file may load no other kind of file. */
const dataOf = (sections: readonly Section[]): Uint8Array =>
  Buffer.from(`globalThis.documentation=${JSON.stringify(sections)};\n`);

/** A classic script, for the same reason. */
async function searchScript(): Promise<Uint8Array> {
  const { outputs } = await Bun.build({
    entrypoints: [join(app, 'search.ts')],
    target: 'browser',
    format: 'iife',
    minify: true,
  });
  return new Uint8Array(await outputs[0]!.arrayBuffer());
}

const html = (text: string): SiteFile => ({
  contentType: 'text/html; charset=utf-8',
  body: Buffer.from(text),
});
const javaScript = (body: Uint8Array): SiteFile => ({ contentType: 'text/javascript; charset=utf-8', body });
