import { type RevocationReason, revocationReasons } from '#core/x509/extensions/revocation.ts';
import {
  type Command,
  exit,
  type Opened,
  placeOptions,
  printable,
  printJson,
  withGateway,
} from './command.ts';
import { deviceNamed } from './records.ts';
import { text, word } from './values.ts';

/** The reasons for which all certificates of a device can be revoked. */
const reasons = revocationReasons.filter((reason) => reason !== 'removeFromCRL');
const details = 'NAME is the common name or the id of the device.';

interface Change {
  readonly verb: string;
  /** The participle for "The device NAME has been …". */
  readonly done: string;
}

/** Returns a command that changes one device and prints the change. */
const changing = (
  { verb, done }: Change,
  command: Pick<Command, 'summary' | 'details' | 'options' | 'fields'>,
  /** Checks the options and returns the change. */
  prepare: (
    options: Parameters<Command['run']>[0]['options'],
  ) => (opened: Opened, id: number) => Promise<unknown>,
): Command => ({
  name: `device ${verb}`,
  positionals: ['NAME'],
  ...command,
  async run(invocation) {
    const { options, positionals } = invocation;
    const change = prepare(options);
    const { id, commonName } = await withGateway(invocation, async (opened) => {
      const device = await deviceNamed(opened, positionals[0]!);
      await change(opened, device.id);
      return device;
    });
    if (options.json === true) printJson({ id, common_name: commonName, [done]: true });
    else console.log(`The device ${printable(commonName)} has been ${done}.`);
    return exit.success;
  },
});

export const deviceBlock = changing(
  { verb: 'block', done: 'blocked' },
  {
    summary: 'Block a device: reject its requests, whatever credentials it presents.',
    details: `${details} Relying parties still accept its certificates unless --revoke revokes them.`,
    options: {
      comment: { type: 'string', value: 'TEXT', help: 'The reason, for the audit log' },
      revoke: {
        type: 'string',
        value: 'REASON',
        help: `Revoke its certificates too: ${reasons.join(', ')}`,
      },
      ...placeOptions,
    },
  },
  (options) => {
    const revoke: RevocationReason | undefined = word(options, 'revoke', reasons);
    const comment = text(options, 'comment') ?? '';
    return ({ gateway, principal }, id) =>
      gateway.devices.block(principal, id, { comment, ...(revoke && { revoke }) });
  },
);

export const deviceUnblock = changing(
  { verb: 'unblock', done: 'unblocked' },
  { summary: 'Accept requests of a blocked device again.', details, options: placeOptions },
  () =>
    ({ gateway, principal }, id) =>
      gateway.devices.unblock(principal, id),
);

export const deviceDelete = changing(
  { verb: 'delete', done: 'deleted' },
  {
    summary: 'Delete a device and its secrets.',
    details: `${details} Its certificates are revoked (cessationOfOperation) and stay in the inventory. This cannot be undone.`,
    options: placeOptions,
  },
  () =>
    ({ gateway, principal }, id) =>
      gateway.devices.remove(principal, id),
);
