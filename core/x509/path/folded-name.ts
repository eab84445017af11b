import { foldAttribute, type Name } from '../name.ts';

interface Folded {
  readonly rdns: readonly string[];
  readonly whole: string;
}

const folded = new WeakMap<Name, Folded>();

/**
 * Returns a text that is the same for equal names (RFC 5280 §7.1, `sameName`) and different for others. Names are
 * folded once, because comparing long names repeatedly is expensive.
 */
export const foldName = (name: Name): string => fold(name).whole;

function fold(name: Name): Folded {
  let texts = folded.get(name);
  if (!texts) {
    const rdns = name.rdns.map((rdn) => JSON.stringify(rdn.map(foldAttribute).sort()));
    texts = { rdns, whole: rdns.join() };
    folded.set(name, texts);
  }
  return texts;
}

/** Returns whether `name` is in the subtree of directory names below `base` (RFC 5280 §4.2.1.10). */
export function isBelow(name: Name, base: Name): boolean {
  const texts = fold(name).rdns;
  return fold(base).rdns.every((text, i) => text === texts[i]);
}
