import { messages } from '../../language.ts';
import { CertificateList } from '../../parts/certificates/certificate-list.tsx';
import { useDialog } from '../../parts/dialogs/dialog.tsx';
import { EditDialog } from '../../parts/dialogs/edit-dialog.tsx';
import { Heading } from '../../parts/display/facts.tsx';
import { useChoices } from '../../parts/display/reference.tsx';
import type { Certificate } from '../../records.ts';
import { go, type Page } from '../../router.ts';
import { may } from '../../session.ts';

export const m = messages(
  {
    csr: 'Certificate request (PKCS #10)',
    csrHint:
      'PEM. If you leave it empty, Postern generates the key, and you can download it once as PKCS #12.',
    domain: 'Domain',
    issue: 'Issue certificate',
    issueAction: 'Issue',
    issued: 'The certificate has been issued.',
    name: 'Name',
    profile: 'Profile',
    title: 'Certificates',
    usualDomain: 'The default domain',
    usualProfile: 'tls_client',
  },
  {
    csr: 'Zertifikatsantrag (PKCS #10)',
    csrHint:
      'PEM. Ohne Antrag erzeugt Postern den Schlüssel, den Sie einmal als PKCS #12 herunterladen können.',
    domain: 'Domäne',
    issue: 'Zertifikat ausstellen',
    issueAction: 'Ausstellen',
    issued: 'Das Zertifikat wurde ausgestellt.',
    name: 'Name',
    profile: 'Profil',
    title: 'Zertifikate',
    usualDomain: 'Die Standarddomäne',
    usualProfile: 'tls_client',
  },
);

export const certificates: Page = {
  path: '/certificates',
  title: () => m('title'),
  needs: 'certificates.read',
  navigation: { group: 'inventory', order: 10 },
  view: () => {
    const { dialog, open } = useDialog();
    return (
      <>
        <Heading
          title={m('title')}
          actions={
            may('certificates.issue') && (
              <button type="button" class="main" onClick={() => open((close) => <Issue close={close} />)}>
                {m('issue')}
              </button>
            )
          }
        />
        <CertificateList />
        {dialog}
      </>
    );
  },
};

function Issue({ close }: { readonly close: () => void }) {
  const domains = useChoices('/api/domains/', 'domains.read');
  const profiles = useChoices('/api/cert-profiles/', 'profiles.read');
  return (
    <EditDialog<Certificate>
      title={m('issue')}
      action={m('issueAction')}
      collection="/api/certificates/"
      fields={[
        { name: 'common_name', title: m('name'), required: true, maxLength: 256 },
        {
          name: 'domain',
          title: m('domain'),
          type: 'choice',
          options: [['', m('usualDomain')], ...domains],
        },
        {
          name: 'cert_profile',
          title: m('profile'),
          type: 'choice',
          options: [['', m('usualProfile')], ...profiles],
        },
        { name: 'csr', title: m('csr'), type: 'area', isCode: true, hint: m('csrHint') },
      ]}
      saved={({ id }) => go(`/certificates/${id}`)}
      done={m('issued')}
      close={close}
    />
  );
}
