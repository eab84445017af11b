/** Times in certificates have no fraction: a moment counts as the second that it is in. */
export const wholeSecond = (milliseconds: number): number => Math.floor(milliseconds / 1000) * 1000;

/** Whether `now` is after the validity period, which includes the second of notAfter (RFC 5280 §4.1.2.5). */
export const hasExpired = (notAfter: number, now: number): boolean => !(wholeSecond(now) <= notAfter);
