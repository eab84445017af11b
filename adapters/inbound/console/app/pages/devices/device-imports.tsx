import { useState } from 'preact/hooks';
import { write } from '../../api.ts';
import { messages, number } from '../../language.ts';
import { Empty, Problem } from '../../parts/display/answer.tsx';
import { Badge, Card, Facts } from '../../parts/display/facts.tsx';
import { Text } from '../../parts/display/text.tsx';
import { Drop } from '../../parts/forms/drop.tsx';
import { createdColumn } from '../../parts/lists/columns.tsx';
import { ListPage } from '../../parts/lists/list-page.tsx';
import type { DeviceImport } from '../../records.ts';
import { go, type Page } from '../../router.ts';
import { may } from '../../session.ts';
import { words } from '../../words.ts';
import { m as d } from './devices.tsx';

export const m = messages(
  {
    account: 'By',
    cancelled: 'Stopped',
    columns: 'Columns',
    common_name: 'name of the device, unique',
    created: 'Devices created',
    csv: 'CSV in UTF-8. The first line names the columns; an empty value counts as no value.',
    device_type: '0 generic (if empty), 1 OPC UA GDS, 2 OPC UA GDS Push, 3 agent',
    domain: 'name of the domain; if empty, the default domain',
    done: 'Done',
    drop: 'Drop a CSV file with devices here, or choose one.',
    failed: 'Failed',
    file: 'File',
    idevid: 'name of a truststore: the device has an IDevID of this manufacturer',
    lead: 'Add many devices from a file. An invalid line is rejected; the other lines are imported.',
    noImports: 'No imports yet',
    protocols: 'cmp, est, rest, manual, separated by spaces; if empty, cmp est rest',
    receiving: 'Receiving',
    refused: 'Rejected',
    running: 'Running',
    secrets: 'if empty, a secret is generated; none: no secret',
    sending: 'Uploading the file …',
    serial_number: 'at most 100 characters',
    title: 'Device imports',
    unnamed: 'Import {n}',
    waiting: 'Pending',
  },
  {
    account: 'Von',
    cancelled: 'Angehalten',
    columns: 'Spalten',
    common_name: 'Name des Geräts, eindeutig',
    created: 'Angelegte Geräte',
    csv: 'CSV in UTF-8. Die erste Zeile nennt die Spalten; ein leerer Wert gilt als nicht angegeben.',
    device_type: '0 allgemein (wenn leer), 1 OPC UA GDS, 2 OPC UA GDS Push, 3 Agent',
    domain: 'Name der Domäne; wenn leer, die Standarddomäne',
    done: 'Fertig',
    drop: 'Legen Sie hier eine CSV-Datei mit Geräten ab, oder wählen Sie eine aus.',
    failed: 'Fehlgeschlagen',
    file: 'Datei',
    idevid: 'Name eines Truststores: Das Gerät hat eine IDevID dieses Herstellers',
    lead: 'Fügen Sie viele Geräte aus einer Datei hinzu. Ungültige Zeilen werden abgelehnt; die anderen werden importiert.',
    noImports: 'Noch keine Importe',
    protocols: 'cmp, est, rest, manual, mit Leerzeichen dazwischen; wenn leer, cmp est rest',
    receiving: 'Wird empfangen',
    refused: 'Abgelehnt',
    running: 'Läuft',
    secrets: 'wenn leer, wird ein Geheimnis erzeugt; none: kein Geheimnis',
    sending: 'Die Datei wird hochgeladen …',
    serial_number: 'höchstens 100 Zeichen',
    title: 'Geräteimporte',
    unnamed: 'Import {n}',
    waiting: 'Steht aus',
  },
);

const looks = {
  receiving: 'calm',
  waiting: 'calm',
  running: 'calm',
  done: 'good',
  cancelled: 'warn',
  failed: 'bad',
} as const;

export const ImportState = ({ of }: { readonly of: DeviceImport['state'] }) => (
  <Badge look={looks[of]}>{m(of)}</Badge>
);

/** What an import is called: after its file. */
export const ImportName = ({ of: { id, file_name } }: { readonly of: DeviceImport }) =>
  file_name === '' ? m('unnamed', { n: id }) : <Text of={file_name} />;

export const deviceImports: Page = {
  path: '/devices/imports',
  title: () => m('title'),
  needs: 'devices.read',
  view: () => (
    <ListPage<DeviceImport>
      path="/api/device-imports/"
      title={m('title')}
      up={{ href: '/devices', title: d('title') }}
      lead={m('lead')}
      searchable={false}
      href={({ id }) => `/devices/imports/${id}`}
      columns={[
        { name: 'file_name', title: m('file'), orderable: true, cell: (one) => <ImportName of={one} /> },
        {
          name: 'state',
          title: words('state'),
          orderable: true,
          cell: ({ state }) => <ImportState of={state} />,
        },
        { name: 'created', title: m('created'), isNumber: true, cell: ({ created }) => number(created) },
        { name: 'refused', title: m('refused'), isNumber: true, cell: ({ refused }) => number(refused) },
        { name: 'account', title: m('account'), cell: ({ account }) => <Text of={account} /> },
        createdColumn(),
      ]}
      empty={<Empty title={m('noImports')} />}
    >
      {may('devices.write') && <Send />}
    </ListPage>
  ),
};

function Send() {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const send = async (file: File): Promise<void> => {
    if (busy) return;
    setBusy(true);
    setError(undefined);
    const body = new FormData();
    body.set('file', file);
    body.set('file_name', file.name.slice(0, 255));
    try {
      const { id } = await write<DeviceImport>('POST', '/api/devices/import/', body, { timeLimit: 300_000 });
      go(`/devices/imports/${id}`);
    } catch (thrown) {
      setError(thrown);
      setBusy(false);
    }
  };
  const columns = [
    ['common_name', m('common_name')],
    ['serial_number', m('serial_number')],
    ['domain', m('domain')],
    ['device_type', m('device_type')],
    ['protocols', m('protocols')],
    ['est_password', m('secrets')],
    ['cmp_shared_secret', m('secrets')],
    ['idevid_truststore', m('idevid')],
  ] as const;
  return (
    <Card title={d('importFile')}>
      <Drop title={m('drop')} accept=".csv,text/csv" take={(file) => void send(file)} />
      {busy && <p role="status">{m('sending')}</p>}
      {error !== undefined && <Problem error={error} />}
      <details>
        <summary>{m('columns')}</summary>
        <p class="meaning">{m('csv')}</p>
        <Facts rows={columns} />
      </details>
    </Card>
  );
}
