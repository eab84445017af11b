const form =
  /^P(?:(\d{1,4})W|(?=\d|T\d)(?:(\d{1,4})Y)?(?:(\d{1,5})M)?(?:(\d{1,6})D)?(?:T(?:(\d{1,7})H)?(?:(\d{1,9})M)?(?:(\d{1,9})S)?)?)$/;

/** When an ISO 8601 duration ends that begins at `start`; undefined for what is none. */
export function endOf(duration: string, start: Date): Date | undefined {
  const match = form.exec(duration);
  if (!match) return undefined;
  const [weeks, years, months, days, hours, minutes, seconds] = match
    .slice(1)
    .map((digits) => Number(digits ?? 0));
  const end = new Date(start);
  end.setUTCMonth(end.getUTCMonth() + years! * 12 + months!);
  const rest = ((weeks! * 7 + days!) * 24 + hours!) * 3600 + minutes! * 60 + seconds!;
  return new Date(end.getTime() + rest * 1000);
}
