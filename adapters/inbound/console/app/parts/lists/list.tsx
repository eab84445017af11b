import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useList } from '../../data.ts';
import { messages } from '../../language.ts';
import { query, withQuery } from '../../router.ts';
import { words } from '../../words.ts';
import { Empty, Problem, Waiting } from '../display/answer.tsx';
import { plain } from '../display/text.tsx';
import { Exports } from './exports.tsx';
import { momentOf } from './filters.ts';
import { type ListFilter, Narrowing } from './narrowing.tsx';

const m = messages(
  {
    ascending: 'in ascending order',
    descending: 'in descending order',
    nothingFound: 'Nothing matches',
    nothingFoundNext: 'Search for something else, or clear the filters.',
    orderBy: 'Sort by {title}',
    pages: 'Pages of the list',
    records: { one: '{n} entry', other: '{n} entries' },
    recordsMore: 'The first {n} entries; there are more',
    recordsPage: '{n} more entries',
    select: 'Select',
    selectAll: 'Select all entries of this page',
    selected: { one: '{n} entry selected', other: '{n} entries selected' },
  },
  {
    ascending: 'aufsteigend',
    descending: 'absteigend',
    nothingFound: 'Nichts gefunden',
    nothingFoundNext: 'Suchen Sie nach etwas anderem, oder setzen Sie die Filter zurück.',
    orderBy: 'Nach {title} sortieren',
    pages: 'Seiten der Liste',
    records: { one: '{n} Eintrag', other: '{n} Einträge' },
    recordsMore: 'Die ersten {n} Einträge; es gibt mehr',
    recordsPage: '{n} weitere Einträge',
    select: 'Auswählen',
    selectAll: 'Alle Einträge dieser Seite auswählen',
    selected: { one: '{n} Eintrag ausgewählt', other: '{n} Einträge ausgewählt' },
  },
);

export interface Column<T> {
  /** As the API calls the field, where it is `orderable`. */
  readonly name: string;
  readonly title: string;
  readonly cell: (record: T) => ComponentChildren;
  readonly orderable?: boolean;
  /** A number: stands to the right. */
  readonly isNumber?: boolean;
  /** A text that no other page shows whole: it wraps. */
  readonly wraps?: boolean;
}

interface Listed {
  readonly id: number | string;
}

export interface ListProps<T extends Listed> {
  /** `/api/devices/` */
  readonly path: string;
  readonly title: string;
  /** What is false, this account does not get to see. */
  readonly columns: readonly (Column<T> | false)[];
  readonly filters?: readonly ListFilter[];
  /** Parameters that are not for choice: `{ device: '7' }`. */
  readonly fixed?: Readonly<Record<string, string>>;
  readonly searchable?: boolean;
  /** What to say where there is nothing at all. */
  readonly empty: ComponentChildren;
  /** Where a record's first column leads. */
  readonly href?: (record: T) => string;
  /** Another number: ask again. */
  readonly round?: number;
  /** What can be done with several records at once. */
  readonly selection?: Selection<T> | undefined;
  /** The API also answers with the whole list as a file. */
  readonly exported?: boolean;
}

export interface Selection<T> {
  /** What a record is called, for those who do not see its row. */
  readonly name: (record: T) => string;
  readonly isSelectable?: (record: T) => boolean;
  /** Buttons; `clear` unselects all. */
  readonly actions: (records: readonly T[], clear: () => void) => ComponentChildren;
}

/** For a list whose records are changed beside it: `again` has it asked for once more. */
export function useRound() {
  const [round, setRound] = useState(0);
  return { round, again: (): void => setRound((n) => n + 1) };
}

/** How many records a page has. */
const limit = 50;

/**
 * A collection of the API: searched, filtered, ordered and paged there. All that is chosen stands in the URL: `search`, `ordering`,
 * `cursor` and the filters by their names.
 */
export function List<T extends Listed>({
  path,
  title,
  columns: offered,
  filters = [],
  fixed = {},
  searchable = true,
  empty,
  href,
  round = 0,
  selection,
  exported = false,
}: ListProps<T>) {
  const columns = offered.filter((column) => column !== false);
  const chosen = new Map(
    ['search', 'ordering', 'cursor', ...filters.map(({ name }) => name)].flatMap((name) => {
      const value = query.value.get(name);
      return value === null || value === '' ? [] : [[name, value] as const];
    }),
  );
  const sent = new Map(chosen);
  for (const { name, edge } of filters) {
    const value = chosen.get(name);
    if (edge && value !== undefined) sent.set(name, momentOf(value, edge));
  }
  const parameters = new URLSearchParams({ ...Object.fromEntries(sent), ...fixed, limit: String(limit) });
  const asked = useList<T>(`${path}?${parameters}`);
  const [selected, setSelected] = useState<ReadonlySet<T['id']>>(new Set());
  const { data, error, waiting, reload } = asked;
  const first = useRef(round);
  useEffect(() => {
    if (round !== first.current) reload();
    first.current = round;
  }, [round]);
  const isNarrowed = [...chosen.keys()].some((name) => name !== 'ordering');
  const records = data?.records ?? [];
  const selectable = selection ? records.filter((record) => selection.isSelectable?.(record) ?? true) : [];
  const picked = selectable.filter(({ id }) => selected.has(id));
  return (
    <>
      {(searchable || filters.length > 0) && <Narrowing filters={filters} searchable={searchable} />}
      {error !== undefined && <Problem error={error} retry={reload} />}
      {data === undefined && waiting && <Waiting retry={reload} />}
      {data && (
        <div class="above-list">
          <p class="count" role="status">
            {chosen.has('cursor')
              ? m('recordsPage', { n: records.length })
              : data.next === undefined
                ? m('records', { n: records.length })
                : m('recordsMore', { n: records.length })}
            {picked.length > 0 && ` · ${m('selected', { n: picked.length })}`}
          </p>
          {selection && picked.length > 0 && (
            <span class="buttons">{selection.actions(picked, () => setSelected(new Set()))}</span>
          )}
          {exported && records.length > 0 && <Exports path={path} parameters={parameters} />}
        </div>
      )}
      {data && records.length === 0 && (isNarrowed ? <NothingFound /> : empty)}
      {records.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
        <section class="scroll" tabIndex={0} aria-label={title} aria-busy={waiting}>
          <table class="list">
            <thead>
              <tr>
                {selection && (
                  <th scope="col" class="select">
                    <input
                      type="checkbox"
                      aria-label={m('selectAll')}
                      checked={picked.length > 0 && picked.length === selectable.length}
                      disabled={selectable.length === 0}
                      onChange={({ currentTarget: { checked } }) =>
                        setSelected(new Set(checked ? selectable.map(({ id }) => id) : []))
                      }
                    />
                  </th>
                )}
                {columns.map((column) => (
                  <Head key={column.name} column={column} />
                ))}
              </tr>
            </thead>
            <tbody>
              {records.map((record) => (
                <tr key={record.id}>
                  {selection && (
                    <td class="select" data-title={m('select')}>
                      {selectable.includes(record) && (
                        <input
                          type="checkbox"
                          aria-label={`${m('select')}: ${plain(selection.name(record))}`}
                          checked={selected.has(record.id)}
                          onChange={({ currentTarget: { checked } }) =>
                            setSelected((before) => {
                              const next = new Set(before);
                              if (checked) next.add(record.id);
                              else next.delete(record.id);
                              return next;
                            })
                          }
                        />
                      )}
                    </td>
                  )}
                  {columns.map(({ name, title, cell, isNumber, wraps }, n) => (
                    <td
                      key={name}
                      data-title={title}
                      class={isNumber ? 'number' : wraps ? 'wraps' : undefined}
                    >
                      {n === 0 && href ? <a href={href(record)}>{cell(record)}</a> : cell(record)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      {(chosen.has('cursor') || data?.next !== undefined) && <Paging next={data?.next} />}
    </>
  );
}

function Head<T>({ column: { name, title, orderable, isNumber } }: { readonly column: Column<T> }) {
  const ordering = query.value.get('ordering') ?? '';
  const isOrder = ordering.replace(/^-/, '') === name;
  const direction = !isOrder ? undefined : ordering.startsWith('-') ? 'descending' : 'ascending';
  return (
    <th scope="col" class={isNumber ? 'number' : undefined} aria-sort={direction}>
      {orderable ? (
        <a
          class="order"
          href={withQuery({ ordering: direction === 'ascending' ? `-${name}` : name, cursor: undefined })}
          aria-label={`${m('orderBy', { title })}${direction ? `, ${m(direction)}` : ''}`}
        >
          {title}
          <span class="direction" aria-hidden="true">
            {direction === 'ascending' ? ' ↑' : direction ? ' ↓' : ' ↕'}
          </span>
        </a>
      ) : (
        title
      )}
    </th>
  );
}

const NothingFound = () => <Empty title={m('nothingFound')} next={m('nothingFoundNext')} />;

/** Lists are read forwards; back is where one came from. */
const Paging = ({ next }: { readonly next: string | undefined }) => (
  <nav class="paging" aria-label={m('pages')}>
    {query.value.has('cursor') && (
      <>
        <a class="button" href={withQuery({ cursor: undefined })}>
          {words('firstPage')}
        </a>
        <button type="button" onClick={() => history.back()}>
          {words('previousPage')}
        </button>
      </>
    )}
    {next !== undefined && (
      <a class="button" href={withQuery({ cursor: next })}>
        {words('nextPage')}
      </a>
    )}
  </nav>
);
