import { configuration } from './configuration.ts';
import { parsers } from './parsers.ts';
import { protocols } from './protocols.ts';
import type { Target } from './target.ts';

/** Everything that takes in octets that others have made. */
export const targets: readonly Target[] = [...parsers, ...protocols, configuration];
