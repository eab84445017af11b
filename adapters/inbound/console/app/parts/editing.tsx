import { useState } from 'preact/hooks';
import { plain } from './text.tsx';

/** What a page of a list does with its records in dialogs: one at a time, and the list is asked for again when it is done. */
export function useEditing<T>() {
  const [now, setNow] = useState<T>();
  const [round, setRound] = useState(0);
  return {
    /** The dialog that is open. */
    now,
    /** For `List`. */
    round,
    open: setNow,
    close: (): void => setNow(undefined),
    done: (): void => {
      setNow(undefined);
      setRound((n) => n + 1);
    },
    /** The list is asked for again, whatever is open. */
    again: (): void => setRound((n) => n + 1),
  };
}

/** What can be done with the record of a row. `name`: of the record, for those who do not see the row. */
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
