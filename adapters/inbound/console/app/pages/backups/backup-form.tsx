import { messages } from '../../language.ts';
import { EditDialog, type Editing } from '../../parts/dialogs/edit-dialog.tsx';
import type { Values } from '../../parts/forms/input.tsx';
import { words } from '../../words.ts';

export const m = messages(
  {
    add: 'Add destination',
    change: 'Edit destination',
    directory: 'Directory',
    directoryHint: 'An absolute path: /srv/postern',
    host: 'Host',
    kind: 'Where',
    local: 'On this machine',
    port: 'Port',
    portHint: 'Default: 22',
    sftp: 'On another machine, over SFTP',
    user: 'User name',
    userHint: 'Postern signs in with its SSH key, not with a password.',
  },
  {
    add: 'Ziel hinzufügen',
    change: 'Ziel bearbeiten',
    directory: 'Verzeichnis',
    directoryHint: 'Ein absoluter Pfad: /srv/postern',
    host: 'Rechner',
    kind: 'Wo',
    local: 'Auf diesem Rechner',
    port: 'Port',
    portHint: 'Vorgabe: 22',
    sftp: 'Auf einem anderen Rechner, über SFTP',
    user: 'Benutzername',
    userHint: 'Postern meldet sich mit seinem SSH-Schlüssel an, nicht mit einem Kennwort.',
  },
);

export interface Backup {
  readonly id: number;
  /** An absolute path, or `sftp://user@host[:port]/path`. */
  readonly remote_directory: string;
  readonly user: string;
  readonly created_at: string;
  readonly last_run_at: string | null;
  /** `success: <file>`, `failed: <why>`. */
  readonly last_result: string | null;
}

export const backupsPath = '/api/backups/';

const isSftp = ({ kind }: Values): boolean => kind === 'sftp';

/** `sftp://user@host[:port]/path`, or a path of this machine. */
function placeIn({ kind, user, host, port, remote_directory }: Values): string {
  const directory = String(remote_directory);
  if (kind !== 'sftp') return directory;
  const place = port === undefined ? host : `${host}:${port}`;
  return `sftp://${user}@${place}${directory.startsWith('/') ? '' : '/'}${directory}`;
}

/** Changes a destination of backups, or adds one. */
export function EditBackup(editing: Editing<Backup>) {
  const { of } = editing;
  const [, user = '', host = '', port = '', there] =
    /^sftp:\/\/([^@/]*)@([^/]*?)(?::(\d+))?(\/.*)$/.exec(of?.remote_directory ?? '') ?? [];
  const isLocal = of?.remote_directory.startsWith('/') ?? false;
  return (
    <EditDialog
      {...editing}
      title={m(of ? 'change' : 'add')}
      collection={backupsPath}
      body={(values) => ({ remote_directory: placeIn(values) })}
      fields={[
        {
          name: 'kind',
          title: m('kind'),
          type: 'choice',
          required: true,
          initial: isLocal ? 'local' : 'sftp',
          options: [
            ['sftp', m('sftp')],
            ['local', m('local')],
          ],
        },
        { name: 'host', title: m('host'), required: true, initial: host, isCode: true, when: isSftp },
        {
          name: 'port',
          title: m('port'),
          type: 'number',
          initial: port,
          hint: m('portHint'),
          when: isSftp,
        },
        {
          name: 'user',
          title: m('user'),
          required: true,
          initial: user,
          hint: m('userHint'),
          when: isSftp,
        },
        {
          name: 'remote_directory',
          title: m('directory'),
          required: true,
          hint: m('directoryHint'),
          isCode: true,
          maxLength: 512,
          initial: there ?? of?.remote_directory,
        },
      ]}
      done={words('saved')}
    />
  );
}
