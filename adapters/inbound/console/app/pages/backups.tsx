import { write } from '../api.ts';
import { bytes, messages } from '../language.ts';
import { Action } from '../parts/action.tsx';
import { Empty } from '../parts/answer.tsx';
import { actionsColumn, codeColumn, RowButtons, textColumn } from '../parts/columns.tsx';
import { EditDialog, type Editing } from '../parts/edit-dialog.tsx';
import { useEditing } from '../parts/editing.tsx';
import { Badge } from '../parts/facts.tsx';
import type { Values } from '../parts/input.tsx';
import { ListPage } from '../parts/list-page.tsx';
import { Code, plain, Text } from '../parts/text.tsx';
import { tell } from '../parts/toast.tsx';
import { When } from '../parts/when.tsx';
import type { Page } from '../router.ts';
import { may } from '../session.ts';
import { words } from '../words.ts';

const m = messages(
  {
    add: 'Add a destination',
    by: 'Added by',
    change: 'Change the destination',
    directory: 'Directory',
    directoryHint: 'An absolute path: /srv/postern',
    done: '{file} has been written, {size}.',
    failed: 'failed',
    host: 'Host',
    kind: 'Where',
    last: 'Last backup',
    lead: 'A backup is one encrypted file with everything: the store as it stands at one moment, keys and configuration. It is restored with the command postern restore.',
    local: 'On the machine of the service',
    never: 'None yet',
    none: 'There are no destinations yet',
    noneNext: 'Add a directory, best one on another machine, and make the first backup.',
    port: 'Port',
    portHint: 'Left empty: 22.',
    removeLead: 'Files that lie there stay there.',
    removeTitle: 'Delete this destination?',
    result: 'Result',
    run: 'Back up now',
    sftp: 'On another machine, over SFTP',
    success: 'done',
    title: 'Backups',
    to: 'Destination',
    user: 'User there',
    userHint: 'Signs in with the SSH key of the service; there is no password.',
  },
  {
    add: 'Ziel hinzufügen',
    by: 'Hinzugefügt von',
    change: 'Ziel ändern',
    directory: 'Verzeichnis',
    directoryHint: 'Ein absoluter Pfad: /srv/postern',
    done: '{file} ist geschrieben, {size}.',
    failed: 'gescheitert',
    host: 'Rechner',
    kind: 'Wo',
    last: 'Letzte Sicherung',
    lead: 'Eine Sicherung ist eine verschlüsselte Datei mit allem: die Daten, wie sie in einem Augenblick sind, Schlüssel und Konfiguration. Zurückgespielt wird sie mit dem Befehl postern restore.',
    local: 'Auf dem Rechner des Dienstes',
    never: 'Noch keine',
    none: 'Es gibt noch keine Ziele',
    noneNext:
      'Fügen Sie ein Verzeichnis hinzu, am besten auf einem anderen Rechner, und machen Sie die erste Sicherung.',
    port: 'Port',
    portHint: 'Bleibt das leer: 22.',
    removeLead: 'Dateien, die dort liegen, bleiben dort.',
    removeTitle: 'Dieses Ziel löschen?',
    result: 'Ergebnis',
    run: 'Jetzt sichern',
    sftp: 'Auf einem anderen Rechner, über SFTP',
    success: 'gelungen',
    title: 'Sicherungen',
    to: 'Ziel',
    user: 'Benutzer dort',
    userHint: 'Meldet sich mit dem SSH-Schlüssel des Dienstes an; es gibt kein Kennwort.',
  },
);

interface Backup {
  readonly id: number;
  /** An absolute path, or `sftp://user@host[:port]/path`. */
  readonly remote_directory: string;
  readonly user: string;
  readonly created_at: string;
  readonly last_run_at: string | null;
  /** `success: <file>`, `failed: <why>`. */
  readonly last_result: string | null;
}

interface Run {
  readonly file: string;
  readonly size: number;
}

const path = '/api/backups/';
const patience = 600_000;

export const backups: Page = {
  path: '/backups',
  title: () => m('title'),
  needs: 'backups.read',
  navigation: { group: 'system', order: 30 },
  view: () => {
    const { round, again, dialog, edit, remove } = useEditing<Backup>({
      collection: path,
      Edit,
      removal: ({ remote_directory: name }) => ({
        title: m('removeTitle'),
        lead: m('removeLead'),
        name,
        shown: <Code of={name} />,
      }),
    });
    const writes = may('backups.write');
    const run = async ({ id }: Backup): Promise<void> => {
      try {
        const { file, size } = await write<Run>('POST', `${path}${id}/run/`, undefined, {
          timeLimit: patience,
        });
        tell(m('done', { file: plain(file), size: bytes(size) }));
      } finally {
        again();
      }
    };
    return (
      <>
        <ListPage<Backup>
          path={path}
          title={m('title')}
          lead={m('lead')}
          actions={
            writes && (
              <button type="button" class="main" onClick={() => edit()}>
                {m('add')}
              </button>
            )
          }
          round={round}
          columns={[
            codeColumn('remote_directory', m('to')),
            {
              name: 'last_run_at',
              title: m('last'),
              orderable: true,
              cell: ({ last_run_at }) =>
                last_run_at === null ? (
                  <span class="quiet">{m('never')}</span>
                ) : (
                  <When at={last_run_at} relative />
                ),
            },
            {
              name: 'last_result',
              title: m('result'),
              cell: ({ last_result }) => last_result !== null && <Result of={last_result} />,
            },
            textColumn('user', m('by')),
            writes &&
              actionsColumn((of) => (
                <span class="buttons">
                  <Action
                    look="plain"
                    label={`${m('run')}: ${plain(of.remote_directory)}`}
                    run={() => run(of)}
                  >
                    {m('run')}
                  </Action>
                  <RowButtons
                    name={of.remote_directory}
                    buttons={[
                      [words('edit'), () => edit(of)],
                      [words('delete'), () => remove(of)],
                    ]}
                  />
                </span>
              )),
          ]}
          empty={<Empty title={m('none')} next={m('noneNext')} />}
        />
        {dialog}
      </>
    );
  },
};

function Result({ of }: { readonly of: string }) {
  const [, word, told = ''] = /^(success|failed): (.*)$/s.exec(of) ?? [];
  if (word !== 'success' && word !== 'failed') return <Text of={of} />;
  return (
    <span>
      <Badge look={word === 'success' ? 'good' : 'bad'}>{m(word)}</Badge> <Text of={told} />
    </span>
  );
}

const isSftp = ({ kind }: Values): boolean => kind === 'sftp';

/** `sftp://user@host[:port]/path`, or a path of this machine. */
function placeIn({ kind, user, host, port, remote_directory }: Values): string {
  const directory = String(remote_directory);
  if (kind !== 'sftp') return directory;
  const place = port === undefined ? host : `${host}:${port}`;
  return `sftp://${user}@${place}${directory.startsWith('/') ? '' : '/'}${directory}`;
}

function Edit(editing: Editing<Backup>) {
  const { of } = editing;
  const [, user = '', host = '', port = '', there] =
    /^sftp:\/\/([^@/]*)@([^/]*?)(?::(\d+))?(\/.*)$/.exec(of?.remote_directory ?? '') ?? [];
  const isLocal = of?.remote_directory.startsWith('/') ?? false;
  return (
    <EditDialog
      {...editing}
      title={m(of ? 'change' : 'add')}
      collection={path}
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
