import { useState } from 'preact/hooks';
import { read, write } from '../../api.ts';
import { forget } from '../../data.ts';
import { messages } from '../../language.ts';
import { Action, Copy } from '../../parts/dialogs/action.tsx';
import { useRemoval } from '../../parts/dialogs/removal.tsx';
import { Empty } from '../../parts/display/answer.tsx';
import { save } from '../../parts/display/download.tsx';
import { Card, Facts } from '../../parts/display/facts.tsx';
import { type Found, RecordHeading, recordView } from '../../parts/display/record.tsx';
import { Tabs } from '../../parts/display/tabs.tsx';
import { Code, Text } from '../../parts/display/text.tsx';
import { When } from '../../parts/display/when.tsx';
import { Drop } from '../../parts/forms/drop.tsx';
import { Form } from '../../parts/forms/form.tsx';
import { codeColumn, createdColumn } from '../../parts/lists/columns.tsx';
import { List } from '../../parts/lists/list.tsx';
import type { Signer } from '../../records.ts';
import { go, type Page } from '../../router.ts';
import { may } from '../../session.ts';
import { words } from '../../words.ts';
import { m as s } from './signers.tsx';

const m = messages(
  {
    certificate: 'Certificate (PEM)',
    digest: 'Digest',
    digestHint: '{hash} of the data to sign, {length} hexadecimal digits.',
    drop: 'Drop a file here, or choose one: its digest is computed in this browser. The file stays here.',
    messages: 'Signed messages',
    noMessages: 'No signed messages yet',
    number: 'Signed message {n}',
    removeLead: 'Only a signer that has not signed anything can be deleted.',
    removeTitle: 'Delete this signer?',
    sign: 'Sign a digest',
    signAction: 'Sign',
    signature: 'Signature',
    tabs: 'About the signer',
  },
  {
    certificate: 'Zertifikat (PEM)',
    digest: 'Prüfsumme',
    digestHint: '{hash} der Daten, {length} hexadezimale Ziffern.',
    drop: 'Legen Sie hier eine Datei ab, oder wählen Sie eine aus: Ihre Prüfsumme wird in diesem Browser berechnet. Die Datei bleibt hier.',
    messages: 'Signierte Nachrichten',
    noMessages: 'Noch keine signierten Nachrichten',
    number: 'Signierte Nachricht {n}',
    removeLead: 'Nur ein Signierer, der noch nichts signiert hat, lässt sich löschen.',
    removeTitle: 'Diesen Signierer löschen?',
    sign: 'Prüfsumme signieren',
    signAction: 'Signieren',
    signature: 'Signatur',
    tabs: 'Über den Signierer',
  },
);

interface SignedMessage {
  readonly id: number;
  readonly hash_value: string;
  readonly signature: string;
  readonly created_at: string;
}

interface Signature {
  readonly signed_message_id: number;
  readonly hash_value: string;
  readonly signature: string;
}

export const signer: Page = {
  path: '/signers/:id',
  title: () => s('title'),
  needs: 'signers.read',
  view: recordView('/api/signers/', Shown),
};

function Shown({ of: found }: Found<Signer>) {
  const { dialog, remove } = useRemoval({
    of: found,
    title: m('removeTitle'),
    lead: m('removeLead'),
    collection: '/api/tls/',
    after: () => {
      forget('/api/signers/');
      go('/signers');
    },
  });
  const { id, unique_name: name } = found;
  return (
    <>
      <RecordHeading
        name={name}
        up={{ href: '/signers', title: s('title') }}
        actions={
          <>
            <Action run={() => saveCertificate(id)}>{m('certificate')}</Action>
            {may('credentials.write') && (
              <button type="button" class="danger" onClick={remove}>
                {words('delete')}
              </button>
            )}
          </>
        }
      />
      <Tabs
        label={m('tabs')}
        tabs={[
          { name: 'about', title: words('detail'), view: () => <About of={found} /> },
          { name: 'messages', title: m('messages'), view: () => <Messages id={id} /> },
        ]}
      />
      {dialog}
    </>
  );
}

async function saveCertificate(id: number): Promise<void> {
  const { certificate_pem } = await read<{ certificate_pem: string }>(`/api/signers/${id}/certificate/`);
  save(new Blob([certificate_pem], { type: 'application/x-pem-file' }), `signer-${id}.pem`);
}

const About = ({ of: found }: { readonly of: Signer }) => (
  <div class="cards">
    <Card title={words('detail')}>
      <Facts
        rows={[
          [s('commonName'), <Text key="n" of={found.certificate_cn} />],
          [s('suite'), <Code key="s" of={found.signature_suite} />],
          [s('until'), <When key="u" at={found.certificate_not_valid_after} relative />],
          [words('created'), <When key="c" at={found.created_at} relative />],
          [words('id'), found.id],
        ]}
      />
    </Card>
    {may('signers.sign') && <Sign by={found} />}
  </div>
);

/** `ecdsa-sha256` → `SHA-256`, as Web Crypto calls it. */
const hashOf = ({ signature_suite: suite }: Signer): string => {
  const bits = /sha(\d{3})/.exec(suite)?.[1] ?? '256';
  return `SHA-${bits}`;
};

function Sign({ by }: { readonly by: Signer }) {
  const [digest, setDigest] = useState({ value: '', round: 0 });
  const [signature, setSignature] = useState<Signature>();
  const hash = hashOf(by);
  const take = async (file: File): Promise<void> => {
    const bytes = new Uint8Array(await crypto.subtle.digest(hash, await file.arrayBuffer()));
    const value = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    setDigest(({ round }) => ({ value, round: round + 1 }));
  };
  return (
    <Card title={m('sign')}>
      <Drop title={m('drop')} accept="" take={(file) => void take(file)} />
      <Form
        key={digest.round}
        action={m('signAction')}
        fields={[
          {
            name: 'hash_value',
            title: m('digest'),
            required: true,
            isCode: true,
            initial: digest.value,
            hint: m('digestHint', { hash, length: String(Number(hash.slice(4)) / 4) }),
          },
        ]}
        send={async (values) =>
          setSignature(await write<Signature>('POST', '/api/signers/sign/', { ...values, signer_id: by.id }))
        }
      />
      {signature && (
        <div class="notice good" role="status">
          <p>
            <strong>{m('number', { n: signature.signed_message_id })}</strong>
          </p>
          <Facts
            rows={[
              [m('digest'), <Code key="d" of={signature.hash_value} />],
              [
                m('signature'),
                <>
                  <Code of={signature.signature} /> <Copy text={signature.signature} label={m('signature')} />
                </>,
              ],
            ]}
          />
        </div>
      )}
    </Card>
  );
}

const Messages = ({ id }: { readonly id: number }) => (
  <List<SignedMessage>
    path="/api/signed-messages/"
    title={m('messages')}
    fixed={{ signer: String(id) }}
    columns={[
      { name: 'id', title: words('id'), orderable: true, cell: (message) => message.id },
      codeColumn('hash_value', m('digest')),
      { ...codeColumn('signature', m('signature')), orderable: false },
      createdColumn(),
    ]}
    empty={<Empty title={m('noMessages')} />}
  />
);
