import { dirname, join, posix } from 'node:path';

/** A line of a page that is neither in a code block nor in a comment. */
interface Line {
  readonly number: number;
  readonly text: string;
}

/** The lines of a Markdown page outside of code blocks. */
function linesOf(page: string): readonly Line[] {
  const lines: Line[] = [];
  let fence: string | undefined;
  for (const [n, text] of page.split('\n').entries()) {
    const mark = /^\s*(```+|~~~+)/.exec(text)?.[1];
    if (fence === undefined && mark !== undefined) fence = mark;
    else if (fence !== undefined) {
      if (mark?.startsWith(fence)) fence = undefined;
    } else lines.push({ number: n + 1, text });
  }
  return lines;
}

const isTable = (text: string): boolean => /^\s*\|/.test(text);
const withoutCode = (text: string): string => text.replace(/`[^`]*`/g, (code) => '_'.repeat(code.length));

/** `line N: …` for each line of prose that is longer than `most` characters. */
export const longLines = (page: string, most: number): readonly string[] =>
  linesOf(page)
    .filter(({ text }) => !isTable(text) && [...text].length > most)
    .map(({ number, text }) => `line ${number}: ${[...text].length} characters`);

/** `line N: …` for each place that one of `patterns` matches, code left aside. */
export const banned = (page: string, patterns: readonly RegExp[]): readonly string[] =>
  linesOf(page).flatMap(({ number, text }) =>
    patterns.flatMap((pattern) => {
      const [found] = pattern.exec(withoutCode(text)) ?? [];
      return found === undefined ? [] : [`line ${number}: "${found}"`];
    }),
  );

/** The anchors that GitHub gives to the headings of a page. */
export function anchorsOf(page: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const { text } of linesOf(page)) {
    const title = /^#{1,6}\s+(.*?)\s*#*$/.exec(text)?.[1];
    if (title === undefined) continue;
    const words = title.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const base = words.replace(/[^\p{L}\p{N}\p{M} _-]/gu, '').replaceAll(' ', '-');
    let anchor = base;
    for (let n = 1; anchors.has(anchor); n++) anchor = `${base}-${n}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** The targets of all links and pictures of a page that lead to files of the repository. */
const linksOf = (page: string): readonly string[] =>
  [
    ...linesOf(page)
      .map(({ text }) => withoutCode(text))
      .join('\n')
      .matchAll(/\]\(([^)\s]+)(?:\s"[^"]*")?\)/g),
  ]
    .map(([, target]) => target!)
    .filter((target) => !/^[a-z][a-z+.-]*:/i.test(target));

/** Path of a page in the repository → its text. */
export type Pages = ReadonlyMap<string, string>;

const targetOf = (from: string, link: string): readonly [path: string, anchor: string | undefined] => {
  const [path, anchor] = link.split('#') as [string, string | undefined];
  return [path === '' ? from : posix.normalize(join(dirname(from), path)), anchor];
};

/** `page: link` for each relative link whose file or anchor does not exist. `exists` looks for files that are no pages. */
export const brokenLinks = (pages: Pages, exists: (path: string) => boolean): readonly string[] =>
  [...pages].flatMap(([from, page]) =>
    linksOf(page)
      .filter((link) => {
        const [path, anchor] = targetOf(from, link);
        const target = pages.get(path);
        if (target === undefined) return anchor !== undefined || !exists(path);
        return anchor !== undefined && !anchorsOf(target).has(anchor);
      })
      .map((link) => `${from}: ${link}`),
  );

/** The pages that no chain of links from `start` reaches. */
export function orphans(pages: Pages, start: string): readonly string[] {
  const reached = new Set([start]);
  for (const from of reached) {
    for (const link of linksOf(pages.get(from)!)) {
      const [path] = targetOf(from, link);
      if (pages.has(path)) reached.add(path);
    }
  }
  return [...pages.keys()].filter((path) => !reached.has(path));
}
