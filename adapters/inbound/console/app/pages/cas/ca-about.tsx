import { write } from '../../api.ts';
import { useShared } from '../../data.ts';
import { messages } from '../../language.ts';
import { CertificateContents } from '../../parts/certificates/certificate-contents.tsx';
import { Action } from '../../parts/dialogs/action.tsx';
import { Answer } from '../../parts/display/answer.tsx';
import { Download } from '../../parts/display/download.tsx';
import { Badge, Card, Facts } from '../../parts/display/facts.tsx';
import type { Found } from '../../parts/display/record.tsx';
import { CaOf } from '../../parts/display/reference.tsx';
import { Text } from '../../parts/display/text.tsx';
import { When } from '../../parts/display/when.tsx';
import type { CaPosition, Domain, UpstreamCa } from '../../records.ts';
import { may } from '../../session.ts';
import { words } from '../../words.ts';
import { CrlState, m as c, caType, isPast } from './cas.tsx';

const m = messages(
  {
    below: 'Signed by',
    crl: 'Revocation list',
    crlDone: 'The new CRL has been published.',
    crlLead:
      'Postern issues a CRL at every revocation and before the current one expires. You can issue one at any time.',
    crlMake: 'Issue CRL now',
    crlNext: 'Next update',
    crlNone: 'The upstream CA publishes the CRLs of this CA.',
    crlNumber: 'Number',
    crlThis: 'Issued',
    domains: 'Domains',
    domainsNone: 'No domain uses this CA.',
    record: 'Details',
    type: 'Type',
    upstream: 'Upstream CA',
  },
  {
    below: 'Signiert von',
    crl: 'Sperrliste',
    crlDone: 'Die neue Sperrliste ist veröffentlicht.',
    crlLead:
      'Postern erzeugt bei jeder Sperrung und vor jedem Ablauf eine neue Sperrliste. Sie können jederzeit eine erzeugen.',
    crlMake: 'Sperrliste jetzt erzeugen',
    crlNext: 'Nächste Aktualisierung',
    crlNone: 'Die Upstream-CA veröffentlicht die Sperrlisten dieser CA.',
    crlNumber: 'Nummer',
    crlThis: 'Erzeugt',
    domains: 'Domänen',
    domainsNone: 'Keine Domäne verwendet diese CA.',
    record: 'Einzelheiten',
    type: 'Typ',
    upstream: 'Upstream-CA',
  },
);

/** The record of a CA, its CRL, the domains that use it, and its certificate. */
export function CaAbout({ of, reload }: Found<CaPosition>) {
  const { id } = of;
  const issuers = useShared<readonly UpstreamCa[]>('/api/issuers/');
  const upstream = issuers.data?.find(({ issuing_cas }) => issuing_cas.includes(id))?.name;
  return (
    <>
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
              [m('upstream'), upstream && <Upstream key="e" name={upstream} />],
              [c('until'), <When key="u" at={of.not_valid_after} relative />],
              [m('domains'), may('domains.read') ? <Domains key="d" ca={id} /> : undefined],
            ]}
          />
        </Card>
        <Crl of={of} reload={reload} />
      </div>
      <CertificateContents path={`/api/issuing-cas/${id}`} name={`ca-${id}`} />
    </>
  );
}

const Upstream = ({ name }: { readonly name: string }) =>
  may('certificates.read') ? (
    <a href="/upstreams">
      <Text of={name} />
    </a>
  ) : (
    <Text of={name} />
  );

/** Types of which the key is at an upstream CA. */
const isUpstream = ({ issuing_ca_type: type }: CaPosition): boolean => type === 4 || type === 5;

function Crl({ of, reload }: Found<CaPosition>) {
  const { id, crl } = of;
  const path = `/api/issuing-cas/${id}`;
  if (isUpstream(of) && !crl) {
    return (
      <Card title={m('crl')}>
        <p class="meaning">{m('crlNone')}</p>
      </Card>
    );
  }
  return (
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
  );
}

function Domains({ ca }: { readonly ca: number }) {
  const asked = useShared<readonly Domain[]>('/api/domains/?limit=1000');
  return (
    <Answer of={asked}>
      {(all) => {
        const found = all.filter(({ issuing_ca }) => issuing_ca === ca);
        if (found.length === 0) return <span class="quiet">{m('domainsNone')}</span>;
        return (
          <ul>
            {found.map(({ id, unique_name }) => (
              <li key={id}>
                <a href={`/domains/${id}`}>
                  <Text of={unique_name} />
                </a>
              </li>
            ))}
          </ul>
        );
      }}
    </Answer>
  );
}
