import type { Gateway } from '#core/gateway.ts';
import {
  type Command,
  exit,
  operatorName,
  placeOptions,
  printJson,
  UsageError,
  withGateway,
} from './command.ts';

const usualRole = 'Default';

export const serviceAccountCommands: readonly Command[] = [
  {
    name: 'service-account create',
    positionals: ['NAME'],
    summary: 'Create a service account for programs that use the APIs.',
    details: `Prints the client id and the client secret for POST /api/token/ with the client credentials grant. The secret is shown
only once; POST /api/service-accounts/ID/rotate/ generates a new one.`,
    fields: { uniqueName: 'NAME' },
    options: {
      role: {
        type: 'string',
        value: 'R',
        help: `The role: Admin, Operator, Auditor, Default or a custom role. Default: ${usualRole}`,
      },
      ...placeOptions,
    },
    async run(invocation) {
      const name = accountName(invocation.positionals[0]!);
      const { role = usualRole, json } = invocation.options;
      const made = await withGateway(invocation, ({ gateway }) => create(gateway, name, String(role)));
      const { clientId, clientSecret } = made;
      if (json === true) {
        printJson({ id: made.id, unique_name: name, role, client_id: clientId, client_secret: clientSecret });
      } else {
        console.log(`The service account ${name} has been created, with the role ${role}.
client id      ${clientId}
client secret  ${clientSecret}
The secret is shown only once.`);
      }
      return exit.success;
    },
  },
];

function accountName(text: string): string {
  const name = text.trim();
  if (name === '' || name.length > 255 || /[\u0000-\u001f\u007f-\u009f]/.test(name)) {
    throw new UsageError('NAME must have 1 to 255 characters and no control characters');
  }
  return name;
}

async function create(gateway: Gateway, uniqueName: string, roleName: string) {
  const principal = gateway.accounts.operator(operatorName());
  const { id: role } = await gateway.accounts.roleNamed(roleName);
  return gateway.serviceAccounts.create(principal, { uniqueName, role });
}
