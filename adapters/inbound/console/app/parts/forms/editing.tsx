import type { ComponentType } from 'preact';
import { useDialog } from '../dialogs/dialog.tsx';
import type { Editing } from '../dialogs/edit-dialog.tsx';
import { Removal, type Removed } from '../dialogs/removal.tsx';
import { useRound } from '../lists/list.tsx';

export interface EditingPage<T> {
  /** `/api/users/` */
  readonly collection: string;
  readonly Edit: ComponentType<Editing<T>>;
  readonly removal: (of: T) => Removed;
}

/** What the page of a list does with its records: each deed in a dialog, after which the list is asked for again. */
export function useEditing<T extends { readonly id: number }>({ collection, Edit, removal }: EditingPage<T>) {
  const { round, again } = useRound();
  const { dialog, open } = useDialog();
  return {
    /** For the list. */
    round,
    again,
    /** To be drawn. */
    dialog,
    open,
    /** Without a record: makes one. */
    edit: (of?: T): void => open((close) => <Edit of={of} saved={again} close={close} />),
    remove: (of: T): void =>
      open((close) => (
        <Removal {...removal(of)} collection={collection} id={of.id} after={again} close={close} />
      )),
  };
}
