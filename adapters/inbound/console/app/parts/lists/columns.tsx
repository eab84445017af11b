import type { ComponentChildren } from 'preact';
import { number } from '../../language.ts';
import { words } from '../../words.ts';
import { Badge, type Look } from '../display/facts.tsx';
import { Absent, Code, plain, Text } from '../display/text.tsx';
import { When } from '../display/when.tsx';
import type { Column } from './list.tsx';

/** A record that has this member. */
type With<N extends string, V> = Readonly<Record<N, V>>;

/** The columns below show a member of the record as it is, and the API orders its list by it. */
const column = <N extends string, V>(
  name: N,
  title: string,
  show: (value: V) => ComponentChildren,
): Column<With<N, V>> => ({ name, title, orderable: true, cell: ({ [name]: value }) => show(value) });

export const textColumn = <N extends string>(name: N, title: string) =>
  column(name, title, (value: string) => <Text of={value} />);

/** Text of machines. */
export const codeColumn = <N extends string>(name: N, title: string) =>
  column(name, title, (value: string) => <Code of={value} />);

/** A word that stands on one line: `approval.granted`. */
export const termColumn = <N extends string>(name: N, title: string) =>
  column(name, title, (value: string) => <code class="whole">{plain(value)}</code>);

export const momentColumn = <N extends string>(name: N, title: string) =>
  column(name, title, (value: string | null) => (value === null ? <Absent /> : <When at={value} />));

export const numberColumn = <N extends string>(name: N, title: string) => ({
  ...column(name, title, (value: number) => number(value)),
  isNumber: true,
});

/** One of a few states. `say`: what it is called. */
export const badgeColumn = <N extends string, S extends string>(
  name: N,
  title: string,
  looks: Readonly<Record<S, Look>>,
  say: (state: NoInfer<S>) => string,
) => column(name, title, (state: S) => <Badge look={looks[state]}>{say(state)}</Badge>);

export const nameColumn = () => textColumn('unique_name', words('name'));
export const createdColumn = () => momentColumn('created_at', words('created'));

/** What can be done with a record. */
export const actionsColumn = <T,>(cell: (record: T) => ComponentChildren): Column<T> => ({
  name: 'actions',
  title: words('actions'),
  cell,
});

/** The buttons of a record. `name`: of the record, for those who do not see its row. */
export const RowButtons = ({
  name,
  buttons,
}: {
  readonly name: string;
  readonly buttons: readonly (readonly [title: string, press: () => void])[];
}) => (
  <span class="buttons">
    {buttons.map(([title, press]) => (
      <button type="button" class="plain" key={title} aria-label={`${title}: ${plain(name)}`} onClick={press}>
        {title}
      </button>
    ))}
  </span>
);
