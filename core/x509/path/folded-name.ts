import { foldString, stringTags } from '../directory-string.ts';
import type { Name, NameAttribute } from '../name.ts';

const folded = new WeakMap<Name, readonly string[]>();

/**
 * A text for each RDN of a name. Two names are the same (RFC 5280 §7.1, `sameName`) when their texts are; folding once
 * what is compared often keeps long names from costing much.
 */
export function foldName(name: Name): readonly string[] {
  let texts = folded.get(name);
  if (!texts) {
    texts = name.rdns.map((rdn) => JSON.stringify(rdn.map(foldAttribute).sort()));
    folded.set(name, texts);
  }
  return texts;
}

function foldAttribute({ type, value, tag }: NameAttribute): string {
  return stringTags.has(tag) ? `${type}=${foldString(value)}` : `${type} ${value}`;
}

/** Whether `name` lies in the subtree of directory names below `base` (RFC 5280 §4.2.1.10). */
export function isBelow(name: Name, base: Name): boolean {
  const texts = foldName(name);
  return foldName(base).every((text, i) => text === texts[i]);
}
