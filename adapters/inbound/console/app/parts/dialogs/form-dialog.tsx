import type { ComponentChildren } from 'preact';
import { Form } from '../forms/form.tsx';
import type { Field, Values } from '../forms/input.tsx';
import { confirmation, type Danger, DangerousObject } from './danger.tsx';
import { Dialog } from './dialog.tsx';
import { tell } from './toast.tsx';

/** A dialog with a form. Once the form is sent it says so, and closes; until then it stays, with what is wrong. */
export const FormDialog = ({
  title,
  action,
  danger,
  fields,
  send,
  done,
  close,
  children,
}: {
  readonly title: string;
  /** On the button. */
  readonly action: string;
  /** It looks dangerous, names what it is done to, and has the name typed where it cannot be undone. */
  readonly danger?: Danger | undefined;
  readonly fields: readonly Field[];
  readonly send: (values: Values) => Promise<unknown>;
  /** What to say afterwards. */
  readonly done?: string | undefined;
  readonly close: () => void;
  /** Above the form. */
  readonly children?: ComponentChildren;
}) => (
  <Dialog title={title} isDangerous={danger !== undefined} close={close}>
    <div class="stack">
      <DangerousObject of={danger} />
      {children}
    </div>
    <Form
      action={action}
      look={danger ? 'danger' : 'main'}
      cancel={close}
      fields={danger ? [...fields, confirmation(danger)] : fields}
      send={async (values) => {
        await send(values);
        if (done !== undefined) tell(done);
        close();
      }}
    />
  </Dialog>
);
