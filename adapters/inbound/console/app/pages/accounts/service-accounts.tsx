import { messages } from '../../language.ts';
import { type Account, accountColumns, useAccountFields } from '../../parts/accounts/account.tsx';
import { EditDialog, type Editing } from '../../parts/dialogs/edit-dialog.tsx';
import { Copied, SecretOnce } from '../../parts/dialogs/secret-once.tsx';
import { Empty } from '../../parts/display/answer.tsx';
import { Code } from '../../parts/display/text.tsx';
import { nameField } from '../../parts/forms/form.tsx';
import { useSecretEditing } from '../../parts/forms/secret-editing.tsx';
import { actionsColumn, codeColumn, nameColumn, RowButtons } from '../../parts/lists/columns.tsx';
import { ListPage } from '../../parts/lists/list-page.tsx';
import type { Page } from '../../router.ts';
import { may } from '../../session.ts';
import { words } from '../../words.ts';

const m = messages(
  {
    add: 'Add service account',
    change: 'Edit service account',
    clientId: 'Client number',
    lead: 'Programs sign in to the API with service accounts. They cannot sign in to the console.',
    none: 'No service accounts',
    noneNext: 'Add one for each program that uses the API.',
    removeLead: 'Programs that use this account lose access at once.',
    removeTitle: 'Delete this service account?',
    rotate: 'New secret',
    rotateLead: 'The old secret and every token issued for it become invalid at once.',
    rotateTitle: 'Replace the secret?',
    secret: 'Secret',
    title: 'Service accounts',
    use: 'Get a token',
  },
  {
    add: 'Dienstkonto hinzufügen',
    change: 'Dienstkonto bearbeiten',
    clientId: 'Client-Nummer',
    lead: 'Mit Dienstkonten melden sich Programme an der API an. An der Konsole können sie sich nicht anmelden.',
    none: 'Keine Dienstkonten',
    noneNext: 'Fügen Sie für jedes Programm, das die API benutzt, eines hinzu.',
    removeLead: 'Programme, die dieses Konto benutzen, verlieren sofort den Zugang.',
    removeTitle: 'Dieses Dienstkonto löschen?',
    rotate: 'Neues Geheimnis',
    rotateLead: 'Das alte Geheimnis und alle dafür ausgestellten Token werden sofort ungültig.',
    rotateTitle: 'Geheimnis ersetzen?',
    secret: 'Geheimnis',
    title: 'Dienstkonten',
    use: 'Token abrufen',
  },
);

interface ServiceAccount extends Account {
  readonly unique_name: string;
  readonly client_id: string;
  /** Only in the answer to what made it. */
  readonly client_secret: string | null;
}

const path = '/api/service-accounts/';

export const serviceAccounts: Page = {
  path: '/service-accounts',
  title: () => m('title'),
  needs: 'accounts.read',
  navigation: { group: 'administration', order: 30 },
  view: () => {
    const writes = may('accounts.write');
    const { round, dialog, add, edit, rotate, remove } = useSecretEditing<ServiceAccount>({
      collection: path,
      Edit,
      Secret,
      rotation: { title: m('rotateTitle'), lead: m('rotateLead') },
      removal: ({ unique_name: name }) => ({ title: m('removeTitle'), lead: m('removeLead'), name }),
    });
    return (
      <>
        <ListPage<ServiceAccount>
          path={path}
          title={m('title')}
          lead={m('lead')}
          actions={
            writes && (
              <button type="button" class="main" onClick={add}>
                {m('add')}
              </button>
            )
          }
          round={round}
          columns={[
            nameColumn(),
            { ...codeColumn('client_id', m('clientId')), orderable: false },
            ...accountColumns(),
            writes &&
              actionsColumn((of) => (
                <RowButtons
                  name={of.unique_name}
                  buttons={[
                    [words('edit'), () => edit(of)],
                    [m('rotate'), () => rotate(of)],
                    [words('delete'), () => remove(of)],
                  ]}
                />
              )),
          ]}
          empty={<Empty title={m('none')} next={m('noneNext')} />}
        />
        {dialog}
      </>
    );
  },
};

function Edit(editing: Editing<ServiceAccount>) {
  const { of } = editing;
  const account = useAccountFields(of);
  return (
    <EditDialog
      {...editing}
      title={m(of ? 'change' : 'add')}
      collection={path}
      fields={[nameField(of), ...account]}
    />
  );
}

function Secret({ of, close }: { readonly of: ServiceAccount; readonly close: () => void }) {
  const { client_id: id, client_secret: secret } = of;
  if (secret === null) return null;
  const line = `curl -s ${location.origin}/api/token/ -d grant_type=client_credentials -d client_id=${id} -d client_secret=…`;
  return (
    <SecretOnce
      close={close}
      rows={[
        [m('clientId'), <Copied key="i" name={m('clientId')} of={id} />],
        [m('secret'), <Copied key="s" name={m('secret')} of={secret} />],
        [m('use'), <Code key="u" of={line} />],
      ]}
    />
  );
}
