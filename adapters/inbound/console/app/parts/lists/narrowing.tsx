import { useEffect, useId, useState } from 'preact/hooks';
import { messages } from '../../language.ts';
import { go, query, withQuery } from '../../router.ts';
import { words } from '../../words.ts';

const m = messages(
  {
    inUse: 'Filters ({n})',
    more: 'More filters',
    searchFor: 'Search for',
  },
  {
    inUse: 'Filter ({n})',
    more: 'Weitere Filter',
    searchFor: 'Suchen nach',
  },
);

/** A query parameter of the list, chosen from options or typed. */
export interface ListFilter {
  readonly name: string;
  readonly title: string;
  readonly options?: readonly (readonly [value: string, title: string])[];
  /** Of what is typed. Default: text. */
  readonly type?: 'text' | 'date' | 'datetime-local' | 'number';
  /** Of a date: whether it begins or ends the period. */
  readonly edge?: 'start' | 'end';
  /** Folded away until it is needed. */
  readonly isRare?: boolean;
}

/** The search word and the filters, which a phone folds away. What is typed counts when it is sent; a choice at once. */
export function Narrowing({
  filters,
  searchable,
}: {
  readonly filters: readonly ListFilter[];
  readonly searchable: boolean;
}) {
  const id = useId();
  const asked = query.value.get('search') ?? '';
  const [word, setWord] = useState(asked);
  useEffect(() => setWord(asked), [asked]);
  const isNarrowed = ['search', ...filters.map(({ name }) => name)].some((name) => query.value.get(name));
  const cleared = Object.fromEntries(
    ['search', 'cursor', ...filters.map(({ name }) => name)].map((name) => [name, undefined]),
  );
  const typed = (form: HTMLFormElement): Record<string, string> =>
    Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value).trim()]));
  const rare = filters.filter(({ isRare }) => isRare);
  const [isOpen, setIsOpen] = useState(false);
  const inUse = filters.filter(({ name }) => query.value.get(name)).length;
  const field = ({ name, title, options, type = 'text' }: ListFilter) => (
    <div class="field" key={name}>
      <label for={`${id}-${name}`}>{title}</label>
      {options ? (
        <select
          id={`${id}-${name}`}
          name={name}
          value={query.value.get(name) ?? ''}
          onChange={(event) => event.currentTarget.form?.requestSubmit()}
        >
          <option value="">{words('all')}</option>
          {options.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      ) : (
        <input
          id={`${id}-${name}`}
          name={name}
          {...{ type: type as 'text' }}
          value={query.value.get(name) ?? ''}
        />
      )}
    </div>
  );
  return (
    <search>
      <form
        class={isOpen ? 'narrowing open' : 'narrowing'}
        onSubmit={(event) => {
          event.preventDefault();
          go(withQuery({ ...typed(event.currentTarget), cursor: undefined }));
        }}
      >
        {searchable && (
          <div class="field search">
            <label for={`${id}-s`}>{m('searchFor')}</label>
            <input
              id={`${id}-s`}
              type="search"
              name="search"
              maxLength={300}
              value={word}
              onInput={(event) => setWord(event.currentTarget.value)}
            />
          </div>
        )}
        {filters.length > 0 && (
          <button type="button" class="fold" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
            {inUse === 0 ? words('filters') : m('inUse', { n: inUse })}
          </button>
        )}
        {filters.filter(({ isRare }) => !isRare).map(field)}
        {rare.length > 0 && (
          <details class="rare" open={rare.some(({ name }) => query.value.get(name))}>
            <summary>{m('more')}</summary>
            <div class="narrowing">{rare.map(field)}</div>
          </details>
        )}
        <button type="submit">{words('search')}</button>
        {isNarrowed && (
          <a class="button" href={withQuery(cleared)}>
            {words('clear')}
          </a>
        )}
      </form>
    </search>
  );
}
