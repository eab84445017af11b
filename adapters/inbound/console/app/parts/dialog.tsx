import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { messages } from '../language.ts';
import { words } from '../words.ts';
import { Problem } from './answer.tsx';
import { plain, Text } from './text.tsx';

const m = messages(
  { typeName: 'To confirm, type {name}', notTheName: 'This is not the name.' },
  { typeName: 'Geben Sie zur Bestätigung {name} ein', notTheName: 'Das ist nicht der Name.' },
);

/** A modal dialog; the browser keeps the focus inside and gives it back. Drawn for as long as it is open. */
export function Dialog({
  title,
  close,
  children,
}: {
  readonly title: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // Before anything is drawn or typed: until it is shown it takes no focus.
  useLayoutEffect(() => {
    const { current } = dialog;
    const opener = document.activeElement;
    current?.showModal();
    return () => {
      current?.close();
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
    >
      <h2 id={heading}>{title}</h2>
      {children}
    </dialog>
  );
}

/** Asks before what cannot be undone. With `name`, it has to be typed first. */
export function Confirm({
  title,
  action,
  name,
  run,
  close,
  children,
}: {
  readonly title: string;
  /** On the button: the very deed, not "OK". */
  readonly action: string;
  readonly name?: string;
  readonly run: () => Promise<unknown>;
  readonly close: () => void;
  readonly children?: ComponentChildren;
}) {
  const [typed, setTyped] = useState('');
  const [complaint, setComplaint] = useState('');
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const field = useId();
  const wanted = name === undefined ? undefined : plain(name);
  const confirm = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (busy) return;
    if (wanted !== undefined && typed.trim() !== wanted.trim()) {
      setComplaint(m('notTheName'));
      document.getElementById(field)?.focus();
      return;
    }
    setBusy(true);
    setError(undefined);
    try {
      await run();
      close();
    } catch (thrown) {
      setError(thrown);
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} close={close}>
      <form onSubmit={confirm} noValidate>
        {children}
        {wanted !== undefined && (
          <div class="field">
            <label for={field}>
              <Text of={m('typeName', { name: wanted })} />
            </label>
            <input
              id={field}
              value={typed}
              onInput={(event) => {
                setTyped(event.currentTarget.value);
                setComplaint('');
              }}
              autocomplete="off"
              spellcheck={false}
              aria-invalid={complaint !== ''}
              aria-describedby={`${field}-e`}
            />
            <p class="complaint" id={`${field}-e`}>
              {complaint}
            </p>
          </div>
        )}
        {error !== undefined && <Problem error={error} />}
        <div class="buttons">
          <button type="submit" class="danger" aria-disabled={busy}>
            {action}
          </button>
          <button type="button" onClick={close}>
            {words('cancel')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
