import type { ComponentChildren } from 'preact';
import { FormDialog } from './form-dialog.tsx';

/** Asks before something is done, does it, and says so. With `object` the dialog looks dangerous and names it. */
export const Confirm = ({
  title,
  object,
  isFinal = false,
  about,
  lead,
  action,
  run,
  done,
  close,
}: {
  readonly title: string;
  /** The name of what the danger is for. */
  readonly object?: string;
  /** It cannot be undone: the name has to be typed first. */
  readonly isFinal?: boolean;
  /** What else there is to see. */
  readonly about?: ComponentChildren;
  /** The consequences. */
  readonly lead: string;
  /** On the button: what is done, not "OK". */
  readonly action: string;
  readonly run: () => Promise<unknown>;
  /** What to say afterwards. */
  readonly done?: string;
  readonly close: () => void;
}) => (
  <FormDialog
    title={title}
    action={action}
    danger={object === undefined ? undefined : { object, isFinal: () => isFinal }}
    fields={[]}
    send={run}
    done={done}
    close={close}
  >
    {about !== undefined && <p>{about}</p>}
    <p>{lead}</p>
  </FormDialog>
);
