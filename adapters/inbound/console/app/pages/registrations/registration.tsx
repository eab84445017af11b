import { messages } from '../../language.ts';
import { type Changing, EditDialog } from '../../parts/dialogs/edit-dialog.tsx';
import { useRemoval } from '../../parts/dialogs/removal.tsx';
import { Card, Facts } from '../../parts/display/facts.tsx';
import { type Found, RecordHeading, recordView } from '../../parts/display/record.tsx';
import { DomainOf, TruststoreOf } from '../../parts/display/reference.tsx';
import { Code } from '../../parts/display/text.tsx';
import { When } from '../../parts/display/when.tsx';
import type { Registration } from '../../records.ts';
import { go, type Page } from '../../router.ts';
import { may } from '../../session.ts';
import { words } from '../../words.ts';
import { m as r, useRegistrationFields } from './registrations.tsx';

const m = messages(
  {
    change: 'Edit registration',
    removeLead: 'Existing devices are kept. No new devices are created by this registration.',
    removeTitle: 'Delete this registration?',
  },
  {
    change: 'Registrierung bearbeiten',
    removeLead: 'Vorhandene Geräte bleiben erhalten. Neue werden darüber nicht mehr angelegt.',
    removeTitle: 'Diese Registrierung löschen?',
  },
);

const path = '/api/devid-registrations/';

export const registration: Page = {
  path: '/registrations/:id',
  title: () => r('title'),
  needs: 'registrations.read',
  view: recordView(path, Shown),
};

function Shown({ of: found, reload }: Found<Registration>) {
  const { dialog, open, remove } = useRemoval({
    of: found,
    title: m('removeTitle'),
    lead: m('removeLead'),
    collection: path,
    after: () => go('/registrations'),
  });
  const { unique_name: name } = found;
  const change = (): void => open((close) => <Change of={found} saved={reload} close={close} />);
  return (
    <>
      <RecordHeading
        name={name}
        up={{ href: '/registrations', title: r('title') }}
        actions={
          may('registrations.write') && (
            <>
              <button type="button" onClick={change}>
                {words('edit')}
              </button>
              <button type="button" class="danger" onClick={remove}>
                {words('delete')}
              </button>
            </>
          )
        }
      />
      <Card title={words('detail')}>
        <Facts
          rows={[
            [r('truststore'), <TruststoreOf key="t" id={found.truststore} />, r('truststoreHint')],
            [r('pattern'), <Code key="p" of={found.serial_number_pattern} />, r('patternHint')],
            [r('domain'), <DomainOf key="d" id={found.domain} />, r('domainHint')],
            [words('created'), <When key="w" at={found.created_at} relative />],
          ]}
        />
      </Card>
      {dialog}
    </>
  );
}

function Change(editing: Changing<Registration>) {
  const fields = useRegistrationFields(editing.of);
  return <EditDialog {...editing} title={m('change')} collection={path} fields={fields} />;
}
