import type { ComponentType } from 'preact';
import { write } from '../../api.ts';
import { messages } from '../../language.ts';
import type { Named } from '../../records.ts';
import { Confirm } from '../dialogs/confirm.tsx';
import { type EditingPage, useEditing } from './editing.tsx';

const m = messages({ rotate: 'Replace secret' }, { rotate: 'Geheimnis ersetzen' });

/** As `useEditing`, of records with a secret, which the API tells when one is made and when its secret is made anew. */
export function useSecretEditing<T extends Named>({
  Secret,
  rotation,
  ...page
}: EditingPage<T> & {
  readonly Secret: ComponentType<{ readonly of: T; readonly close: () => void }>;
  /** What is said before a secret is made anew. */
  readonly rotation: { readonly title: string; readonly lead: string };
}) {
  const { again, open, ...editing } = useEditing(page);
  const { collection, Edit } = page;
  const show = (of: T): void => {
    again();
    open((close) => <Secret of={of} close={close} />);
  };
  return {
    ...editing,
    again,
    add: (): void => open((close) => <Edit saved={show} close={close} />),
    rotate: ({ id, unique_name: name }: T): void =>
      open((close) => (
        <Confirm
          {...rotation}
          object={name}
          isFinal
          action={m('rotate')}
          run={async () => show(await write<T>('POST', `${collection}${id}/rotate/`))}
          close={close}
        />
      )),
  };
}
