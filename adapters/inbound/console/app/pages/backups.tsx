import { write } from '../api.ts';
import { bytes, messages } from '../language.ts';
import { Action } from '../parts/action.tsx';
import { Empty } from '../parts/answer.tsx';
import { Confirm, Dialog } from '../parts/dialog.tsx';
import { RowButtons, useEditing } from '../parts/editing.tsx';
import { Badge, Heading } from '../parts/facts.tsx';
import { Form, type Values } from '../parts/form.tsx';
import { List } from '../parts/list.tsx';
import { Code, plain, Text } from '../parts/text.tsx';
import { tell } from '../parts/toast.tsx';
import { When } from '../parts/when.tsx';
import type { Page } from '../router.ts';
import { may } from '../session.ts';
import { words } from '../words.ts';

const m = messages(
  {
    actions: 'Actions',
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
    actions: 'Aktionen',
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
    const editing = useEditing<'add' | { readonly change: Backup } | { readonly remove: Backup }>();
    const { now, open, close, done, again } = editing;
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
        <Heading
          title={m('title')}
          actions={
            writes && (
              <button type="button" class="main" onClick={() => open('add')}>
                {m('add')}
              </button>
            )
          }
        />
        <p class="lead">{m('lead')}</p>
        <List<Backup>
          path={path}
          title={m('title')}
          round={editing.round}
          columns={[
            {
              name: 'remote_directory',
              title: m('to'),
              orderable: true,
              cell: ({ remote_directory }) => <Code of={remote_directory} />,
            },
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
            { name: 'user', title: m('by'), orderable: true, cell: ({ user }) => <Text of={user} /> },
            ...(writes
              ? [
                  {
                    name: 'actions',
                    title: m('actions'),
                    cell: (backup: Backup) => (
                      <span class="buttons">
                        <Action
                          look="plain"
                          label={`${m('run')}: ${plain(backup.remote_directory)}`}
                          run={() => run(backup)}
                        >
                          {m('run')}
                        </Action>
                        <RowButtons
                          name={backup.remote_directory}
                          buttons={[
                            [words('edit'), () => open({ change: backup })],
                            [words('delete'), () => open({ remove: backup })],
                          ]}
                        />
                      </span>
                    ),
                  },
                ]
              : []),
          ]}
          empty={
            <Empty title={m('none')}>
              <p>{m('noneNext')}</p>
            </Empty>
          }
        />
        {now === 'add' && <Edit close={close} done={done} />}
        {typeof now === 'object' && 'change' in now && <Edit of={now.change} close={close} done={done} />}
        {typeof now === 'object' && 'remove' in now && (
          <Confirm
            title={m('removeTitle')}
            action={words('delete')}
            close={close}
            run={async () => {
              await write('DELETE', `${path}${now.remove.id}/`);
              tell(words('deleted', { name: plain(now.remove.remote_directory) }));
              done();
            }}
          >
            <p>
              <Code of={now.remove.remote_directory} />
            </p>
            <p>{m('removeLead')}</p>
          </Confirm>
        )}
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

function Edit({
  of,
  close,
  done,
}: {
  readonly of?: Backup;
  readonly close: () => void;
  readonly done: () => void;
}) {
  const [, user = '', host = '', port = '', there] =
    /^sftp:\/\/([^@/]*)@([^/]*?)(?::(\d+))?(\/.*)$/.exec(of?.remote_directory ?? '') ?? [];
  const isLocal = of?.remote_directory.startsWith('/') ?? false;
  return (
    <Dialog title={m(of ? 'change' : 'add')} close={close}>
      <Form
        action={words(of ? 'save' : 'add')}
        cancel={close}
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
        send={async (values) => {
          const directory = String(values.remote_directory);
          const place = values.port === undefined ? values.host : `${values.host}:${values.port}`;
          const body = {
            remote_directory: isSftp(values)
              ? `sftp://${values.user}@${place}${directory.startsWith('/') ? '' : '/'}${directory}`
              : directory,
          };
          if (of) await write('PATCH', `${path}${of.id}/`, body);
          else await write('POST', path, body);
          tell(words('saved'));
          done();
        }}
      />
    </Dialog>
  );
}
