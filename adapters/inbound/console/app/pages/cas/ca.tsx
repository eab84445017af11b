import { write } from '../../api.ts';
import { forget, useRead } from '../../data.ts';
import { messages } from '../../language.ts';
import { CertificateContents } from '../../parts/certificates/certificate-contents.tsx';
import { Action } from '../../parts/dialogs/action.tsx';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { useRemoval } from '../../parts/dialogs/removal.tsx';
import { Answer } from '../../parts/display/answer.tsx';
import { Download } from '../../parts/display/download.tsx';
import { Badge, Card, Facts } from '../../parts/display/facts.tsx';
import { type Found, RecordHeading } from '../../parts/display/record.tsx';
import { CaOf } from '../../parts/display/reference.tsx';
import { Text } from '../../parts/display/text.tsx';
import { When } from '../../parts/display/when.tsx';
import type { CaPosition } from '../../records.ts';
import { go, type Page } from '../../router.ts';
import { may } from '../../session.ts';
import { words } from '../../words.ts';
import { CrlState, m as c, caType, isPast } from './cas.tsx';

const m = messages(
  {
    activate: 'Reactivate',
    activated: 'The CA is active again.',
    below: 'Signed by',
    crl: 'Revocation list',
    crlDone: 'The new CRL has been published.',
    crlLead:
      'Postern issues a CRL at every revocation and before the current one expires. You can issue one at any time.',
    crlMake: 'Issue CRL now',
    crlNext: 'Next update',
    crlNumber: 'Number',
    crlThis: 'Issued',
    deactivate: 'Deactivate',
    deactivateLead:
      'The CA signs no more certificates. It keeps publishing CRLs. You can reactivate it at any time.',
    deactivateTitle: 'Deactivate this certificate authority?',
    deactivated: 'The CA has been deactivated.',
    record: 'Details',
    removeLead: 'The key of the CA is deleted too. Only a CA that has issued no certificates can be deleted.',
    removeTitle: 'Delete this certificate authority?',
    type: 'Type',
  },
  {
    activate: 'Wieder aktivieren',
    activated: 'Die Zertifizierungsstelle ist wieder aktiv.',
    below: 'Signiert von',
    crl: 'Sperrliste',
    crlDone: 'Die neue Sperrliste ist veröffentlicht.',
    crlLead:
      'Postern erzeugt bei jeder Sperrung und vor jedem Ablauf eine neue Sperrliste. Sie können jederzeit eine erzeugen.',
    crlMake: 'Sperrliste jetzt erzeugen',
    crlNext: 'Nächste Aktualisierung',
    crlNumber: 'Nummer',
    crlThis: 'Erzeugt',
    deactivate: 'Deaktivieren',
    deactivateLead:
      'Die Zertifizierungsstelle signiert keine Zertifikate mehr. Ihre Sperrlisten erscheinen weiter. Sie können sie jederzeit wieder aktivieren.',
    deactivateTitle: 'Diese Zertifizierungsstelle deaktivieren?',
    deactivated: 'Die Zertifizierungsstelle ist deaktiviert.',
    record: 'Einzelheiten',
    removeLead:
      'Auch der Schlüssel wird gelöscht. Nur eine Zertifizierungsstelle, die keine Zertifikate ausgestellt hat, lässt sich löschen.',
    removeTitle: 'Diese Zertifizierungsstelle löschen?',
    type: 'Art',
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
      <div class="cards">
        <Card title={m('record')}>
          <Facts
            rows={[
              [
                words('state'),
                isPast(of.not_valid_after) ? (
                  <Badge look="bad">{c('expired')}</Badge>
                ) : of.is_active ? (
                  <Badge look="good">{c('active')}</Badge>
                ) : (
                  <Badge look="calm">{c('atRest')}</Badge>
                ),
              ],
              [m('type'), caType(of.issuing_ca_type)],
              [
                m('below'),
                of.parent === null ? <Text key="i" of={of.issuer} /> : <CaOf key="p" id={of.parent} />,
              ],
              [c('until'), <When key="u" at={of.not_valid_after} relative />],
            ]}
          />
        </Card>
        <Card title={m('crl')}>
          {crl ? (
            <Facts
              rows={[
                [m('crlNumber'), crl.number],
                [m('crlThis'), <When key="t" at={crl.this_update} relative />],
                [m('crlNext'), <When key="n" at={crl.next_update} relative />],
              ]}
            />
          ) : (
            <p>
              <CrlState of={of} />
            </p>
          )}
          <p class="meaning">{m('crlLead')}</p>
          <div class="buttons">
            {may('crls.generate') && (
              <Action run={() => write('POST', `${path}/generate-crl/`).then(reload)} done={m('crlDone')}>
                {m('crlMake')}
              </Action>
            )}
            {may('crls.read') && crl && (
              <>
                <Download path={`${path}/crl/?encoding=der`} name="ca.crl">
                  {words('download')}: DER
                </Download>
                <Download path={`${path}/crl/?encoding=pem`} name="ca.crl.pem">
                  {words('download')}: PEM
                </Download>
              </>
            )}
          </div>
        </Card>
      </div>
      <CertificateContents path={path} name={`ca-${id}`} />
      {dialog}
    </>
  );
}
