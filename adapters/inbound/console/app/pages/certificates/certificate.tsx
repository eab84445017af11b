import {
  protocolTitle,
  reasons,
  reasonTitle,
} from '#adapters/inbound/console/app/parts/certificates/certificate-words.ts';
import { call, write } from '../../api.ts';
import { messages } from '../../language.ts';
import { CertificateContents } from '../../parts/certificates/certificate-contents.tsx';
import { CertificateState } from '../../parts/certificates/certificate-list.tsx';
import { useDialog } from '../../parts/dialogs/dialog.tsx';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { save } from '../../parts/display/download.tsx';
import { Card, Facts } from '../../parts/display/facts.tsx';
import { type Found, RecordHeading, recordView } from '../../parts/display/record.tsx';
import { CaOf, DeviceOf, DomainOf, ProfileOf } from '../../parts/display/reference.tsx';
import { Text } from '../../parts/display/text.tsx';
import { When } from '../../parts/display/when.tsx';
import type { Certificate } from '../../records.ts';
import type { Page } from '../../router.ts';
import { may } from '../../session.ts';
import { words } from '../../words.ts';
import { m as c } from './certificates.tsx';

const m = messages(
  {
    ca: 'Issuing CA',
    device: 'Device',
    fetch: 'Download with private key',
    fetchLead: 'You can download the private key once. Postern then destroys its copy.',
    fetched: 'The private key has been downloaded and destroyed here.',
    invalidity: 'Compromised since',
    invalidityHint: 'A date such as 2026-03-31.',
    password: 'Password for the file',
    passwordHint: 'At least 8 characters.',
    profile: 'Profile',
    protocol: 'Protocol',
    reason: 'Reason',
    release: 'Release from hold',
    releaseDone: 'The certificate is valid again.',
    record: 'Inventory',
    revokeDone: 'The certificate has been revoked and is on the new CRL.',
    revokeLead:
      'Relying parties reject the certificate as soon as they have the new CRL. Only certificateHold can be undone.',
    revokeTitle: 'Revoke this certificate?',
    revokedAt: 'Revoked',
    status: 'State',
  },
  {
    ca: 'Ausstellende CA',
    device: 'Gerät',
    fetch: 'Mit privatem Schlüssel herunterladen',
    fetchLead:
      'Sie können den privaten Schlüssel einmal herunterladen. Danach vernichtet Postern seine Kopie.',
    fetched: 'Der private Schlüssel wurde heruntergeladen und hier vernichtet.',
    invalidity: 'Kompromittiert seit',
    invalidityHint: 'Ein Datum wie 2026-03-31.',
    password: 'Kennwort für die Datei',
    passwordHint: 'Mindestens 8 Zeichen.',
    profile: 'Profil',
    protocol: 'Protokoll',
    reason: 'Grund',
    release: 'Aussetzung aufheben',
    releaseDone: 'Das Zertifikat ist wieder gültig.',
    record: 'Bestand',
    revokeDone: 'Das Zertifikat ist gesperrt und steht auf der neuen Sperrliste.',
    revokeLead:
      'Prüfende Stellen lehnen das Zertifikat ab, sobald sie die neue Sperrliste haben. Nur certificateHold lässt sich zurücknehmen.',
    revokeTitle: 'Dieses Zertifikat sperren?',
    revokedAt: 'Gesperrt',
    status: 'Zustand',
  },
);

const path = '/api/certificates/';

export const certificate: Page = {
  path: '/certificates/:id',
  title: () => c('title'),
  needs: 'certificates.read',
  view: recordView(path, Shown),
};

function Shown({ of: found, reload }: Found<Certificate>) {
  const { dialog, open } = useDialog();
  const { id, common_name, status } = found;
  const name = common_name === '' ? `#${id}` : common_name;
  const deed = { id, name, after: reload };
  return (
    <>
      <RecordHeading
        name={name}
        up={{ href: '/certificates', title: c('title') }}
        actions={
          <>
            {may('certificates.issue') && found.protocol === 'management' && (
              <button type="button" onClick={() => open((close) => <Fetch {...deed} close={close} />)}>
                {m('fetch')}
              </button>
            )}
            {may('certificates.revoke') && status === 'hold' && (
              <button type="button" onClick={() => open((close) => <Release {...deed} close={close} />)}>
                {m('release')}
              </button>
            )}
            {may('certificates.revoke') && status !== 'revoked' && (
              <button
                type="button"
                class="danger"
                onClick={() => open((close) => <Revoke {...deed} close={close} />)}
              >
                {words('revoke')}
              </button>
            )}
          </>
        }
      />
      <Card title={m('record')}>
        <Facts
          rows={[
            [m('status'), <CertificateState key="s" of={found} />],
            [m('revokedAt'), found.revoked_at && <When at={found.revoked_at} relative />],
            [m('reason'), found.revocation_reason && reasonTitle(found.revocation_reason)],
            [m('ca'), <CaOf key="c" id={found.issuing_ca} />],
            [m('device'), found.device === null ? null : <DeviceOf key="v" id={found.device} />],
            [c('domain'), <DomainOf key="d" id={found.domain} />],
            [m('profile'), <ProfileOf key="p" id={found.cert_profile} />],
            [m('protocol'), <Text key="t" of={protocolTitle(found.protocol)} />],
            [words('created'), <When key="w" at={found.created_at} relative />],
          ]}
        />
      </Card>
      <CertificateContents path={`/api/certificates/${id}`} name={`certificate-${id}`} />
      {dialog}
    </>
  );
}

interface Deed {
  readonly id: number;
  readonly name: string;
  readonly after: () => void;
  readonly close: () => void;
}

const Revoke = ({ id, name, after, close }: Deed) => (
  <FormDialog
    title={m('revokeTitle')}
    action={words('revoke')}
    danger={{ object: name, isFinal: ({ reason }) => reason !== 'certificateHold' }}
    fields={[
      {
        name: 'reason',
        title: m('reason'),
        type: 'choice',
        required: true,
        initial: 'unspecified',
        options: reasons.map((one) => [one, reasonTitle(one)]),
      },
      {
        name: 'invalidity_date',
        title: m('invalidity'),
        hint: m('invalidityHint'),
        when: (values) => values.reason === 'keyCompromise',
      },
    ]}
    send={(values) => write('POST', `${path}${id}/revoke/`, values).then(after)}
    done={m('revokeDone')}
    close={close}
  >
    <p>{m('revokeLead')}</p>
  </FormDialog>
);

const Release = ({ id, after, close }: Deed) => (
  <FormDialog
    title={m('release')}
    action={m('release')}
    fields={[]}
    send={() => write('POST', `${path}${id}/revoke/`, { reason: 'removeFromCRL' }).then(after)}
    done={m('releaseDone')}
    close={close}
  />
);

const Fetch = ({ id, after, close }: Deed) => (
  <FormDialog
    title={m('fetch')}
    action={words('download')}
    fields={[
      {
        name: 'password',
        title: m('password'),
        type: 'password',
        required: true,
        hint: m('passwordHint'),
        autocomplete: 'new-password',
      },
    ]}
    send={async (body) => {
      const response = await call('POST', `${path}${id}/pkcs12/`, { body });
      save(await response.blob(), `certificate-${id}.p12`);
      after();
    }}
    done={m('fetched')}
    close={close}
  >
    <p>{m('fetchLead')}</p>
  </FormDialog>
);
