/**
 * Control characters, and those that make text look other than it is: marks and overrides of its direction, line separators, and
 * what is not shown at all, as spaces of no width.
 */
const hidden = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029\p{Cs}]/u;
const everyHidden = new RegExp(hidden, 'gu');

export const hasHidden = (text: string): boolean => hidden.test(text);

/** Why a text is not fit for a name: two that look alike are one to whoever reads them. */
export function hiddenProblem(text: string): string | undefined {
  if (/\p{Cc}/u.test(text)) return 'control characters are not allowed';
  return hasHidden(text) ? 'invisible characters are not allowed' : undefined;
}

/** Text of others, fit for a message. */
export const visible = (text: string, longest = 400): string =>
  (text.length > longest ? `${text.slice(0, longest)}…` : text).replace(
    everyHidden,
    (c) => `\\u{${c.codePointAt(0)!.toString(16)}}`,
  );

export const quote = (value: string): string => `"${visible(value, 80)}"`;
