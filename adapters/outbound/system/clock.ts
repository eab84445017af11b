import type { Clock } from '#core/ports/platform.ts';

export const systemClock: Clock = { now: () => Date.now() };
