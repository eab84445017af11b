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
    activate: 'Let it sign again',
    activated: 'The CA signs again.',
    below: 'Signed by',
    crl: 'Revocation list',
    crlDone: 'A new CRL is there for everybody.',
    crlLead: 'CRLs are made at every revocation, and before one runs out. A new one can be made at any time.',
    crlMake: 'Make a CRL now',
    crlNext: 'Next one due',
    crlNumber: 'Number',
    crlThis: 'Issued',
    deactivate: 'Put it to rest',
    deactivateLead: 'It signs no more certificates. Its CRLs go on, and it can be let sign again.',
    deactivated: 'The CA is at rest.',
    record: 'On record',
    removeLead: 'Its key is deleted too. Only a CA that has issued no certificates can be deleted.',
    removeTitle: 'Delete this certificate authority?',
    type: 'Kind',
  },
  {
    activate: 'Wieder unterschreiben lassen',
    activated: 'Die Zertifizierungsstelle unterschreibt wieder.',
    below: 'Unterschrieben von',
    crl: 'Sperrliste',
    crlDone: 'Eine neue Sperrliste ist für alle da.',
    crlLead:
      'Sperrlisten entstehen bei jeder Sperrung und bevor eine abläuft. Eine neue lässt sich jederzeit erzeugen.',
    crlMake: 'Jetzt eine Sperrliste erzeugen',
    crlNext: 'Die nächste ist fällig',
    crlNumber: 'Nummer',
    crlThis: 'Erzeugt',
    deactivate: 'Ruhen lassen',
    deactivateLead:
      'Sie unterschreibt keine Zertifikate mehr. Ihre Sperrlisten gehen weiter, und sie kann wieder zugelassen werden.',
    deactivated: 'Die Zertifizierungsstelle ruht.',
    record: 'Verzeichnet',
    removeLead:
      'Auch ihr Schlüssel wird gelöscht. Nur eine Stelle, die keine Zertifikate ausgestellt hat, lässt sich löschen.',
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
        title={m('deactivate')}
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
