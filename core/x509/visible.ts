/**
 * Control characters, and characters that make text look different from what it is: direction marks and overrides, line
 * separators, and invisible characters such as zero-width spaces.
 */
const hidden = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029\p{Cs}]/u;
const everyHidden = new RegExp(hidden, 'gu');

export const hasHidden = (text: string): boolean => hidden.test(text);

/** Returns why a text cannot be a name: invisible characters make different names look the same. */
export function hiddenProblem(text: string): string | undefined {
  if (/\p{Cc}/u.test(text)) return 'control characters are not allowed';
  return hasHidden(text) ? 'invisible characters are not allowed' : undefined;
}

/** Makes untrusted text safe for a message: escapes invisible characters and limits the length. */
export const visible = (text: string, longest = 400): string =>
  (text.length > longest ? `${text.slice(0, longest)}…` : text).replace(
    everyHidden,
    (c) => `\\u{${c.codePointAt(0)!.toString(16)}}`,
  );

export const quote = (value: string): string => `"${visible(value, 80)}"`;
