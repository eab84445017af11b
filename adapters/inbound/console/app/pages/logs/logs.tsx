import { read, write } from '../../api.ts';
import { useRead } from '../../data.ts';
import { bytes, messages } from '../../language.ts';
import { Action } from '../../parts/dialogs/action.tsx';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { useDialog } from '../../parts/dialogs/dialog.tsx';
import { Answer, Empty } from '../../parts/display/answer.tsx';
import { save } from '../../parts/display/download.tsx';
import { Heading } from '../../parts/display/facts.tsx';
import { plain, Text } from '../../parts/display/text.tsx';
import { When } from '../../parts/display/when.tsx';
import type { Page } from '../../router.ts';
import { may } from '../../session.ts';
import { words } from '../../words.ts';

export const m = messages(
  {
    end: 'Show the end',
    lead: 'Postern writes to the newest file. The settings say how long log files are kept.',
    modified: 'Last written',
    none: 'No log files',
    noneNext: 'This service writes its log elsewhere: to its standard error, or to a collector.',
    removeLead: 'The file and its log lines are deleted.',
    removeTitle: 'Delete this log file?',
    size: 'Size',
    title: 'Logs',
  },
  {
    end: 'Das Ende zeigen',
    lead: 'Postern schreibt in die neueste Datei. Die Aufbewahrungsdauer steht in den Einstellungen.',
    modified: 'Zuletzt geschrieben',
    none: 'Keine Protokolldateien',
    noneNext: 'Dieser Dienst protokolliert anderswo: auf seine Standardfehlerausgabe oder an einen Sammler.',
    removeLead: 'Die Datei und ihr Inhalt werden gelöscht.',
    removeTitle: 'Diese Protokolldatei löschen?',
    size: 'Größe',
    title: 'Protokolle',
  },
);

interface LogFile {
  readonly name: string;
  /** Octets. */
  readonly size: number;
  readonly modified: string;
}

interface LogText extends LogFile {
  readonly content: string;
}

/** Files of some megabytes, over slow lines. */
const patience = 120_000;

export const readLog = (name: string, abort?: AbortSignal): Promise<LogText> =>
  read<LogText>(`/api/logging/download/${encodeURIComponent(name)}/`, abort, patience);

export async function saveLog(name: string): Promise<void> {
  const { content } = await readLog(name);
  save(new Blob([content], { type: 'text/plain' }), name);
}

export const logs: Page = {
  path: '/logs',
  title: () => m('title'),
  needs: 'logs.read',
  navigation: { group: 'system', order: 20 },
  view: () => {
    const asked = useRead<readonly LogFile[]>('/api/logging/list_files/');
    const { dialog, open } = useDialog();
    const remove = ({ name }: LogFile): void =>
      open((close) => (
        <Confirm
          title={m('removeTitle')}
          object={name}
          isFinal
          lead={m('removeLead')}
          action={words('delete')}
          run={() => write('DELETE', `/api/logging/delete/${encodeURIComponent(name)}/`).then(asked.reload)}
          done={words('deleted', { name: plain(name) })}
          close={close}
        />
      ));
    return (
      <>
        <Heading title={m('title')} />
        <p class="lead">{m('lead')}</p>
        <Answer of={asked}>
          {(files) =>
            files.length === 0 ? (
              <Empty title={m('none')} next={m('noneNext')} />
            ) : (
              <table class="list">
                <thead>
                  <tr>
                    <th scope="col">{words('name')}</th>
                    <th scope="col" class="number">
                      {m('size')}
                    </th>
                    <th scope="col">{m('modified')}</th>
                    <th scope="col">{words('actions')}</th>
                  </tr>
                </thead>
                <tbody>
                  {files.toReversed().map((file) => (
                    <Row key={file.name} of={file} remove={() => remove(file)} />
                  ))}
                </tbody>
              </table>
            )
          }
        </Answer>
        {dialog}
      </>
    );
  },
};

const Row = ({
  of: { name, size, modified },
  remove,
}: {
  readonly of: LogFile;
  readonly remove: () => void;
}) => (
  <tr>
    <td data-title={words('name')}>
      <a href={`/logs/${encodeURIComponent(name)}`}>
        <Text of={name} />
      </a>
    </td>
    <td data-title={m('size')} class="number">
      {bytes(size)}
    </td>
    <td data-title={m('modified')}>
      <When at={modified} relative />
    </td>
    <td data-title={words('actions')}>
      <span class="buttons">
        <Action look="plain" label={`${words('download')}: ${plain(name)}`} run={() => saveLog(name)}>
          {words('download')}
        </Action>
        {may('logs.write') && (
          <button
            type="button"
            class="plain"
            aria-label={`${words('delete')}: ${plain(name)}`}
            onClick={remove}
          >
            {words('delete')}
          </button>
        )}
      </span>
    </td>
  </tr>
);
