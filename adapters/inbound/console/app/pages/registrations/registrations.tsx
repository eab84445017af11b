import { messages } from '../../language.ts';
import { useDialog } from '../../parts/dialogs/dialog.tsx';
import { EditDialog } from '../../parts/dialogs/edit-dialog.tsx';
import { Empty } from '../../parts/display/answer.tsx';
import { DomainOf, TruststoreOf, useChoices } from '../../parts/display/reference.tsx';
import { Code } from '../../parts/display/text.tsx';
import { nameField } from '../../parts/forms/form.tsx';
import type { Field } from '../../parts/forms/input.tsx';
import { createdColumn, nameColumn } from '../../parts/lists/columns.tsx';
import { ListPage } from '../../parts/lists/list-page.tsx';
import type { Registration } from '../../records.ts';
import { go, type Page } from '../../router.ts';
import { may } from '../../session.ts';

export const m = messages(
  {
    add: 'Add registration',
    domain: 'Domain',
    domainHint: 'Devices are created in this domain at their first contact.',
    lead: 'A device with an IDevID of its manufacturer is created at its first contact if its serial number matches.',
    noRegistrations: 'No registrations yet',
    noRegistrationsNext: 'Add the certificates of a manufacturer as a truststore first.',
    pattern: 'Serial numbers',
    patternHint: 'A regular expression (RE2) for the whole serial number, such as PMP-[0-9]{6}.',
    title: 'DevID registrations',
    truststore: 'Truststore',
    truststoreHint: 'A truststore for IDevID: the IDevIDs have to chain to one of its certificates.',
  },
  {
    add: 'Registrierung hinzufügen',
    domain: 'Domäne',
    domainHint: 'In dieser Domäne werden Geräte beim ersten Kontakt angelegt.',
    lead: 'Geräte mit einer IDevID ihres Herstellers werden beim ersten Kontakt angelegt, wenn ihre Seriennummer passt.',
    noRegistrations: 'Noch keine Registrierungen',
    noRegistrationsNext: 'Fügen Sie zuerst die Zertifikate eines Herstellers als Truststore hinzu.',
    pattern: 'Seriennummern',
    patternHint: 'Ein regulärer Ausdruck (RE2) für die ganze Seriennummer, etwa PMP-[0-9]{6}.',
    title: 'DevID-Registrierungen',
    truststore: 'Truststore',
    truststoreHint: 'Ein Truststore für IDevID: Die IDevIDs müssen auf eines seiner Zertifikate zurückgehen.',
  },
);

/** What a registration is made of. */
export function useRegistrationFields(of?: Registration): readonly Field[] {
  const domains = useChoices('/api/domains/', 'domains.read');
  const truststores = useChoices('/api/truststores/', 'truststores.read', 'intended_usage=0');
  return [
    nameField(of),
    {
      name: 'truststore',
      title: m('truststore'),
      type: 'choice',
      required: true,
      hint: m('truststoreHint'),
      initial: of?.truststore,
      options: truststores,
    },
    {
      name: 'domain',
      title: m('domain'),
      type: 'choice',
      required: true,
      hint: m('domainHint'),
      initial: of?.domain,
      options: domains,
    },
    {
      name: 'serial_number_pattern',
      title: m('pattern'),
      required: true,
      isCode: true,
      maxLength: 1000,
      hint: m('patternHint'),
      initial: of?.serial_number_pattern,
    },
  ];
}

export const registrations: Page = {
  path: '/registrations',
  title: () => m('title'),
  needs: 'registrations.read',
  navigation: { group: 'trust', order: 40 },
  view: () => {
    const { dialog, open } = useDialog();
    return (
      <>
        <ListPage<Registration>
          path="/api/devid-registrations/"
          title={m('title')}
          actions={
            may('registrations.write') && (
              <button type="button" class="main" onClick={() => open((close) => <Add close={close} />)}>
                {m('add')}
              </button>
            )
          }
          lead={m('lead')}
          href={({ id }) => `/registrations/${id}`}
          columns={[
            nameColumn(),
            {
              name: 'serial_number_pattern',
              title: m('pattern'),
              cell: ({ serial_number_pattern }) => <Code of={serial_number_pattern} />,
            },
            {
              name: 'truststore',
              title: m('truststore'),
              orderable: true,
              cell: ({ truststore }) => <TruststoreOf id={truststore} />,
            },
            {
              name: 'domain',
              title: m('domain'),
              orderable: true,
              cell: ({ domain }) => <DomainOf id={domain} />,
            },
            createdColumn(),
          ]}
          empty={<Empty title={m('noRegistrations')} next={m('noRegistrationsNext')} />}
        />
        {dialog}
      </>
    );
  },
};

function Add({ close }: { readonly close: () => void }) {
  const fields = useRegistrationFields();
  return (
    <EditDialog<Registration>
      title={m('add')}
      collection="/api/devid-registrations/"
      fields={fields}
      saved={({ id }) => go(`/registrations/${id}`)}
      close={close}
    />
  );
}
