import { reasons, reasonTitle } from '#adapters/inbound/console/app/parts/certificates/certificate-words.ts';
import { write } from '../../api.ts';
import { messages } from '../../language.ts';
import { Action } from '../../parts/dialogs/action.tsx';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { EditDialog } from '../../parts/dialogs/edit-dialog.tsx';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { Removal } from '../../parts/dialogs/removal.tsx';
import { tell } from '../../parts/dialogs/toast.tsx';
import { useChoices } from '../../parts/display/reference.tsx';
import { plain } from '../../parts/display/text.tsx';
import type { Device } from '../../records.ts';
import { may } from '../../session.ts';
import { m as d, deviceType } from './devices.tsx';

export const m = messages(
  {
    block: 'Block',
    blockComment: 'Reason',
    blockCommentHint: 'Kept in the audit log.',
    blockDone: '{name} has been blocked.',
    blockLead:
      'Postern then rejects the secrets, the certificates and the IDevID of the device over every protocol. You can unblock it at any time.',
    blockRevoke: 'Revoke its certificates',
    blockRevokeNot: 'No',
    blockTitle: 'Block this device?',
    change: 'Edit device',
    removeLead: 'Its certificates are revoked and its secrets deleted.',
    removeTitle: 'Delete this device?',
    reset: 'Reset onboarding',
    resetDone: 'The device can onboard again.',
    resetLead:
      'The device can then onboard again with any IDevID of its truststore that has its serial number. Its certificates do not change.',
    resetTitle: 'Reset the onboarding of this device?',
    revokeAll: 'Revoke all certificates',
    revokeAllLead:
      'This includes certificates on hold. Postern issues new CRLs at once. Only certificateHold can be undone.',
    revokeAllTitle: 'Revoke all certificates of this device?',
    revokeReason: 'Reason',
    revokedAll: { one: '{n} certificate has been revoked.', other: '{n} certificates have been revoked.' },
    unblock: 'Unblock',
    unblockDone: '{name} has been unblocked.',
  },
  {
    block: 'Blockieren',
    blockComment: 'Begründung',
    blockCommentHint: 'Wird im Prüfprotokoll gespeichert.',
    blockDone: '„{name}“ ist blockiert.',
    blockLead:
      'Postern lehnt dann die Geheimnisse, die Zertifikate und die IDevID des Geräts über jedes Protokoll ab. Sie können die Blockierung jederzeit aufheben.',
    blockRevoke: 'Seine Zertifikate sperren',
    blockRevokeNot: 'Nein',
    blockTitle: 'Dieses Gerät blockieren?',
    change: 'Gerät bearbeiten',
    removeLead: 'Seine Zertifikate werden gesperrt und seine Geheimnisse gelöscht.',
    removeTitle: 'Dieses Gerät löschen?',
    reset: 'Aufnahme zurücksetzen',
    resetDone: 'Das Gerät kann erneut aufgenommen werden.',
    resetLead:
      'Das Gerät kann dann erneut aufgenommen werden, mit jeder IDevID seines Truststores, die seine Seriennummer trägt. Seine Zertifikate ändern sich nicht.',
    resetTitle: 'Aufnahme dieses Geräts zurücksetzen?',
    revokeAll: 'Alle Zertifikate sperren',
    revokeAllLead:
      'Auch ausgesetzte Zertifikate werden gesperrt. Postern erzeugt sofort neue Sperrlisten. Nur certificateHold lässt sich zurücknehmen.',
    revokeAllTitle: 'Alle Zertifikate dieses Geräts sperren?',
    revokeReason: 'Grund',
    revokedAll: { one: '{n} Zertifikat ist gesperrt.', other: '{n} Zertifikate sind gesperrt.' },
    unblock: 'Blockierung aufheben',
    unblockDone: 'Die Blockierung von „{name}“ ist aufgehoben.',
  },
);

interface Deed {
  readonly device: Device;
  readonly after: () => void;
  readonly close: () => void;
}

const path = '/api/devices/';

export const BlockDevice = ({ device: { id, common_name: name }, after, close }: Deed) => (
  <FormDialog
    title={m('blockTitle')}
    action={m('block')}
    danger={{ object: name, isFinal: ({ revoke = '' }) => revoke !== '' && revoke !== 'certificateHold' }}
    fields={[
      { name: 'comment', title: m('blockComment'), hint: m('blockCommentHint'), maxLength: 200 },
      {
        name: 'revoke',
        title: m('blockRevoke'),
        type: 'choice',
        options: [['', m('blockRevokeNot')], ...reasons.map((one) => [one, reasonTitle(one)] as const)],
        when: () => may('certificates.revoke'),
      },
    ]}
    send={(values) => write('POST', `${path}${id}/block/`, values).then(after)}
    done={m('blockDone', { name: plain(name) })}
    close={close}
  >
    <p>{m('blockLead')}</p>
  </FormDialog>
);

export const UnblockDevice = ({ device: { id, common_name: name }, after }: Omit<Deed, 'close'>) => (
  <Action
    run={() => write('POST', `${path}${id}/unblock/`).then(after)}
    done={m('unblockDone', { name: plain(name) })}
  >
    {m('unblock')}
  </Action>
);

export const RevokeCertificates = ({ device: { id, common_name: name }, after, close }: Deed) => (
  <FormDialog
    title={m('revokeAllTitle')}
    action={m('revokeAll')}
    danger={{ object: name, isFinal: ({ reason }) => reason !== 'certificateHold' }}
    fields={[
      {
        name: 'reason',
        title: m('revokeReason'),
        type: 'choice',
        required: true,
        initial: 'unspecified',
        options: reasons.map((one) => [one, reasonTitle(one)] as const),
      },
    ]}
    send={async (values) => {
      const { revoked } = await write<{ revoked: number }>(
        'POST',
        `${path}${id}/revoke-certificates/`,
        values,
        { timeLimit: 120_000 },
      );
      tell(m('revokedAll', { n: revoked }));
      after();
    }}
    close={close}
  >
    <p>{m('revokeAllLead')}</p>
  </FormDialog>
);

export const ResetOnboarding = ({ device: { id, common_name: name }, after, close }: Deed) => (
  <Confirm
    title={m('resetTitle')}
    object={name}
    lead={m('resetLead')}
    action={m('reset')}
    run={() => write('POST', `${path}${id}/reset-onboarding/`).then(after)}
    done={m('resetDone')}
    close={close}
  />
);

export const RemoveDevice = ({ device: { id, common_name: name }, after, close }: Deed) => (
  <Removal
    title={m('removeTitle')}
    lead={m('removeLead')}
    collection={path}
    id={id}
    name={name}
    after={after}
    close={close}
  />
);

export function ChangeDevice({ device, after, close }: Deed) {
  const domains = useChoices('/api/domains/', 'domains.read');
  return (
    <EditDialog
      of={device}
      title={m('change')}
      collection={path}
      fields={[
        { name: 'common_name', title: d('commonName'), required: true, initial: device.common_name },
        {
          name: 'serial_number',
          title: d('serialNumber'),
          initial: device.serial_number,
          sendEmpty: true,
        },
        {
          name: 'device_type',
          title: d('type'),
          type: 'choice',
          required: true,
          initial: device.device_type,
          options: [0, 1, 2, 3].map((type) => [type, deviceType(type)]),
        },
        {
          name: 'domain',
          title: d('domain'),
          type: 'choice',
          initial: device.domain ?? '',
          options: domains,
        },
      ]}
      saved={after}
      close={close}
    />
  );
}
