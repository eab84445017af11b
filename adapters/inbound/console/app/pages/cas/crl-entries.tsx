import { messages } from '../../language.ts';
import { CertificateState } from '../../parts/certificates/certificate-list.tsx';
import { reasonTitle } from '../../parts/certificates/certificate-words.ts';
import { Empty } from '../../parts/display/answer.tsx';
import { Text } from '../../parts/display/text.tsx';
import { codeColumn, momentColumn } from '../../parts/lists/columns.tsx';
import { List } from '../../parts/lists/list.tsx';
import type { Certificate } from '../../records.ts';
import { words } from '../../words.ts';

const m = messages(
  {
    none: 'The CRL has no entries',
    noneNext: 'Certificates of this CA that are revoked or on hold appear here until they expire.',
    reason: 'Reason',
    reasonNone: 'Not stated',
    revokedAt: 'Revoked',
    serialNumber: 'Serial number',
    title: 'CRL entries',
    until: 'Valid until',
  },
  {
    none: 'Die Sperrliste hat keine Einträge',
    noneNext: 'Gesperrte und ausgesetzte Zertifikate dieser CA stehen hier, bis sie ablaufen.',
    reason: 'Grund',
    reasonNone: 'Nicht angegeben',
    revokedAt: 'Gesperrt',
    serialNumber: 'Seriennummer',
    title: 'Einträge der Sperrliste',
    until: 'Gültig bis',
  },
);

export const crlEntriesTitle = (): string => m('title');

/** The certificates that the CRL of a CA contains. */
export const CrlEntries = ({ ca }: { readonly ca: number }) => (
  <List<Certificate>
    path="/api/certificates/"
    title={m('title')}
    fixed={{ issuing_ca: String(ca), state: 'on_crl' }}
    exported
    href={({ id }) => `/certificates/${id}`}
    columns={[
      codeColumn('serial_number', m('serialNumber')),
      {
        name: 'common_name',
        title: words('name'),
        orderable: true,
        cell: ({ common_name, id }) => <Text of={common_name === '' ? `#${id}` : common_name} />,
      },
      { name: 'status', title: words('state'), cell: (certificate) => <CertificateState of={certificate} /> },
      momentColumn('revoked_at', m('revokedAt')),
      {
        name: 'revocation_reason',
        title: m('reason'),
        cell: ({ revocation_reason: reason }) =>
          reason === null ? <span class="quiet">{m('reasonNone')}</span> : reasonTitle(reason),
      },
      momentColumn('not_valid_after', m('until')),
    ]}
    empty={<Empty title={m('none')} next={m('noneNext')} />}
  />
);
