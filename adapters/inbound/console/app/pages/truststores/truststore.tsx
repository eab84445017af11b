import { useList } from '../../data.ts';
import { messages } from '../../language.ts';
import { EditDialog } from '../../parts/dialogs/edit-dialog.tsx';
import { useRemoval } from '../../parts/dialogs/removal.tsx';
import { Answer } from '../../parts/display/answer.tsx';
import { Download } from '../../parts/display/download.tsx';
import { Card, Facts } from '../../parts/display/facts.tsx';
import { type Found, RecordHeading, recordView } from '../../parts/display/record.tsx';
import { Code, Text } from '../../parts/display/text.tsx';
import { When } from '../../parts/display/when.tsx';
import { Drop } from '../../parts/forms/drop.tsx';
import type { Registration, Truststore } from '../../records.ts';
import { go, type Page } from '../../router.ts';
import { may } from '../../session.ts';
import { words } from '../../words.ts';
import { accept, m as t, truststoreFields, usageTitle } from './truststores.tsx';

const m = messages(
  {
    change: 'Edit truststore',
    dropNew: 'Drop a file here, or choose one, to replace these certificates.',
    fingerprint: 'SHA-256',
    noUse: 'No registration uses this truststore.',
    removeLead: 'Only a truststore that nothing refers to can be deleted.',
    removeTitle: 'Delete this truststore?',
    until: 'Valid until',
    uses: 'Registrations that use it',
  },
  {
    change: 'Truststore bearbeiten',
    dropNew: 'Legen Sie hier eine Datei ab, oder wählen Sie eine aus, um diese Zertifikate zu ersetzen.',
    fingerprint: 'SHA-256',
    noUse: 'Keine Registrierung verwendet diesen Truststore.',
    removeLead: 'Nur ein Truststore, auf den nichts verweist, lässt sich löschen.',
    removeTitle: 'Diesen Truststore löschen?',
    until: 'Gültig bis',
    uses: 'Registrierungen, die ihn nutzen',
  },
);

interface Detail extends Truststore {
  readonly certificates: readonly {
    readonly subject: string;
    readonly not_valid_after: string;
    readonly fingerprint: string;
  }[];
}

const path = '/api/truststores/';

export const truststore: Page = {
  path: '/truststores/:id',
  title: () => t('title'),
  needs: 'truststores.read',
  view: recordView(path, Shown),
};

function Shown({ of: found, reload }: Found<Detail>) {
  const { dialog, open, remove } = useRemoval({
    of: found,
    title: m('removeTitle'),
    lead: m('removeLead'),
    collection: path,
    after: () => go('/truststores'),
  });
  const { id, unique_name: name, certificates } = found;
  const change = (file?: File): void =>
    open((close) => (
      <EditDialog<Truststore>
        of={found}
        title={m('change')}
        collection={path}
        fields={truststoreFields(file, found)}
        saved={reload}
        close={close}
      />
    ));
  return (
    <>
      <RecordHeading
        name={name}
        up={{ href: '/truststores', title: t('title') }}
        actions={
          <>
            <Download path={`/api/truststores/${id}/file/`} name="truststore.pem">
              {words('download')}
            </Download>
            {may('truststores.write') && (
              <>
                <button type="button" onClick={() => change()}>
                  {words('edit')}
                </button>
                <button type="button" class="danger" onClick={remove}>
                  {words('delete')}
                </button>
              </>
            )}
          </>
        }
      />
      <div class="cards">
        <Card title={words('detail')}>
          <Facts
            rows={[
              [t('usage'), usageTitle(found.intended_usage)],
              [words('created'), <When key="w" at={found.created_at} relative />],
              [words('id'), id],
            ]}
          />
        </Card>
        {may('registrations.read') && <Uses id={id} />}
        <Card title={t('file')} wide>
          <ul class="plain-list">
            {certificates.map(({ subject, not_valid_after, fingerprint }) => (
              <li key={fingerprint}>
                <div>
                  <strong>
                    <Text of={subject} />
                  </strong>
                  <p class="meaning">
                    {m('fingerprint')} <Code of={fingerprint} />
                  </p>
                </div>
                <span>
                  {m('until')} <When at={not_valid_after} />
                </span>
              </li>
            ))}
          </ul>
          {may('truststores.write') && <Drop title={m('dropNew')} accept={accept} take={change} />}
        </Card>
      </div>
      {dialog}
    </>
  );
}

function Uses({ id }: { readonly id: number }) {
  const asked = useList<Registration>(`/api/devid-registrations/?limit=50&truststore=${id}`);
  return (
    <Card title={m('uses')}>
      <Answer of={asked}>
        {({ records }) =>
          records.length === 0 ? (
            <p class="quiet">{m('noUse')}</p>
          ) : (
            <ul class="plain-list">
              {records.map((one) => (
                <li key={one.id}>
                  <a href={`/registrations/${one.id}`}>
                    <Text of={one.unique_name} />
                  </a>
                  <Code of={one.serial_number_pattern} />
                </li>
              ))}
            </ul>
          )
        }
      </Answer>
    </Card>
  );
}
