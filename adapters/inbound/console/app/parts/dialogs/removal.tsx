import { write } from '../../api.ts';
import { forget } from '../../data.ts';
import type { Named } from '../../records.ts';
import { words } from '../../words.ts';
import { plain } from '../display/text.tsx';
import { Confirm } from './confirm.tsx';
import { useDialog } from './dialog.tsx';

/** What is said of a record before it is deleted. */
export interface Removed {
  readonly title: string;
  /** What comes of it. */
  readonly lead: string;
  readonly name: string;
  /** Nothing is lost that could not be entered again: the name need not be typed. */
  readonly isRestorable?: boolean;
}

/** Deletes a record of a collection once its name has been typed, and says so. */
export const Removal = ({
  title,
  lead,
  name,
  isRestorable = false,
  collection,
  id,
  after,
  close,
}: Removed & {
  /** `/api/domains/` */
  readonly collection: string;
  readonly id: number;
  readonly after: () => void;
  readonly close: () => void;
}) => (
  <Confirm
    title={title}
    object={name}
    isFinal={!isRestorable}
    lead={lead}
    action={words('delete')}
    close={close}
    run={async () => {
      await write('DELETE', `${collection}${id}/`);
      forget(collection);
      after();
    }}
    done={words('deleted', { name: plain(name) })}
  />
);

/** The dialogs of a page about one record: `remove` opens the one that deletes it. */
export function useRemoval({
  of: { id, unique_name: name },
  ...removed
}: {
  readonly of: Named;
  readonly title: string;
  readonly lead: string;
  readonly collection: string;
  readonly after: () => void;
}) {
  const { dialog, open } = useDialog();
  const remove = (): void => open((close) => <Removal {...removed} id={id} name={name} close={close} />);
  return { dialog, open, remove };
}
