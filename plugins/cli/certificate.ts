import { revocationReasons } from '#core/x509/extensions/revocation.ts';
import {
  certificateFind,
  certificateNamed,
  certificateShow,
  describeCertificate,
} from './certificate-records.ts';
import { type Command, exit, placeOptions, printJson, withGateway } from './command.ts';
import { word } from './values.ts';

const certificateRevoke: Command = {
  name: 'certificate revoke',
  positionals: ['ID'],
  summary: 'Revoke a certificate, put it on hold or release it.',
  details: `ID is the id or the serial number (hexadecimal) of the certificate. --reason certificateHold suspends it, removeFromCRL
releases it from hold; any other revocation is final. The CA issues a new CRL.`,
  options: {
    reason: {
      type: 'string',
      value: 'R',
      help: `${revocationReasons.join(', ')}. Default: unspecified`,
    },
    ...placeOptions,
  },
  async run(invocation) {
    const { options, positionals } = invocation;
    const reason = word(options, 'reason', revocationReasons) ?? 'unspecified';
    const revoked = await withGateway(invocation, async (opened) => {
      const { id } = await certificateNamed(opened, positionals[0]!);
      return opened.gateway.certificates.revoke(opened.principal, id, { reason });
    });
    const { id, serialNumber, status } = revoked;
    const done = { good: 'has been released', hold: 'is on hold', revoked: 'has been revoked' }[
      status as string
    ];
    if (options.json === true) printJson(describeCertificate(revoked));
    else console.log(`The certificate ${id} (serial number ${serialNumber}) ${done}.`);
    return exit.success;
  },
};

export const certificateCommands: readonly Command[] = [certificateFind, certificateShow, certificateRevoke];
