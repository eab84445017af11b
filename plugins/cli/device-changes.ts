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
import { deviceNamed } from './device-named.ts';
import { text, word } from './values.ts';

/** Those that all certificates of a device can be revoked for. */
const reasons = revocationReasons.filter((reason) => reason !== 'removeFromCRL');
const details = 'NAME is its common name or its id.';

interface Change {
  readonly verb: string;
  /** As in "the device NAME has been …". */
  readonly done: string;
}

/** A command that changes one device and says so. */
const changing = (
  { verb, done }: Change,
  command: Pick<Command, 'summary' | 'details' | 'options' | 'fields'>,
  /** Checks the options, and answers what to do. */
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
    summary: 'Accept nothing from a device any more, whatever it holds.',
    details: `${details} Its certificates stay valid for others unless they are revoked with --revoke.`,
    options: {
      comment: { type: 'string', value: 'TEXT', help: 'Why, for the audit trail' },
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
