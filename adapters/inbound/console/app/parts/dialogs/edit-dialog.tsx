import type { ComponentChildren } from 'preact';
import { store } from '../../api.ts';
import { forget } from '../../data.ts';
import { words } from '../../words.ts';
import type { Field, Values } from '../forms/input.tsx';
import { FormDialog } from './form-dialog.tsx';

/** Of a dialog that changes a record, or makes one. */
export interface Editing<T> {
  readonly of?: T | undefined;
  readonly saved: (of: T) => void;
  readonly close: () => void;
}

/** Of one that only changes records. */
export type Changing<T> = Editing<T> & { readonly of: T };

/** Changes a record of a collection, or makes one. */
export const EditDialog = <T extends { readonly id: number }>({
  of,
  title,
  action = words(of ? 'save' : 'add'),
  collection,
  fields,
  body = (values) => values,
  saved,
  done = of && words('saved'),
  close,
  children,
}: Editing<T> & {
  readonly title: string;
  readonly action?: string;
  /** `/api/domains/` */
  readonly collection: string;
  readonly fields: readonly Field[];
  /** What to send, where it is not the values as they are. */
  readonly body?: (values: Values) => unknown;
  /** What to say afterwards; of a new record nothing, because it is shown. */
  readonly done?: string | undefined;
  readonly children?: ComponentChildren;
}) => (
  <FormDialog
    title={title}
    action={action}
    fields={fields}
    send={async (values) => {
      const now = await store<T>(collection, of, body(values));
      forget(collection);
      saved(now);
    }}
    done={done}
    close={close}
  >
    {children}
  </FormDialog>
);
