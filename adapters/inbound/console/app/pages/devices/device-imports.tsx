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
    common_name: 'its name, which no other device has',
    created: 'Devices made',
    csv: 'CSV in UTF-8. The first line names the columns; an empty value is as good as none.',
    device_type: '0 generic (if empty), 1 OPC UA GDS, 2 OPC UA GDS Push, 3 agent',
    domain: 'the name of its domain; if empty, the default domain',
    done: 'Done',
    drop: 'Drop a CSV file with devices here, or choose one.',
    failed: 'Failed',
    file: 'File',
    idevid: 'the name of a truststore: it comes with an IDevID of this manufacturer',
    lead: 'Many devices at once, from a file. A line that makes no device is refused by itself, and the others go on.',
    noImports: 'Nothing has been imported yet',
    protocols: 'cmp, est, rest, manual, separated by spaces; if empty, cmp est rest',
    receiving: 'Is being received',
    refused: 'Refused',
    running: 'Runs',
    secrets: 'if empty, one is made; none: it has none',
    sending: 'The file is on its way …',
    serial_number: 'at most 100 characters',
    title: 'Imports of devices',
    unnamed: 'Import {n}',
    waiting: 'Waits',
  },
  {
    account: 'Von',
    cancelled: 'Angehalten',
    columns: 'Spalten',
    common_name: 'sein Name, den kein anderes Gerät hat',
    created: 'Angelegte Geräte',
    csv: 'CSV in UTF-8. Die erste Zeile nennt die Spalten; ein leerer Wert ist so gut wie keiner.',
    device_type: '0 allgemein (wenn leer), 1 OPC UA GDS, 2 OPC UA GDS Push, 3 Agent',
    domain: 'der Name seiner Domäne; wenn leer, die Standarddomäne',
    done: 'Fertig',
    drop: 'Legen Sie hier eine CSV-Datei mit Geräten ab, oder wählen Sie eine aus.',
    failed: 'Gescheitert',
    file: 'Datei',
    idevid: 'der Name eines Truststores: Es kommt mit einer IDevID dieses Herstellers',
    lead: 'Viele Geräte auf einmal, aus einer Datei. Eine Zeile, aus der kein Gerät wird, wird für sich abgelehnt; die anderen laufen weiter.',
    noImports: 'Es wurde noch nichts importiert',
    protocols: 'cmp, est, rest, manual, mit Leerzeichen dazwischen; wenn leer, cmp est rest',
    receiving: 'Wird empfangen',
    refused: 'Abgelehnt',
    running: 'Läuft',
    secrets: 'wenn leer, wird eines erzeugt; none: es hat keines',
    sending: 'Die Datei ist unterwegs …',
    serial_number: 'höchstens 100 Zeichen',
    title: 'Importe von Geräten',
    unnamed: 'Import {n}',
    waiting: 'Wartet',
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
