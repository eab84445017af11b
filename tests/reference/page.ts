/** The tables that the program writes, by their names in the pages. */
export type Parts = Readonly<Record<string, string>>;

const marked = /(<!-- generated: ([a-z0-9.-]+) -->\n)[\s\S]*?(<!-- end -->)/g;

/** Returns a page with its generated parts as they are now. Throws an Error if a part is unknown. */
export const withParts = (page: string, parts: Parts): string =>
  page.replace(marked, (_, begin: string, name: string, end: string) => {
    const part = parts[name];
    if (part === undefined) throw new Error(`nothing generates "${name}"`);
    return `${begin}\n${part.trim()}\n\n${end}`;
  });

/** Returns the names of the generated parts of a page. */
export const partsOf = (page: string): readonly string[] =>
  [...page.matchAll(marked)].map(([, , name]) => name!);

/** Returns a Markdown table. A `|` in a cell is escaped. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(titles), `|${titles.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}

export const code = (text: string): string => `\`${text}\``;
