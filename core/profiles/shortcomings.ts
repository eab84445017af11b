import type { Problem } from '../fault.ts';
import { keyShortcoming, validityShortcoming } from '../security/demands.ts';
import type { Holder, LevelRules } from '../security/levels.ts';
import type { KeyType } from '../x509/algorithm.ts';
import { parseDuration } from './duration.ts';
import type { ProfileRules } from './language.ts';

/**
 * Returns what a profile explicitly sets and a security level does not allow: a validity period, a type of key. What
 * the profile leaves open (a profile without `keys` allows every type) is checked for each certificate.
 */
export function profileShortcomings(
  level: LevelRules,
  { keys, validity, extensions }: ProfileRules,
  now: number,
): readonly Problem[] {
  const holder: Holder = extensions?.basicConstraints?.ca ? 'ca' : 'endEntity';
  const problems: Problem[] = [];
  const add = (pointer: string, detail: string | undefined): void => {
    if (detail !== undefined) problems.push({ pointer, detail });
  };
  for (const [n, kind] of (keys?.allowed ?? []).entries()) {
    if (kind !== 'rsa') add(`/keys/allowed/${n}`, keyShortcoming(level, holder, kind as KeyType));
  }
  const { minimumRsaBits } = keys ?? {};
  if (minimumRsaBits !== undefined)
    add('/keys/minimumRsaBits', keyShortcoming(level, holder, `rsa-${minimumRsaBits}`));
  const { duration, until } = validity;
  const notAfter = duration === undefined ? Date.parse(until ?? '') : now + longest(duration);
  const member = duration === undefined ? 'until' : 'duration';
  add(`/validity/${member}`, validityShortcoming(level, { holder, notBefore: now, notAfter }));
  return problems;
}

const monthMs = (365.25 / 12) * 24 * 3_600_000;

function longest(text: string): number {
  const duration = parseDuration(text);
  return duration ? duration.months * monthMs + duration.milliseconds : 0;
}
