import { write } from '../../api.ts';
import { messages } from '../../language.ts';
import { Copy } from '../../parts/dialogs/action.tsx';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { EditDialog } from '../../parts/dialogs/edit-dialog.tsx';
import { useRemoval } from '../../parts/dialogs/removal.tsx';
import { save } from '../../parts/display/download.tsx';
import { Card, Facts } from '../../parts/display/facts.tsx';
import { type Found, RecordHeading, recordView } from '../../parts/display/record.tsx';
import { CaOf } from '../../parts/display/reference.tsx';
import { Code, Text } from '../../parts/display/text.tsx';
import { When } from '../../parts/display/when.tsx';
import { nameField } from '../../parts/forms/form.tsx';
import { go, type Page } from '../../router.ts';
import { may } from '../../session.ts';
import { words } from '../../words.ts';
import { type Credential, CredentialState, credentialType, hasExpired, m as t, tlsServer } from './tls.tsx';

const m = messages(
  {
    activate: 'Activate',
    activateDone: 'Postern uses this credential from the next connection.',
    activateLead:
      'Every instance uses this credential within seconds. Devices that do not trust its issuer can no longer connect.',
    activateTitle: 'Activate this credential?',
    ca: 'Certificate authority',
    certificate: 'Certificate',
    fingerprint: 'SHA-256 of the certificate',
    names: 'Names',
    removeLead: 'Its private key is destroyed.',
    removeTitle: 'Delete this credential?',
    rename: 'Rename',
    updated: 'Last changed',
  },
  {
    activate: 'Aktivieren',
    activateDone: 'Postern verwendet dieses Zertifikat ab der nächsten Verbindung.',
    activateLead:
      'Jede Instanz verwendet dieses Zertifikat binnen Sekunden. Geräte, die seinem Aussteller nicht vertrauen, können sich nicht mehr verbinden.',
    activateTitle: 'Dieses Zertifikat aktivieren?',
    ca: 'Zertifizierungsstelle',
    certificate: 'Zertifikat',
    fingerprint: 'SHA-256 des Zertifikats',
    names: 'Namen',
    removeLead: 'Sein privater Schlüssel wird vernichtet.',
    removeTitle: 'Dieses Zertifikat löschen?',
    rename: 'Umbenennen',
    updated: 'Zuletzt geändert',
  },
);

interface Detailed extends Credential {
  readonly subject_alternative_names: readonly string[];
  readonly pem: string;
  readonly fingerprint: string;
}

const path = '/api/tls/';

export const tlsOne: Page = {
  path: '/tls/:id',
  title: () => t('title'),
  needs: 'credentials.read',
  view: recordView(path, Shown),
};

function Shown({ of, reload }: Found<Detailed>) {
  const { dialog, open, remove } = useRemoval({
    of,
    title: m('removeTitle'),
    lead: m('removeLead'),
    collection: path,
    after: () => go('/tls'),
  });
  const { id, unique_name: name, pem } = of;
  const activate = (): void =>
    open((close) => (
      <Confirm
        title={m('activateTitle')}
        about={<Text of={name} />}
        lead={m('activateLead')}
        action={m('activate')}
        run={() => write('POST', `${path}${id}/activate/`).then(reload)}
        done={m('activateDone')}
        close={close}
      />
    ));
  const rename = (): void =>
    open((close) => (
      <EditDialog<Credential>
        of={of}
        title={m('rename')}
        collection={path}
        fields={[nameField(of)]}
        saved={reload}
        close={close}
      />
    ));
  const canServe = of.credential_type === tlsServer && !of.is_active && !hasExpired(of);
  return (
    <>
      <RecordHeading
        name={name}
        up={{ href: '/tls', title: t('title') }}
        actions={
          may('credentials.write') && (
            <>
              {canServe && (
                <button type="button" class="main" onClick={activate}>
                  {m('activate')}
                </button>
              )}
              <button type="button" onClick={rename}>
                {m('rename')}
              </button>
              {!of.is_active && (
                <button type="button" class="danger" onClick={remove}>
                  {words('delete')}
                </button>
              )}
            </>
          )
        }
      />
      <div class="cards">
        <Card title={words('detail')}>
          <Facts
            rows={[
              [t('kind'), credentialType(of.credential_type)],
              [words('state'), <CredentialState key="s" of={of} />],
              [t('commonName'), <Text key="n" of={of.common_name} />],
              [m('ca'), of.issuing_ca === null ? null : <CaOf key="c" id={of.issuing_ca} />],
              [t('suite'), <Code key="g" of={of.signature_suite} />],
              [words('created'), <When key="w" at={of.created_at} relative />],
              [m('updated'), <When key="u" at={of.updated_at} relative />],
            ]}
          />
        </Card>
        <Card
          title={m('certificate')}
          actions={
            <span class="buttons">
              <Copy text={pem} label={m('certificate')} />
              <button
                type="button"
                class="plain"
                onClick={() => save(new Blob([pem], { type: 'application/x-pem-file' }), `tls-${id}.pem`)}
              >
                {words('download')}
              </button>
            </span>
          }
        >
          <Facts
            rows={[
              [t('ends'), <When key="e" at={of.not_valid_after} relative />],
              [
                m('names'),
                of.subject_alternative_names.length === 0 ? null : (
                  <ul key="n">
                    {of.subject_alternative_names.map((one) => (
                      <li key={one}>
                        <Code of={one} />
                      </li>
                    ))}
                  </ul>
                ),
              ],
              [m('fingerprint'), <Code key="f" of={of.fingerprint} />],
            ]}
          />
        </Card>
      </div>
      {dialog}
    </>
  );
}
