/** An ISO 8601 duration. Years and months are calendar terms, the rest is a fixed time. */
interface Duration {
  readonly months: number;
  readonly milliseconds: number;
}

const form =
  /^P(?:(\d{1,4})W|(?=.)(?:(\d{1,4})Y)?(?:(\d{1,4})M)?(?:(\d{1,6})D)?(?:T(?=.)(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,9})S)?)?)$/;

/**
 * Parses `P2Y`, `P1Y6M`, `P398D`, `P4W`, `PT12H` and combinations: whole numbers, in this order, without a sign (ISO
 * 8601-1 §5.5.2.2). Returns undefined for any other text, and for a duration of zero.
 */
export function parseDuration(text: string): Duration | undefined {
  const match = form.exec(text);
  if (!match) return undefined;
  const [weeks, years, months, days, hours, minutes, seconds] = match
    .slice(1)
    .map((digits) => Number(digits ?? 0)) as [number, number, number, number, number, number, number];
  const duration = {
    months: years * 12 + months,
    milliseconds: (((weeks * 7 + days) * 24 + hours) * 3600 + minutes * 60 + seconds) * 1000,
  };
  return duration.months + duration.milliseconds > 0 ? duration : undefined;
}

/**
 * Adds a duration. `start` and the result are in milliseconds since 1970. Years and months are added first, in the UTC
 * calendar; if the month has no such day, the result is its last day: 31 January plus a month is 28 or 29 February.
 */
export function addDuration(start: number, { months, milliseconds }: Duration): number {
  if (months === 0) return start + milliseconds;
  const date = new Date(start);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, lastDay));
  return date.getTime() + milliseconds;
}
