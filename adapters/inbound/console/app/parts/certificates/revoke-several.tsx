import { write } from '../../api.ts';
import { messages, number } from '../../language.ts';
import type { Certificate } from '../../records.ts';
import { words } from '../../words.ts';
import { SeveralDialog } from '../dialogs/several-dialog.tsx';
import { tell } from '../dialogs/toast.tsx';
import { Code, Text } from '../display/text.tsx';
import { reasons, reasonTitle } from './certificate-words.ts';

const m = messages(
  {
    done: { one: '{n} certificate has been revoked.', other: '{n} certificates have been revoked.' },
    lead: 'Relying parties reject these certificates as soon as they have the new CRL. Only certificateHold can be undone.',
    problems: 'These certificates were not revoked',
    reason: 'Reason',
    title: { one: 'Revoke {n} certificate?', other: 'Revoke {n} certificates?' },
  },
  {
    done: { one: '{n} Zertifikat wurde gesperrt.', other: '{n} Zertifikate wurden gesperrt.' },
    lead: 'Prüfende Stellen lehnen diese Zertifikate ab, sobald sie die neue Sperrliste haben. Nur certificateHold lässt sich zurücknehmen.',
    problems: 'Diese Zertifikate wurden nicht gesperrt',
    reason: 'Grund',
    title: { one: '{n} Zertifikat sperren?', other: '{n} Zertifikate sperren?' },
  },
);

interface Result {
  readonly id: number;
  readonly revoked: boolean;
  readonly detail: string | null;
}

/** Revokes certificates for one reason. */
export const RevokeSeveral = ({
  of,
  after,
  close,
}: {
  readonly of: readonly Certificate[];
  readonly after: () => void;
  readonly close: () => void;
}) => (
  <SeveralDialog
    of={of}
    title={m('title', { n: of.length })}
    lead={m('lead')}
    name={nameOf}
    href={({ id }) => `/certificates/${id}`}
    row={(certificate) => (
      <>
        <Text of={nameOf(certificate)} /> <Code of={certificate.serial_number} />
      </>
    )}
    action={words('revoke')}
    danger={{
      object: of.length === 1 ? nameOf(of[0]!) : number(of.length),
      isFinal: ({ reason }) => reason !== 'certificateHold',
    }}
    fields={[
      {
        name: 'reason',
        title: m('reason'),
        type: 'choice',
        required: true,
        initial: 'unspecified',
        options: reasons.map((one) => [one, reasonTitle(one)]),
      },
    ]}
    send={async ({ reason }) => {
      const ids = of.map(({ id }) => id);
      const results = await write<readonly Result[]>('POST', '/api/certificates/revoke/', { ids, reason });
      const failures = results.filter(({ revoked }) => !revoked);
      if (failures.length < of.length) tell(m('done', { n: of.length - failures.length }));
      after();
      return failures.map(({ id, detail }) => ({ id, detail: detail ?? '' }));
    }}
    failed={m('problems')}
    close={close}
  />
);

const nameOf = ({ id, common_name }: Certificate): string => (common_name === '' ? `#${id}` : common_name);
