import type { PkiHeader } from '#adapters/wire/cmp/header.ts';
import type { Clock } from '#core/ports/platform.ts';
import { Refusal } from './refusal.ts';

/** How messages are kept from being sent a second time by somebody who has recorded them. */
export interface ReplayRules {
  /** Milliseconds between messageTime and the present, either way; no more than transactions are remembered. */
  readonly messageTimeWindow: number;
  /** A message without messageTime is refused, instead of being remembered. */
  readonly requireMessageTime: boolean;
}

interface Surroundings extends ReplayRules {
  readonly clock: Clock;
}

/** RFC 9483 §3.5. */
export function checkMessageTime(
  { clock, messageTimeWindow, requireMessageTime }: Surroundings,
  { messageTime }: PkiHeader,
): void {
  if (messageTime === undefined) {
    if (requireMessageTime) throw new Refusal('badTime', 'messageTime is missing: send it');
    return;
  }
  const now = clock.now();
  if (Math.abs(now - messageTime) <= messageTimeWindow) return;
  const times = [messageTime, now].map((time) => new Date(time).toISOString());
  throw new Refusal(
    'badTime',
    `messageTime is ${times[0]} and the time here is ${times[1]}: that is too far apart, set the clock of the device`,
  );
}

/** Until when a message passes `checkMessageTime`; `expires`: when what it is protected with does. */
export const replayableUntil = (
  { messageTimeWindow }: ReplayRules,
  { messageTime }: PkiHeader,
  expires: number,
): number => (messageTime === undefined ? expires : Math.min(expires, messageTime + messageTimeWindow));
