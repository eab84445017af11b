import { write } from '../api.ts';
import { forget } from '../data.ts';
import { words } from '../words.ts';
import { Confirm } from './dialog.tsx';
import { plain } from './text.tsx';
import { tell } from './toast.tsx';

/** Deletes a record once its name has been typed, and says so. `path`: of the record; `forgets`: what was kept of its list. */
export const Removal = ({
  title,
  lead,
  path,
  name,
  forgets,
  close,
  done,
}: {
  readonly title: string;
  readonly lead: string;
  readonly path: string;
  readonly name: string;
  readonly forgets?: string;
  readonly close: () => void;
  readonly done: () => void;
}) => (
  <Confirm
    title={title}
    action={words('delete')}
    name={name}
    close={close}
    run={async () => {
      await write('DELETE', path);
      if (forgets !== undefined) forget(forgets);
      tell(words('deleted', { name: plain(name) }));
      done();
    }}
  >
    <p>{lead}</p>
  </Confirm>
);
