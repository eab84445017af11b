import type { Patterns } from '../ports/patterns.ts';
import type { Problems } from './problems.ts';
import type { Fields } from './template.ts';

/** Why a value does not fit, in words that follow it; undefined when it does. */
export type Fits = (value: string, from: Fields) => string | undefined;

/** Where the compiler reports problems and finds the pattern engine. */
export interface Tools {
  readonly patterns: Patterns;
  readonly problems: Problems;
}
