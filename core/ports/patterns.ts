/** Regular expressions of administrators, in a dialect whose matching time is linear in the text (RE2). */
export interface Patterns {
  /** A full-match test. Faults: malformed, naming what is wrong with the pattern. At most 1,000 characters. */
  compile(pattern: string): (text: string) => boolean;
}
