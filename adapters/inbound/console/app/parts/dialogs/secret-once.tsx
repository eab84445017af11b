import type { ComponentChildren } from 'preact';
import { messages } from '../../language.ts';
import { type Fact, Facts } from '../display/facts.tsx';
import { Code } from '../display/text.tsx';
import { Copy } from './action.tsx';
import { Dialog } from './dialog.tsx';

const m = messages(
  {
    kept: 'I have stored the secret safely',
    lead: 'Postern shows this secret only once. Copy it to where you need it before you continue.',
    title: 'The secret',
  },
  {
    kept: 'Ich habe das Geheimnis sicher gespeichert',
    lead: 'Postern zeigt dieses Geheimnis nur einmal. Kopieren Sie es dorthin, wo Sie es brauchen, bevor Sie fortfahren.',
    title: 'Das Geheimnis',
  },
);

/** A value, and a button that copies it. */
export const Copied = ({ name, of }: { readonly name: string; readonly of: string }) => (
  <span class="secret">
    <Code of={of} /> <Copy text={of} label={name} />
  </span>
);

/** A secret that the API has told for the only time. Escape does not close it: what is gone here is gone for good. */
export const SecretOnce = ({
  rows,
  close,
  children,
}: {
  readonly rows: readonly Fact[];
  readonly close: () => void;
  readonly children?: ComponentChildren;
}) => (
  <Dialog title={m('title')} close={() => {}}>
    <div class="stack">
      <p class="notice warn">{m('lead')}</p>
      <Facts rows={rows} />
      {children}
      <button type="button" class="main" onClick={close}>
        {m('kept')}
      </button>
    </div>
  </Dialog>
);
