import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { words } from '../../words.ts';
import { explain } from '../display/answer.tsx';
import { tell } from './toast.tsx';

/** A button that does something and says so; it cannot be pressed twice at once, and failures are told. */
export function Action({
  run,
  done,
  children,
  look = '',
  label,
}: {
  readonly run: () => Promise<unknown>;
  /** What to say afterwards. */
  readonly done?: string;
  readonly children: ComponentChildren;
  readonly look?: '' | 'main' | 'danger' | 'link' | 'plain';
  /** Where the children do not say it all. */
  readonly label?: string;
}) {
  const [busy, setBusy] = useState(false);
  const press = async (): Promise<void> => {
    setBusy(true);
    try {
      await run();
      if (done !== undefined) tell(done);
    } catch (error) {
      const { what, said } = explain(error);
      tell(said === '' ? what : `${what}: ${said}`);
    } finally {
      setBusy(false);
    }
  };
  return (
    <button
      type="button"
      class={look}
      aria-disabled={busy}
      aria-label={label}
      onClick={() => !busy && press()}
    >
      {children}
    </button>
  );
}

/** Puts a value where it can be pasted from. */
export const Copy = ({ text, label }: { readonly text: string; readonly label?: string }) => (
  <Action
    run={() => navigator.clipboard.writeText(text)}
    done={words('copied')}
    look="plain"
    label={label === undefined ? words('copy') : `${words('copy')}: ${label}`}
  >
    {words('copy')}
  </Action>
);
