import type { PkiHeader } from '#adapters/wire/cmp/header.ts';
import type { Clock } from '#core/ports/platform.ts';
import { Refusal } from './refusal.ts';

/** How replayed messages are detected. */
export interface ReplayRules {
  /** The largest difference between messageTime and the present, in milliseconds; at most as long as transactions are kept. */
  readonly messageTimeWindow: number;
  /** Rejects messages without messageTime. Otherwise their transactions are kept longer. */
  readonly requireMessageTime: boolean;
}

interface ReplayContext extends ReplayRules {
  readonly clock: Clock;
}

/** Checks messageTime (RFC 9483 §3.5). */
export function checkMessageTime(
  { clock, messageTimeWindow, requireMessageTime }: ReplayContext,
  { messageTime }: PkiHeader,
): void {
  if (messageTime === undefined) {
    if (requireMessageTime)
      throw new Refusal('missingTimeStamp', 'messageTime is missing; this gateway requires it');
    return;
  }
  const now = clock.now();
  if (Math.abs(now - messageTime) <= messageTimeWindow) return;
  const times = [messageTime, now].map((time) => new Date(time).toISOString());
  throw new Refusal(
    'badTime',
    `messageTime ${times[0]} is too far from the gateway's time ${times[1]}: set the clock of the device`,
  );
}

/**
 * Returns until when a message could be replayed: until `checkMessageTime` rejects it or its protection expires (`expires`).
 * Milliseconds since 1970.
 */
export const replayableUntil = (
  { messageTimeWindow }: ReplayRules,
  { messageTime }: PkiHeader,
  expires: number,
): number => (messageTime === undefined ? expires : Math.min(expires, messageTime + messageTimeWindow));
