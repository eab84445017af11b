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
    blockComment: 'Why',
    blockCommentHint: 'For the audit trail.',
    blockDone: '{name} is blocked.',
    blockLead:
      'From now on nothing that stands for it is accepted over any protocol: its secrets, its certificates, its IDevID.',
    blockRevoke: 'Its certificates',
    blockRevokeNot: 'stay as they are',
    blockTitle: 'Block this device?',
    change: 'Change the device',
    removeLead: 'Its certificates are revoked and its secrets deleted. This cannot be undone.',
    removeTitle: 'Delete this device?',
    reset: 'Reset onboarding',
    resetDone: 'The device may onboard once more.',
    resetLead:
      'Its onboarding is pending again, with whatever IDevID of its truststore bears its serial number. The certificates that it has stay as they are.',
    resetTitle: 'Let this device onboard once more?',
    revokeAll: 'Revoke all certificates',
    revokeAllLead:
      'All that are good or on hold. New CRLs follow at once. Only a suspension (certificateHold) can be taken back.',
    revokeAllTitle: 'Revoke all certificates of this device?',
    revokeReason: 'Reason',
    revokedAll: { one: '{n} certificate has been revoked.', other: '{n} certificates have been revoked.' },
    unblock: 'Let in again',
    unblockDone: '{name} is let in again.',
  },
  {
    block: 'Ausschließen',
    blockComment: 'Warum',
    blockCommentHint: 'Für das Prüfprotokoll.',
    blockDone: '{name} ist ausgeschlossen.',
    blockLead:
      'Von jetzt an wird über kein Protokoll etwas angenommen, das für das Gerät steht: seine Geheimnisse, seine Zertifikate, seine IDevID.',
    blockRevoke: 'Seine Zertifikate',
    blockRevokeNot: 'bleiben, wie sie sind',
    blockTitle: 'Dieses Gerät ausschließen?',
    change: 'Gerät ändern',
    removeLead:
      'Seine Zertifikate werden gesperrt und seine Geheimnisse gelöscht. Das lässt sich nicht rückgängig machen.',
    removeTitle: 'Dieses Gerät löschen?',
    reset: 'Aufnahme zurücksetzen',
    resetDone: 'Das Gerät darf noch einmal aufgenommen werden.',
    resetLead:
      'Seine Aufnahme steht wieder aus, mit jeder IDevID seines Truststores, die seine Seriennummer trägt. Die Zertifikate, die es hat, bleiben, wie sie sind.',
    resetTitle: 'Dieses Gerät noch einmal aufnehmen lassen?',
    revokeAll: 'Alle Zertifikate sperren',
    revokeAllLead:
      'Alle gültigen und ausgesetzten. Neue Sperrlisten folgen sofort. Nur eine Aussetzung (certificateHold) lässt sich zurücknehmen.',
    revokeAllTitle: 'Alle Zertifikate dieses Geräts sperren?',
    revokeReason: 'Grund',
    revokedAll: { one: '{n} Zertifikat ist gesperrt.', other: '{n} Zertifikate sind gesperrt.' },
    unblock: 'Wieder einlassen',
    unblockDone: '{name} wird wieder eingelassen.',
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

export const RevokeCertificates = ({ device: { id }, after, close }: Deed) => (
  <FormDialog
    title={m('revokeAllTitle')}
    action={m('revokeAll')}
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

export const ResetOnboarding = ({ device: { id }, after, close }: Deed) => (
  <Confirm
    title={m('resetTitle')}
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
