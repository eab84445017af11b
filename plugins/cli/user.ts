import type { Actor } from '#core/records/audit-event.ts';
import {
  type Command,
  exit,
  operatorName,
  placeOptions,
  printJson,
  UsageError,
  withGateway,
} from './command.ts';
import { ask } from './terminal.ts';

const fields = { username: 'NAME' };
const details = `On a terminal, the command asks for the password. Otherwise the password is the first line of standard input or, if
that line is empty, POSTERN_ADMIN_PASSWORD. It is never passed on the command line.`;

const temporary = {
  type: 'boolean',
  help: 'Require the user to change the password at the next sign-in',
} as const;

const actor = (): Actor => ({ kind: 'system', id: null, name: operatorName(), address: '' });

export const userCommands: readonly Command[] = [
  {
    name: 'user create',
    positionals: ['NAME'],
    summary: 'Create a user.',
    details,
    fields,
    options: {
      role: {
        type: 'string',
        value: 'R',
        help: 'The role: Admin, Operator, Auditor, Default or a custom role',
      },
      temporary,
      ...placeOptions,
    },
    async run(invocation) {
      const [name] = invocation.positionals;
      const { role, json, temporary } = invocation.options;
      if (typeof role !== 'string') throw new UsageError('--role is missing');
      const password = await readPassword();
      const { id } = await withGateway(invocation, ({ gateway }) =>
        gateway.accounts.createUser(name!, password, role, actor(), temporary === true),
      );
      if (json === true) printJson({ id, username: name, role });
      else console.log(`The user ${name} has been created, with the role ${role}.`);
      return exit.success;
    },
  },
  {
    name: 'user password',
    positionals: ['NAME'],
    summary: "Set a user's password and end the user's sessions.",
    details,
    fields,
    options: { temporary, ...placeOptions },
    async run(invocation) {
      const [name] = invocation.positionals;
      const isTemporary = invocation.options.temporary === true;
      const password = await readPassword();
      await withGateway(invocation, ({ gateway }) =>
        gateway.accounts.setPassword(name!, password, actor(), isTemporary),
      );
      if (invocation.options.json === true) printJson({ username: name, password_set: true });
      else console.log(`The password of ${name} has been set.`);
      return exit.success;
    },
  },
];

async function readPassword(): Promise<string> {
  if (process.stdin.isTTY) {
    const password = await ask('Password: ');
    if ((await ask('Repeat the password: ')) !== password) throw new UsageError('the passwords do not match');
    return password;
  }
  const [line = ''] = (await Bun.stdin.text()).split(/\r?\n/, 1);
  const password = line || process.env.POSTERN_ADMIN_PASSWORD;
  if (!password)
    throw new UsageError('no password: write it to standard input, or set POSTERN_ADMIN_PASSWORD');
  return password;
}
