import type { ComponentChildren } from 'preact';
import { Form } from '../forms/form.tsx';
import type { Field, Values } from '../forms/input.tsx';
import { Dialog } from './dialog.tsx';
import { tell } from './toast.tsx';

/** A dialog with a form. Once the form is sent it says so, and closes; until then it stays, with what is wrong. */
export const FormDialog = ({
  title,
  action,
  fields,
  send,
  done,
  close,
  children,
}: {
  readonly title: string;
  /** On the button. */
  readonly action: string;
  readonly fields: readonly Field[];
  readonly send: (values: Values) => Promise<unknown>;
  /** What to say afterwards. */
  readonly done?: string | undefined;
  readonly close: () => void;
  /** Above the form. */
  readonly children?: ComponentChildren;
}) => (
  <Dialog title={title} close={close}>
    {children}
    <Form
      action={action}
      cancel={close}
      fields={fields}
      send={async (values) => {
        await send(values);
        if (done !== undefined) tell(done);
        close();
      }}
    />
  </Dialog>
);
