import { words } from '../../words.ts';
import { plain } from '../display/text.tsx';
import type { ListFilter } from './narrowing.tsx';

/** One of a few values. `say`: what it is called. */
export const choiceFilter = <V extends string>(
  name: string,
  title: string,
  values: readonly V[],
  say: (value: NoInfer<V>) => string,
): ListFilter => ({ name, title, options: values.map((value) => [value, say(value)]) });

/** One of the records that `useChoices` answers with. */
export const recordFilter = (
  name: string,
  title: string,
  records: readonly (readonly [id: number, name: string])[],
): ListFilter => ({ name, title, options: records.map(([id, called]) => [String(id), plain(called)]) });

/** From one day to another. `name`: what precedes `from` and `to` in the parameters of the API; `title` likewise of the labels. */
export const periodFilters = (
  name = '',
  from: string = words('from'),
  to: string = words('to'),
  type: 'date' | 'datetime-local' = 'date',
): readonly ListFilter[] => [
  { name: `${name}from`, title: from, type, edge: 'start' },
  { name: `${name}to`, title: to, type, edge: 'end' },
];

/**
 * A day or minute of the reader's time zone as the API takes it: the first second of it, or the last one. A text that is neither is
 * left as it is, and the API objects.
 */
export function momentOf(text: string, edge: 'start' | 'end'): string {
  const [, day, time] = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(?::\d\d)?)?$/.exec(text) ?? [];
  const at = new Date(`${day}T${time ?? '00:00'}`);
  if (Number.isNaN(at.getTime())) return text;
  if (edge === 'end') {
    // By the calendar: a day need not have 24 hours.
    if (time === undefined) at.setDate(at.getDate() + 1);
    else at.setMinutes(at.getMinutes() + 1);
    at.setSeconds(at.getSeconds() - 1);
  }
  return `${at.toISOString().slice(0, 19)}Z`;
}
