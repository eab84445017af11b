import { dateTime, exactTime, fromNow, moment } from '../../language.ts';

/** A moment of the API, in the time zone of this browser. */
export function When({ at, relative = false }: { readonly at: string; readonly relative?: boolean }) {
  const when = moment(at);
  if (Number.isNaN(when.getTime())) return <>{at}</>;
  return (
    <time dateTime={when.toISOString()} title={exactTime(when)}>
      {dateTime(when)}
      {relative && <span class="quiet"> ({fromNow(when)})</span>}
    </time>
  );
}
