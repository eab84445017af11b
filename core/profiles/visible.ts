/** Control characters, and those that make text look other than it is: bidirectional overrides, line separators. */
const hidden = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\p{Cs}]/u;
const everyHidden = new RegExp(hidden, 'gu');

export const hasHidden = (text: string): boolean => hidden.test(text);

/** Text of others, fit for a message. */
export const visible = (text: string, longest = 400): string =>
  (text.length > longest ? `${text.slice(0, longest)}…` : text).replace(
    everyHidden,
    (c) => `\\u{${c.codePointAt(0)!.toString(16)}}`,
  );

export const quote = (value: string): string => `"${visible(value, 80)}"`;
