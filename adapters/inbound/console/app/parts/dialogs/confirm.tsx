import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { messages } from '../../language.ts';
import { words } from '../../words.ts';
import { Problem } from '../display/answer.tsx';
import { plain, Text } from '../display/text.tsx';
import { Dialog } from './dialog.tsx';
import { tell } from './toast.tsx';

const m = messages(
  { typeName: 'To confirm, type {name}', notTheName: 'This is not the name.' },
  { typeName: 'Geben Sie zur Bestätigung {name} ein', notTheName: 'Das ist nicht der Name.' },
);

/** Asks before what cannot be undone, does it, and says so. With `name`, it has to be typed first. */
export function Confirm({
  title,
  about,
  lead,
  action,
  name,
  run,
  done,
  close,
}: {
  readonly title: string;
  /** What it is done to, where that is to be seen. */
  readonly about?: ComponentChildren;
  /** What comes of it. */
  readonly lead: string;
  /** On the button: the very deed, not "OK". */
  readonly action: string;
  readonly name?: string | undefined;
  readonly run: () => Promise<unknown>;
  /** What to say afterwards. */
  readonly done?: string;
  readonly close: () => void;
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
      if (done !== undefined) tell(done);
      close();
    } catch (thrown) {
      setError(thrown);
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} close={close}>
      <form onSubmit={confirm} noValidate>
        {about !== undefined && <p>{about}</p>}
        <p>{lead}</p>
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
