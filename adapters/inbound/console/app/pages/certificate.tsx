import { useEffect, useState } from 'preact/hooks';
import { call, write } from '../api.ts';
import { useRead } from '../data.ts';
import { messages } from '../language.ts';
import { Answer } from '../parts/answer.tsx';
import { CertificateContents } from '../parts/certificate-contents.tsx';
import { CertificateState } from '../parts/certificate-list.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { save } from '../parts/download.tsx';
import { Card, Facts, Heading } from '../parts/facts.tsx';
import { Form } from '../parts/form.tsx';
import { CaOf, DeviceOf, DomainOf, ProfileOf } from '../parts/reference.tsx';
import { reasons, reasonTitle } from '../parts/revocation-reasons.ts';
import { plain, Text } from '../parts/text.tsx';
import { tell } from '../parts/toast.tsx';
import { When } from '../parts/when.tsx';
import type { Certificate } from '../records.ts';
import type { Page } from '../router.ts';
import { may } from '../session.ts';
import { words } from '../words.ts';
import { m as c } from './certificates.tsx';

const m = messages(
  {
    ca: 'Signed by',
    device: 'Device',
    fetch: 'Fetch with key',
    fetchLead: 'The key that was made here is handed out once, and destroyed here then.',
    fetched: 'The key has been handed out; it is not here any more.',
    invalidity: 'Compromised since',
    invalidityHint: 'A date like 2026-03-31, where it is known.',
    password: 'Password for the file',
    passwordHint: 'At least 8 characters.',
    profile: 'Profile',
    protocol: 'Came by',
    reason: 'Reason',
    release: 'Release',
    releaseDone: 'The certificate is good again.',
    record: 'On record',
    revokeDone: 'The certificate has been revoked, and is on the new CRL.',
    revokeLead:
      'Whoever checks will refuse the certificate. Only a suspension (certificateHold) can be taken back.',
    revokeTitle: 'Revoke this certificate?',
    revokedAt: 'Revoked',
    status: 'State',
  },
  {
    ca: 'Unterschrieben von',
    device: 'Gerät',
    fetch: 'Mit Schlüssel abholen',
    fetchLead: 'Der hier erzeugte Schlüssel wird einmal ausgegeben und danach hier vernichtet.',
    fetched: 'Der Schlüssel wurde ausgegeben; hier ist er nicht mehr.',
    invalidity: 'Kompromittiert seit',
    invalidityHint: 'Ein Datum wie 2026-03-31, wenn es bekannt ist.',
    password: 'Kennwort für die Datei',
    passwordHint: 'Mindestens 8 Zeichen.',
    profile: 'Profil',
    protocol: 'Kam über',
    reason: 'Grund',
    release: 'Freigeben',
    releaseDone: 'Das Zertifikat gilt wieder.',
    record: 'Verzeichnet',
    revokeDone: 'Das Zertifikat ist gesperrt und steht auf der neuen Sperrliste.',
    revokeLead:
      'Wer prüft, lehnt das Zertifikat ab. Nur eine Aussetzung (certificateHold) lässt sich zurücknehmen.',
    revokeTitle: 'Dieses Zertifikat sperren?',
    revokedAt: 'Gesperrt',
    status: 'Zustand',
  },
);

export const certificate: Page = {
  path: '/certificates/:id',
  title: () => c('title'),
  needs: 'certificates.read',
  view: ({ params: { id = '' } }) => {
    const asked = useRead<Certificate>(`/api/certificates/${encodeURIComponent(id)}/`);
    return <Answer of={asked}>{(found) => <Shown of={found} reload={asked.reload} />}</Answer>;
  },
};

function Shown({ of: found, reload }: { readonly of: Certificate; readonly reload: () => void }) {
  const [open, setOpen] = useState<'revoke' | 'fetch'>();
  const { id, common_name, status } = found;
  const name = common_name === '' ? `#${id}` : common_name;
  useEffect(() => {
    document.title = `${plain(name)} · Postern`;
  }, [name]);
  const changed = (told: string): void => {
    setOpen(undefined);
    tell(told);
    reload();
  };
  return (
    <>
      <Heading
        title={<Text of={name} />}
        up={{ href: '/certificates', title: c('title') }}
        actions={
          <>
            {may('certificates.issue') && found.protocol === 'management' && (
              <button type="button" onClick={() => setOpen('fetch')}>
                {m('fetch')}
              </button>
            )}
            {may('certificates.revoke') && status === 'hold' && <Release id={id} done={changed} />}
            {may('certificates.revoke') && status !== 'revoked' && (
              <button type="button" class="danger" onClick={() => setOpen('revoke')}>
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
            [m('protocol'), <Text key="t" of={found.protocol} />],
            [words('created'), <When key="w" at={found.created_at} relative />],
          ]}
        />
      </Card>
      <CertificateContents path={`/api/certificates/${id}`} name={`certificate-${id}`} />
      {open === 'revoke' && (
        <Dialog title={m('revokeTitle')} close={() => setOpen(undefined)}>
          <p>{m('revokeLead')}</p>
          <Form
            action={words('revoke')}
            cancel={() => setOpen(undefined)}
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
            send={async (values) => {
              await write('POST', `/api/certificates/${id}/revoke/`, values);
              changed(m('revokeDone'));
            }}
          />
        </Dialog>
      )}
      {open === 'fetch' && (
        <Dialog title={m('fetch')} close={() => setOpen(undefined)}>
          <p>{m('fetchLead')}</p>
          <Form
            action={words('download')}
            cancel={() => setOpen(undefined)}
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
            send={async (values) => {
              const response = await call('POST', `/api/certificates/${id}/pkcs12/`, { body: values });
              save(await response.blob(), `certificate-${id}.p12`);
              changed(m('fetched'));
            }}
          />
        </Dialog>
      )}
    </>
  );
}

function Release({ id, done }: { readonly id: number; readonly done: (told: string) => void }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        {m('release')}
      </button>
      {open && (
        <Dialog title={m('release')} close={() => setOpen(false)}>
          <Form
            action={m('release')}
            cancel={() => setOpen(false)}
            fields={[]}
            send={async () => {
              await write('POST', `/api/certificates/${id}/revoke/`, { reason: 'removeFromCRL' });
              done(m('releaseDone'));
            }}
          />
        </Dialog>
      )}
    </>
  );
}
