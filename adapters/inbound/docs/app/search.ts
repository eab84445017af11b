import MiniSearch, { type SearchResult } from 'minisearch';
import type { Section } from './section.ts';

/** Defined by `search-data.js`. */
declare const documentation: readonly Section[];

/** Words and identifiers: `message_time_seconds` is one. */
const words = (text: string): string[] => text.match(/[\p{L}\p{N}_]+/gu) ?? [];

/** The search page: an index of all sections, built in the browser in some ten milliseconds. */
const index = new MiniSearch<Section & { readonly id: number }>({
  fields: ['page', 'heading', 'text'],
  storeFields: ['page', 'heading', 'address', 'text'],
  // An identifier is also found by its parts.
  tokenize: (text) =>
    words(text).flatMap((word) => (word.includes('_') ? [word, ...word.split('_')] : [word])),
  searchOptions: {
    tokenize: words,
    boost: { page: 4, heading: 3 },
    combineWith: 'AND',
    prefix: true,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
  },
});
index.addAll(documentation.map((section, id) => ({ ...section, id })));

const mostShown = 30;
const input = document.querySelector<HTMLInputElement>('header input')!;
const list = document.querySelector<HTMLElement>('#results')!;
const count = document.querySelector<HTMLElement>('#count')!;

/** The text around the first word found, with every word found marked. */
function excerpt(text: string, terms: readonly string[]): (Node | string)[] {
  const alternatives = terms.map((term) => RegExp.escape(term)).join('|');
  if (alternatives === '') return [text.slice(0, 200)];
  const found = new RegExp(alternatives, 'giu');
  const first = Math.max(text.search(found), 0);
  const start = first < 60 ? 0 : text.indexOf(' ', first - 60) + 1;
  const part = `${start > 0 ? '… ' : ''}${text.slice(start, start + 200)}${start + 200 < text.length ? ' …' : ''}`;
  const pieces: (Node | string)[] = [];
  let end = 0;
  for (const match of part.matchAll(found)) {
    const mark = document.createElement('mark');
    mark.textContent = match[0];
    pieces.push(part.slice(end, match.index), mark);
    end = match.index + match[0].length;
  }
  return [...pieces, part.slice(end)];
}

function item({ page, heading, address, text, terms }: SearchResult): HTMLElement {
  const link = document.createElement('a');
  link.href = String(address);
  link.textContent = heading === '' ? String(page) : `${page}: ${heading}`;
  const paragraph = document.createElement('p');
  paragraph.append(...excerpt(String(text), terms));
  const entry = document.createElement('li');
  entry.append(link, paragraph);
  return entry;
}

function show(): void {
  const query = input.value.trim();
  const results = query === '' ? [] : index.search(query);
  list.replaceChildren(...results.slice(0, mostShown).map(item));
  if (query === '') count.textContent = 'Type words to search for.';
  else if (results.length === 0) count.textContent = `No section contains “${query}”.`;
  else if (results.length > mostShown)
    count.textContent = `The best ${mostShown} of ${results.length} sections`;
  else count.textContent = results.length === 1 ? '1 section' : `${results.length} sections`;
}

input.value = new URLSearchParams(location.search).get('q') ?? '';
input.addEventListener('input', show);
show();
