import { type ComponentChildren, Fragment } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Draws a dialog. `close` closes this one, and never what has been opened after it. */
type Draw = (close: () => void) => ComponentChildren;

let opened = 0;

/** The dialogs of a page, of which one is open at a time: `dialog` is drawn, `open` says what. */
export function useDialog() {
  const [shown, setShown] = useState<{ readonly draw: Draw; readonly key: number }>();
  return {
    dialog: shown && (
      <Fragment key={shown.key}>
        {shown.draw(() => setShown((now) => (now === shown ? undefined : now)))}
      </Fragment>
    ),
    open: (draw: Draw): void => setShown({ draw, key: ++opened }),
  };
}

/** A modal dialog; the browser keeps the focus inside and gives it back. Drawn for as long as it is open. */
export function Dialog({
  title,
  isDangerous = false,
  close,
  children,
}: {
  readonly title: string;
  readonly isDangerous?: boolean;
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
      class={isDangerous ? 'dangerous' : undefined}
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
