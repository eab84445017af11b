import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { words } from '../../words.ts';
import { Text } from '../display/text.tsx';
import { Form } from '../forms/form.tsx';
import type { Field, Values } from '../forms/input.tsx';
import { confirmation, type Danger } from './danger.tsx';
import { Dialog } from './dialog.tsx';

/** A record for which it was not possible, and why. */
export interface Failure {
  readonly id: number;
  readonly detail: string;
}

/** A dialog that does something to several records at once, then lists those for which it was not possible. */
export function SeveralDialog<T extends { readonly id: number }>({
  of,
  title,
  lead,
  row,
  name,
  href,
  action,
  danger,
  fields,
  send,
  failed,
  close,
}: {
  readonly of: readonly T[];
  readonly title: string;
  /** What it leads to. */
  readonly lead: string;
  /** How a record is listed. */
  readonly row: (record: T) => ComponentChildren;
  readonly name: (record: T) => string;
  readonly href: (record: T) => string;
  /** On the button. */
  readonly action: string;
  /** Its object is what has to be typed; the records are listed. */
  readonly danger?: Danger | undefined;
  readonly fields: readonly Field[];
  readonly send: (values: Values) => Promise<readonly Failure[]>;
  /** The title of the list of failures. */
  readonly failed: string;
  readonly close: () => void;
}) {
  const [failures, setFailures] = useState<readonly Failure[]>([]);
  if (failures.length > 0) {
    return (
      <Dialog title={failed} close={close}>
        <div class="stack">
          <ul class="plain-list">
            {of.flatMap((record) => {
              const failure = failures.find(({ id }) => id === record.id);
              return failure === undefined ? (
                []
              ) : (
                <li key={record.id}>
                  <a href={href(record)}>
                    <Text of={name(record)} />
                  </a>
                  <span class="quiet">
                    <Text of={failure.detail} />
                  </span>
                </li>
              );
            })}
          </ul>
          <button type="button" onClick={close}>
            {words('close')}
          </button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title={title} isDangerous={danger !== undefined} close={close}>
      <div class="stack">
        <p>{lead}</p>
        <ul class="plain-list chosen">
          {of.map((record) => (
            <li key={record.id}>{row(record)}</li>
          ))}
        </ul>
        <Form
          action={action}
          look={danger ? 'danger' : 'main'}
          cancel={close}
          fields={danger ? [...fields, confirmation(danger)] : fields}
          send={async (values) => {
            const found = await send(values);
            if (found.length === 0) close();
            else setFailures(found);
          }}
        />
      </div>
    </Dialog>
  );
}
