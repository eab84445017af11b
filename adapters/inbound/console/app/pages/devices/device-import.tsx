import { useEffect } from 'preact/hooks';
import { write } from '../../api.ts';
import { type Asked, useList, useRead } from '../../data.ts';
import { messages, number } from '../../language.ts';
import { Action } from '../../parts/dialogs/action.tsx';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { useDialog } from '../../parts/dialogs/dialog.tsx';
import { Answer } from '../../parts/display/answer.tsx';
import { Download } from '../../parts/display/download.tsx';
import { Card, Facts, Heading } from '../../parts/display/facts.tsx';
import { Code, plain, Text } from '../../parts/display/text.tsx';
import { When } from '../../parts/display/when.tsx';
import type { DeviceImport } from '../../records.ts';
import { go, type Page } from '../../router.ts';
import { may } from '../../session.ts';
import { words } from '../../words.ts';
import { ImportName, ImportState, m as i } from './device-imports.tsx';

const m = messages(
  {
    credentials: 'Secrets of the devices (CSV)',
    devices: 'Show devices',
    finished: 'Ended',
    line: 'Line {n}',
    more: 'The file has all of them.',
    noneRefused: 'No lines were rejected.',
    progress: 'Progress',
    reason: 'Reason',
    refusals: 'Rejected lines',
    refusalsFile: 'All rejected lines (CSV)',
    removeLead: 'Only the record of the import is deleted. Its devices are kept.',
    removeTitle: 'Delete this import?',
    rows: '{done} of {total} lines',
    stop: 'Stop',
    stopped: 'The import has been stopped. Devices that it has created are kept.',
  },
  {
    credentials: 'Geheimnisse der Geräte (CSV)',
    devices: 'Geräte zeigen',
    finished: 'Beendet',
    line: 'Zeile {n}',
    more: 'Alle stehen in der Datei.',
    noneRefused: 'Keine Zeile wurde abgelehnt.',
    progress: 'Fortschritt',
    reason: 'Grund',
    refusals: 'Abgelehnte Zeilen',
    refusalsFile: 'Alle abgelehnten Zeilen (CSV)',
    removeLead: 'Nur die Aufzeichnung des Imports wird gelöscht. Seine Geräte bleiben erhalten.',
    removeTitle: 'Diesen Import löschen?',
    rows: '{done} von {total} Zeilen',
    stop: 'Anhalten',
    stopped: 'Der Import wurde angehalten. Die bereits angelegten Geräte bleiben erhalten.',
  },
);

interface Refusal {
  readonly line: number;
  readonly field: string;
  readonly message: string;
}

const isOver = ({ state }: DeviceImport): boolean =>
  state === 'done' || state === 'cancelled' || state === 'failed';
const every = 1000;

export const deviceImport: Page = {
  path: '/devices/imports/:id',
  title: () => i('title'),
  needs: 'devices.read',
  view: ({ params: { id = '' } }) => {
    const asked = useRead<DeviceImport>(`/api/device-imports/${encodeURIComponent(id)}/`);
    useEffect(() => {
      if (!asked.data || asked.waiting || isOver(asked.data)) return;
      const timer = setTimeout(asked.reload, every);
      return () => clearTimeout(timer);
    }, [asked.data, asked.waiting]);
    return <Answer of={asked}>{(found) => <Shown of={found} asked={asked} />}</Answer>;
  },
};

function Shown({ of: found, asked }: { readonly of: DeviceImport; readonly asked: Asked<DeviceImport> }) {
  const { dialog, open } = useDialog();
  const { id, file_name: name, state, total, done, created, refused } = found;
  useEffect(() => {
    document.title = `${plain(name)} · Postern`;
  }, [name]);
  const over = isOver(found);
  const remove = (): void =>
    open((close) => (
      <Confirm
        title={m('removeTitle')}
        object={name}
        isFinal
        lead={m('removeLead')}
        action={words('delete')}
        run={() => write('DELETE', `/api/device-imports/${id}/`).then(() => go('/devices/imports'))}
        done={words('deleted', { name: plain(name) })}
        close={close}
      />
    ));
  return (
    <>
      <Heading
        title={<ImportName of={found} />}
        up={{ href: '/devices/imports', title: i('title') }}
        actions={
          <>
            {created > 0 && (
              <a class="button" href={`/devices?device_import=${id}`}>
                {m('devices')}
              </a>
            )}
            {created > 0 && may('devices.secrets') && (
              <Download path={`/api/device-imports/${id}/credentials/?format=csv`} name="credentials.csv">
                {m('credentials')}
              </Download>
            )}
            {may('devices.write') && !over && (
              <Action
                look="danger"
                done={m('stopped')}
                run={async () => {
                  await write('POST', `/api/device-imports/${id}/cancel/`);
                  asked.reload();
                }}
              >
                {m('stop')}
              </Action>
            )}
            {may('devices.write') && over && (
              <button type="button" class="danger" onClick={remove}>
                {words('delete')}
              </button>
            )}
          </>
        }
      />
      <Card title={m('progress')}>
        <p role="status">
          <ImportState of={state} /> {m('rows', { done, total })}
        </p>
        <progress max={Math.max(total, 1)} value={done} aria-label={m('progress')} />
        <Facts
          rows={[
            [i('created'), number(created)],
            [i('refused'), number(refused)],
            [i('account'), <Text key="a" of={found.account} />],
            [words('created'), <When key="c" at={found.created_at} relative />],
            [m('finished'), found.finished_at && <When at={found.finished_at} relative />],
            [m('reason'), found.reason && <Text of={found.reason} />],
          ]}
        />
      </Card>
      {/* Anew with each of the first ones: later ones do not come onto the page. */}
      <Refusals key={Math.min(refused, 100)} of={found} />
      {dialog}
    </>
  );
}

function Refusals({ of: { id, refused } }: { readonly of: DeviceImport }) {
  const asked = useList<Refusal>(refused === 0 ? undefined : `/api/device-imports/${id}/refusals/`);
  if (refused === 0) return <p class="quiet">{m('noneRefused')}</p>;
  return (
    <Card
      title={m('refusals')}
      actions={
        <Download path={`/api/device-imports/${id}/refusals/?format=csv`} name="refusals.csv">
          {m('refusalsFile')}
        </Download>
      }
    >
      <Answer of={asked}>
        {({ records, next }) => (
          <>
            <ul class="plain-list">
              {records.map(({ line, field, message }) => (
                <li key={`${line} ${field}`}>
                  <span>
                    {m('line', { n: line })}
                    {field !== '' && (
                      <>
                        {' '}
                        <Code of={field} />
                      </>
                    )}
                  </span>
                  <Text of={message} />
                </li>
              ))}
            </ul>
            {next !== undefined && <p class="quiet">{m('more')}</p>}
          </>
        )}
      </Answer>
    </Card>
  );
}
