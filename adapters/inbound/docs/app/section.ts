/** What the search finds: a heading of a page and the text below it. */
export interface Section {
  /** Relative to the root of the site: `how-to/install.html#without-internet`. */
  readonly address: string;
  /** Of the page. */
  readonly page: string;
  /** '' for the text above the first heading of the second level. */
  readonly heading: string;
  readonly text: string;
}
