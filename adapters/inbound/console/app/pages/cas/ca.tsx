import { write } from '../../api.ts';
import { forget, useRead } from '../../data.ts';
import { messages } from '../../language.ts';
import { CertificateList } from '../../parts/certificates/certificate-list.tsx';
import { Action } from '../../parts/dialogs/action.tsx';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { useRemoval } from '../../parts/dialogs/removal.tsx';
import { Answer } from '../../parts/display/answer.tsx';
import { type Found, RecordHeading } from '../../parts/display/record.tsx';
import { Tabs } from '../../parts/display/tabs.tsx';
import type { CaPosition } from '../../records.ts';
import { go, type Page } from '../../router.ts';
import { may } from '../../session.ts';
import { words } from '../../words.ts';
import { CaAbout } from './ca-about.tsx';
import { m as c } from './cas.tsx';
import { CrlEntries, crlEntriesTitle } from './crl-entries.tsx';

const m = messages(
  {
    activate: 'Reactivate',
    activated: 'The CA is active again.',
    certificates: 'Certificates',
    deactivate: 'Deactivate',
    deactivateLead:
      'The CA signs no more certificates. It keeps publishing CRLs. You can reactivate it at any time.',
    deactivateTitle: 'Deactivate this certificate authority?',
    deactivated: 'The CA has been deactivated.',
    removeLead: 'The key of the CA is deleted too. Only a CA that has issued no certificates can be deleted.',
    removeTitle: 'Delete this certificate authority?',
    tabs: 'About the CA',
  },
  {
    activate: 'Wieder aktivieren',
    activated: 'Die Zertifizierungsstelle ist wieder aktiv.',
    certificates: 'Zertifikate',
    deactivate: 'Deaktivieren',
    deactivateLead:
      'Die Zertifizierungsstelle signiert keine Zertifikate mehr. Ihre Sperrlisten erscheinen weiter. Sie können sie jederzeit wieder aktivieren.',
    deactivateTitle: 'Diese Zertifizierungsstelle deaktivieren?',
    deactivated: 'Die Zertifizierungsstelle ist deaktiviert.',
    removeLead:
      'Auch der Schlüssel wird gelöscht. Nur eine Zertifizierungsstelle, die keine Zertifikate ausgestellt hat, lässt sich löschen.',
    removeTitle: 'Diese Zertifizierungsstelle löschen?',
    tabs: 'Über die Zertifizierungsstelle',
  },
);

const collection = '/api/issuing-cas/';

export const ca: Page = {
  path: '/cas/:id',
  title: () => c('title'),
  needs: 'cas.read',
  view: ({ params: { id = '' } }) => {
    const path = `${collection}${encodeURIComponent(id)}`;
    // That there is such a CA is for the record to say; the rest of what is shown stands in the hierarchy.
    const record = useRead<{ readonly id: number }>(`${path}/`);
    const all = useRead<readonly CaPosition[]>('/api/ca-hierarchy/');
    const reload = (): void => {
      forget(collection);
      all.reload();
    };
    return (
      <Answer of={record}>
        {(own) => (
          <Answer of={all}>
            {(found) => {
              const position = found.find((one) => one.id === own.id);
              return position ? <Shown of={position} reload={reload} /> : null;
            }}
          </Answer>
        )}
      </Answer>
    );
  },
};

function Shown({ of, reload }: Found<CaPosition>) {
  const { dialog, open, remove } = useRemoval({
    of,
    title: m('removeTitle'),
    lead: m('removeLead'),
    collection,
    after: () => go('/cas'),
  });
  const { id, unique_name: name, crl } = of;
  const path = `${collection}${id}`;
  const deactivate = (): void =>
    open((close) => (
      <Confirm
        title={m('deactivateTitle')}
        object={name}
        lead={m('deactivateLead')}
        action={m('deactivate')}
        run={() => write('POST', `${path}/deactivate/`).then(reload)}
        done={m('deactivated')}
        close={close}
      />
    ));
  return (
    <>
      <RecordHeading
        name={name}
        up={{ href: '/cas', title: c('title') }}
        actions={
          may('cas.write') && (
            <>
              {of.is_active ? (
                <button type="button" onClick={deactivate}>
                  {m('deactivate')}
                </button>
              ) : (
                <Action run={() => write('POST', `${path}/activate/`).then(reload)} done={m('activated')}>
                  {m('activate')}
                </Action>
              )}
              <button type="button" class="danger" onClick={remove}>
                {words('delete')}
              </button>
            </>
          )
        }
      />
      <Tabs
        label={m('tabs')}
        tabs={[
          { name: 'about', title: words('detail'), view: () => <CaAbout of={of} reload={reload} /> },
          ...(may('certificates.read')
            ? [
                {
                  name: 'certificates',
                  title: m('certificates'),
                  view: () => <CertificateList fixed={{ issuing_ca: String(id) }} />,
                },
                ...(crl
                  ? [{ name: 'crl', title: crlEntriesTitle(), view: () => <CrlEntries ca={id} /> }]
                  : []),
              ]
            : []),
        ]}
      />
      {dialog}
    </>
  );
}
