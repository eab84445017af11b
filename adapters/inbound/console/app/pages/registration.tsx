import { useEffect, useState } from 'preact/hooks';
import { write } from '../api.ts';
import { useRead } from '../data.ts';
import { messages } from '../language.ts';
import { Answer } from '../parts/answer.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Card, Facts, Heading } from '../parts/facts.tsx';
import { Form } from '../parts/form.tsx';
import { DomainOf, TruststoreOf } from '../parts/reference.tsx';
import { Removal } from '../parts/removal.tsx';
import { Code, plain, Text } from '../parts/text.tsx';
import { tell } from '../parts/toast.tsx';
import { When } from '../parts/when.tsx';
import type { Registration } from '../records.ts';
import { go, type Page } from '../router.ts';
import { may } from '../session.ts';
import { words } from '../words.ts';
import { m as r, useRegistrationFields } from './registrations.tsx';

const m = messages(
  {
    change: 'Change the registration',
    removeLead: 'The devices that have come by it stay; no more come.',
    removeTitle: 'Delete this registration?',
  },
  {
    change: 'Registrierung ändern',
    removeLead: 'Die Geräte, die darüber kamen, bleiben; weitere kommen nicht.',
    removeTitle: 'Diese Registrierung löschen?',
  },
);

export const registration: Page = {
  path: '/registrations/:id',
  title: () => r('title'),
  needs: 'registrations.read',
  view: ({ params: { id = '' } }) => {
    const asked = useRead<Registration>(`/api/devid-registrations/${encodeURIComponent(id)}/`);
    return <Answer of={asked}>{(found) => <Shown of={found} reload={asked.reload} />}</Answer>;
  },
};

function Shown({ of: found, reload }: { readonly of: Registration; readonly reload: () => void }) {
  const [open, setOpen] = useState<'change' | 'remove'>();
  const { id, unique_name: name } = found;
  const close = (): void => setOpen(undefined);
  useEffect(() => {
    document.title = `${plain(name)} · Postern`;
  }, [name]);
  return (
    <>
      <Heading
        title={<Text of={name} />}
        up={{ href: '/registrations', title: r('title') }}
        actions={
          may('registrations.write') && (
            <>
              <button type="button" onClick={() => setOpen('change')}>
                {words('edit')}
              </button>
              <button type="button" class="danger" onClick={() => setOpen('remove')}>
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
      {open === 'change' && (
        <Change
          of={found}
          close={close}
          done={() => {
            close();
            reload();
          }}
        />
      )}
      {open === 'remove' && (
        <Removal
          title={m('removeTitle')}
          lead={m('removeLead')}
          path={`/api/devid-registrations/${id}/`}
          name={name}
          close={close}
          done={() => go('/registrations')}
        />
      )}
    </>
  );
}

function Change({
  of: found,
  close,
  done,
}: {
  readonly of: Registration;
  readonly close: () => void;
  readonly done: () => void;
}) {
  const fields = useRegistrationFields(found);
  return (
    <Dialog title={m('change')} close={close}>
      <Form
        action={words('save')}
        cancel={close}
        fields={fields}
        send={async (values) => {
          await write('PATCH', `/api/devid-registrations/${found.id}/`, values);
          tell(words('saved'));
          done();
        }}
      />
    </Dialog>
  );
}
