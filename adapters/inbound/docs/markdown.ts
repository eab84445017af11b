import { posix } from 'node:path';
import type { Section } from './app/section.ts';

export interface Heading {
  readonly level: number;
  readonly id: string;
  readonly text: string;
}

/** A page of the documentation, rendered. */
export interface Page {
  /** Relative to the root of the site: `how-to/install.html`. */
  readonly address: string;
  readonly title: string;
  readonly html: string;
  readonly headings: readonly Heading[];
  readonly sections: readonly Section[];
}

/** The pages at the root of the repository and their addresses. README.md is the start page. */
export const rootPages: ReadonlyMap<string, string> = new Map([
  ['README.md', 'index.html'],
  ['CHANGELOG.md', 'changelog.html'],
  ['SECURITY.md', 'security.html'],
]);

/**
 * Returns the address of a file of the repository within the site, undefined for a file that is no part of it. The folders of
 * `docs/` keep their names.
 */
export function addressOf(path: string): string | undefined {
  const [, inside] = /^docs\/(.+\.(?:md|png|json))$/.exec(path) ?? [];
  return rootPages.get(path) ?? inside?.replace(/(^|\/)README\.md$/, '$1index.md').replace(/\.md$/, '.html');
}

/** Returns the way from one address to another, which holds wherever the site is served. */
export const relative = (from: string, to: string): string =>
  posix.relative(posix.dirname(from), to) || posix.basename(to);

/** Marks for tools, on lines of their own. */
const comments = /^<!--.*?-->$/gms;

/** Renders a page. `path`: of the file in the repository. Comments are left out, other raw HTML is shown as text. */
export function renderPage(path: string, markdown: string): Page {
  const address = addressOf(path);
  if (address === undefined) throw new Error(`${path} is not a page of the documentation`);
  const headings: Heading[] = [];
  const taken = new Set<string>();
  const withIds = Bun.markdown
    .html(markdown.replace(comments, ''), { noHtmlBlocks: true, noHtmlSpans: true })
    .replace(/<h([1-6])>(.*?)<\/h\1>/gs, (_, level: string, inner: string) => {
      const text = textOf(inner);
      const id = anchor(text, taken);
      headings.push({ level: Number(level), id, text });
      return `<h${level} id="${id}">${inner}</h${level}>`;
    })
    // A cell without text is no heading of its column.
    .replaceAll('<th></th>', '<td></td>');
  const html = adapt(withIds, path, address);
  const title = headings[0]?.text ?? path;
  return { address, title, html, headings, sections: sectionsOf(withIds, address, title, headings) };
}

/** The anchor that GitHub gives to a heading, so that a link leads to the same place there and here. */
function anchor(text: string, taken: Set<string>): string {
  const base = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M} _-]/gu, '')
    .replaceAll(' ', '-');
  let id = base;
  for (let n = 1; taken.has(id); n++) id = `${base}-${n}`;
  taken.add(id);
  return id;
}

/** Makes links lead to pages of the site, and lets what is too wide be scrolled, by keyboard too. */
const adapt = (html: string, path: string, address: string): string =>
  new HTMLRewriter()
    .on('a[href]', {
      element(link) {
        const href = link.getAttribute('href')!;
        if (/^#|^[a-z][a-z+.-]*:/i.test(href)) return;
        const [file, fragment] = targetOf(path, href);
        const to = addressOf(file);
        if (to !== undefined) link.setAttribute('href', relative(address, to) + (fragment && `#${fragment}`));
        else {
          // A file of the source, which the site does not contain.
          link.after(` (${file})`);
          link.removeAndKeepContent();
        }
      },
    })
    .on('img[src]', {
      element(image) {
        const [file] = targetOf(path, image.getAttribute('src')!);
        image.setAttribute('src', relative(address, addressOf(file) ?? file));
        image.setAttribute('loading', 'lazy');
      },
    })
    .on('pre', { element: (block) => void block.setAttribute('tabindex', '0') })
    .on('table', {
      element(table) {
        table.before('<div class="table" role="group" aria-label="Table" tabindex="0">', { html: true });
        table.after('</div>', { html: true });
      },
    })
    .transform(html);

const targetOf = (path: string, href: string): readonly [file: string, fragment: string] => {
  const [file = '', fragment = ''] = href.split('#');
  return [posix.join(posix.dirname(path), file), fragment];
};

/** One section for each heading. */
function sectionsOf(html: string, address: string, page: string, headings: readonly Heading[]): Section[] {
  const parts = html.split(/(?=<h[1-6] id=)/).filter((part) => /^<h[1-6] id=/.test(part));
  const sections: Section[] = [];
  for (const [n, part] of parts.entries()) {
    const { level, id, text: heading } = headings[n]!;
    const text = textOf(part.replace(/^<h.*?<\/h[1-6]>/s, ''));
    if (level === 1) sections.push({ address, page, heading: '', text });
    else sections.push({ address: `${address}#${id}`, page, heading, text });
  }
  return sections;
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', amp: '&', '#39': "'" };

const textOf = (html: string): string =>
  html
    .replace(/<img[^>]*alt="([^"]*)"[^>]*>/g, '$1')
    // Cells and paragraphs are apart, words within a line are not.
    .replace(/<\/?(?:code|a|strong|em)(?:\s[^>]*)?>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/&(lt|gt|quot|amp|#39);/g, (_, name: string) => entities[name]!)
    .replace(/\s+/g, ' ')
    .trim();
