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

/** From one day to another. */
export const periodFilters = (): readonly ListFilter[] => [
  { name: 'from', title: words('from'), type: 'date' },
  { name: 'to', title: words('to'), type: 'date' },
];
