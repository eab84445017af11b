import { write } from '../../api.ts';
import { bytes, messages } from '../../language.ts';
import { Action } from '../../parts/dialogs/action.tsx';
import { tell } from '../../parts/dialogs/toast.tsx';
import { Empty } from '../../parts/display/answer.tsx';
import { Badge } from '../../parts/display/facts.tsx';
import { plain, Text } from '../../parts/display/text.tsx';
import { When } from '../../parts/display/when.tsx';
import { useEditing } from '../../parts/forms/editing.tsx';
import { actionsColumn, codeColumn, RowButtons, textColumn } from '../../parts/lists/columns.tsx';
import { ListPage } from '../../parts/lists/list-page.tsx';
import type { Page } from '../../router.ts';
import { may } from '../../session.ts';
import { words } from '../../words.ts';

import { type Backup, backupsPath, EditBackup, m as f } from './backup-form.tsx';

const m = messages(
  {
    by: 'Added by',
    done: '{file} has been written, {size}.',
    failed: 'failed',
    last: 'Last backup',
    lead: 'A backup is one encrypted file: the database at one moment, the keys and the configuration. Restore it with the command postern restore.',
    never: 'None yet',
    none: 'No destinations yet',
    noneNext: 'Add a directory, preferably on another machine, and run the first backup.',
    removeLead: 'Existing backup files are kept.',
    removeTitle: 'Delete this destination?',
    result: 'Result',
    run: 'Back up now',
    success: 'done',
    title: 'Backups',
    to: 'Destination',
  },
  {
    by: 'Hinzugefügt von',
    done: '„{file}“ wurde geschrieben, {size}.',
    failed: 'fehlgeschlagen',
    last: 'Letzte Sicherung',
    lead: 'Eine Sicherung ist eine verschlüsselte Datei: die Datenbank zu einem Zeitpunkt, die Schlüssel und die Konfiguration. Der Befehl postern restore stellt sie wieder her.',
    never: 'Noch keine',
    none: 'Noch keine Ziele',
    noneNext:
      'Fügen Sie ein Verzeichnis hinzu, am besten auf einem anderen Rechner, und starten Sie die erste Sicherung.',
    removeLead: 'Vorhandene Sicherungsdateien bleiben erhalten.',
    removeTitle: 'Dieses Ziel löschen?',
    result: 'Ergebnis',
    run: 'Jetzt sichern',
    success: 'erfolgreich',
    title: 'Sicherungen',
    to: 'Ziel',
  },
);

interface Run {
  readonly file: string;
  readonly size: number;
}

const patience = 600_000;

export const backups: Page = {
  path: '/backups',
  title: () => m('title'),
  needs: 'backups.read',
  navigation: { group: 'system', order: 30 },
  view: () => {
    const { round, again, dialog, edit, remove } = useEditing<Backup>({
      collection: backupsPath,
      Edit: EditBackup,
      removal: ({ remote_directory: name }) => ({
        title: m('removeTitle'),
        lead: m('removeLead'),
        name,
        isRestorable: true,
      }),
    });
    const writes = may('backups.write');
    const run = async ({ id }: Backup): Promise<void> => {
      try {
        const { file, size } = await write<Run>('POST', `${backupsPath}${id}/run/`, undefined, {
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
          path={backupsPath}
          title={m('title')}
          lead={m('lead')}
          actions={
            writes && (
              <button type="button" class="main" onClick={() => edit()}>
                {f('add')}
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
