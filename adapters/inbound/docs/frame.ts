import { type Page, relative } from './markdown.ts';

/** A folder of the documentation, as the navigation shows it. */
export interface Chapter {
  readonly title: string;
  readonly pages: readonly Page[];
}

/** What a document shows: a page of the documentation, or one of the site's own. */
type Contents = Pick<Page, 'address' | 'title' | 'html' | 'headings'>;

/** The files that every page loads, and those of the search, by their addresses. */
export const stylesheet = 'docs.css';
export const searchPage = 'search.html';
export const searchScripts = ['search-data.js', 'search.js'] as const;

/**
 * Returns the document around a page: header with the search, the page, and the navigation. `linkTo` makes the address of a link
 * from an address within the site; by default links are relative, so that the site works under any path.
 */
export function documentOf(
  page: Contents,
  chapters: readonly Chapter[],
  linkTo: (to: string) => string = (to) => relative(page.address, to),
): string {
  const scripts = page.address === searchPage ? searchScripts : [];
  const title = page.address === 'index.html' ? 'Postern documentation' : `${page.title} · Postern`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${Bun.escapeHTML(title)}</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(icon)}">
<link rel="stylesheet" href="${linkTo(stylesheet)}">
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<a class="brand" href="${linkTo('index.html')}">${icon}Postern documentation</a>
<a class="contents" href="#contents">Contents</a>
<form action="${linkTo(searchPage)}" role="search"><input type="search" name="q" aria-label="Search the documentation" placeholder="Search" autocomplete="off"></form>
</header>
<div class="columns">
<main id="main" tabindex="-1">
${page.html}</main>
<nav id="contents" aria-label="Documentation">
${chapters.map((chapter) => chapterList(chapter, page, linkTo)).join('\n')}
</nav>
</div>
${scripts.map((script) => `<script src="${linkTo(script)}"></script>\n`).join('')}</body>
</html>
`;
}

/** Open where the page is, so that the list is short; on pages outside of all chapters and on the start page all are. */
const chapterList = ({ title, pages }: Chapter, shown: Contents, linkTo: (to: string) => string): string => {
  const isOpen = !shown.address.includes('/') || pages.some(({ address }) => address === shown.address);
  const items = pages.map((page) => {
    const isHere = page.address === shown.address;
    const link = `<a href="${linkTo(page.address)}"${isHere ? ' aria-current="page"' : ''}>${Bun.escapeHTML(page.title)}</a>`;
    return `<li>${link}${isHere ? partsOf(shown) : ''}</li>`;
  });
  return `<details${isOpen ? ' open' : ''}>\n<summary>${title}</summary>\n<ul>\n${items.join('\n')}\n</ul>\n</details>`;
};

/** The headings of the page that is shown. */
const partsOf = ({ headings }: Contents): string => {
  const parts = headings.filter(({ level }) => level === 2);
  const items = parts.map(({ id, text }) => `<li><a href="#${id}">${Bun.escapeHTML(text)}</a></li>`);
  return parts.length < 2 ? '' : `\n<ul>\n${items.join('\n')}\n</ul>`;
};

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" width="26" height="26" aria-hidden="true"><rect width="32" height="32" rx="7" fill="#0f5c63"/>' +
  '<path d="M9 26V14a7 7 0 0 1 14 0v12h-4v-6.500a3 3 0 0 0-6 0V26z" fill="#fff"/></svg>';
