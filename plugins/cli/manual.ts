import { type Command, exit } from './command.ts';
import { usage, version } from './help.ts';

/** The command `manual`, which prints the manual page of `commands()`. */
export const manualCommand = (commands: () => readonly Command[]): Command => ({
  name: 'manual',
  positionals: [],
  summary: 'Print the manual page (troff).',
  details: 'postern manual > /usr/local/share/man/man1/postern.1; then man postern shows it.',
  options: {},
  async run() {
    console.log(page(commands()));
    return exit.success;
  },
});

const environment: readonly (readonly [string, string])[] = [
  [
    'POSTERN_ADMIN_PASSWORD',
    'The password of the user admin at the first start; also for user create and user password.',
  ],
  ['POSTERN_BACKUP_PASSPHRASE', 'The passphrase for backup and restore.'],
  ['POSTERN_TLS_PASSWORD', 'The password of the PKCS#12 file for tls set.'],
];
const files: readonly (readonly [string, string])[] = [
  [
    'postern.toml',
    'The configuration: in the working directory, in the data directory, or where --config says.',
  ],
  ['data', 'The data directory: database, key files, master key and logs. See --data.'],
];
const statuses: readonly (readonly [string, string])[] = [
  [String(exit.success), 'Success.'],
  [String(exit.failure), 'Failure.'],
  [String(exit.usage), 'The command line is wrong.'],
  [String(exit.configuration), 'The configuration is wrong.'],
];

function page(commands: readonly Command[]): string {
  return [
    `.TH POSTERN 1 "" "Postern ${text(version())}" "User Commands"`,
    '.SH NAME',
    'postern \\- PKI gateway for CMP, EST and REST',
    '.SH SYNOPSIS',
    '.B postern',
    '.I COMMAND',
    '[arguments] [options]',
    '.SH DESCRIPTION',
    text(
      'Postern certifies devices over CMP, EST and REST, with CAs of its own or through an upstream CA. The command serve runs the gateway; the other commands work on the same data, beside the running gateway or without it.',
    ),
    '.SH COMMANDS',
    ...commands.flatMap(ofCommand),
    '.SH ENVIRONMENT',
    ...environment.flatMap(entry),
    '.SH FILES',
    ...files.flatMap(entry),
    '.SH "EXIT STATUS"',
    ...statuses.flatMap(entry),
  ].join('\n');
}

function ofCommand(command: Command): readonly string[] {
  const { summary, details, options } = command;
  return [
    `.SS "${text(usage(command).replace('Usage: ', ''))}"`,
    text(summary),
    ...(details === undefined ? [] : ['.PP', '.nf', ...details.split('\n').map(text), '.fi']),
    ...Object.entries(options).flatMap(([name, { value, help }]) => [
      '.TP',
      value === undefined ? `.B ${text(`--${name}`)}` : `.BI "${text(`--${name}`)} " ${text(value)}`,
      text(help),
    ]),
  ];
}

const entry = ([term, meaning]: readonly [string, string]): readonly string[] => [
  '.TP',
  `.B ${text(term)}`,
  text(meaning),
];

/** For troff: no escapes, no requests at the beginning of a line, hyphens that can be copied. */
const text = (given: string): string =>
  given.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('"', '\\(dq').replace(/^[.']/, '\\&$&');
