import { parseArgs } from 'node:util';
import { toFault } from '#core/fault.ts';
import { catalog } from '../catalog.ts';
import { ConfigurationError } from '../host/config.ts';
import type { Place } from '../host/config-file.ts';
import { reason } from '../host/reason.ts';
import { auditCommands } from './audit.ts';
import { backupCommands } from './backup.ts';
import { type Command, exit, printable, UsageError } from './command.ts';
import { deviceCommands } from './device.ts';
import { listCommands } from './list.ts';
import { pluginCommands } from './plugin.ts';
import { serveCommands } from './serve.ts';
import { serviceAccountCommands } from './service-account.ts';
import { userCommands } from './user.ts';

const commands: readonly Command[] = [
  ...serveCommands,
  ...deviceCommands,
  ...userCommands,
  ...serviceAccountCommands,
  ...auditCommands,
  ...backupCommands,
  ...listCommands,
  ...pluginCommands,
];

/** `words` is what the operator wrote after `postern`. Answers the exit status. */
async function main(words: readonly string[]): Promise<number> {
  const [first = '', second = ''] = words;
  const command = commands.find(({ name }) => name === first || name === `${first} ${second}`);
  if (command) return run(command, words.slice(command.name.split(' ').length));

  const group = commands.filter(({ name }) => name.startsWith(`${first} `));
  if (group.length > 0 && second === '--help') return help(overview(group));
  if (['--help', '-h', 'help'].includes(first)) return help(overview(commands));
  if (first !== '')
    console.error(`postern: no such command: ${printable([first, second].join(' ').trim())}\n`);
  console.error(overview(group.length > 0 ? group : commands));
  return exit.usage;
}

function help(text: string): number {
  console.log(text);
  return exit.success;
}

async function run(command: Command, words: readonly string[]): Promise<number> {
  try {
    const { values, positionals } = parse(command, words);
    if (values.help === true) return help(describe(command));
    if (positionals.length !== command.positionals.length) {
      const wanted = command.positionals.join(' ') || 'no arguments';
      throw new UsageError(`takes ${wanted}, ${positionals.length} given`);
    }
    return await command.run({ positionals, options: values, place: placeOf(values), catalog });
  } catch (error) {
    return report(command, error);
  }
}

type Values = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

function parse(command: Command, words: readonly string[]): { values: Values; positionals: string[] } {
  const known = Object.entries(command.options).map(
    ([name, { type, multiple = false }]) => [name, { type, multiple }] as const,
  );
  try {
    const { values, positionals } = parseArgs({
      args: [...words],
      options: { ...Object.fromEntries(known), help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    });
    return { values: values as Values, positionals };
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function placeOf(values: Values): Place {
  const text = (name: string): string | undefined => {
    const value = values[name];
    // As of a variable of a script that is not set.
    if (value === '') throw new UsageError(`--${name} is empty`);
    return typeof value === 'string' ? value : undefined;
  };
  const port = (name: string): number | undefined => {
    const value = text(name);
    if (value === undefined) return undefined;
    if (!/^\d{1,5}$/.test(value) || Number(value) > 65_535)
      throw new UsageError(`--${name} is no port number`);
    return Number(value);
  };
  return {
    data: text('data'),
    config: text('config'),
    httpsPort: port('https-port'),
    httpPort: port('http-port'),
  };
}

function report(command: Command, error: unknown): number {
  if (error instanceof UsageError) {
    console.error(
      `postern ${command.name}: ${error.message}\n\n${usage(command)}\nMore: postern ${command.name} --help`,
    );
    return exit.usage;
  }
  if (error instanceof ConfigurationError) {
    console.error('postern: the configuration is at fault');
    for (const problem of error.problems) console.error(`  ${printable(problem)}`);
    return exit.configuration;
  }
  const fault = toFault(error);
  const { field } = fault;
  const message = reason(fault);
  console.error(`postern: ${printable(field === undefined ? message : `${field}: ${message}`)}`);
  if (fault.hint) console.error(`  ${fault.hint}`);
  return exit.failure;
}

const usage = ({ name, positionals, options }: Command): string =>
  ['Usage: postern', name, ...positionals, Object.keys(options).length > 0 ? '[options]' : '']
    .join(' ')
    .trim();

function overview(listed: readonly Command[]): string {
  const names = listed.map(({ name, positionals }) => [name, ...positionals].join(' '));
  const width = Math.max(...names.map((name) => name.length));
  const lines = listed.map(({ summary }, n) => `  ${names[n]!.padEnd(width)}  ${summary}`);
  return [
    'Usage: postern COMMAND [arguments] [options]',
    '',
    ...lines,
    '',
    'postern COMMAND --help says more. Exit status: 0 done, 1 failed, 2 wrong usage, 78 wrong configuration.',
  ].join('\n');
}

function describe(command: Command): string {
  const options = Object.entries({ ...command.options, help: { value: undefined, help: 'Print this' } });
  const names = options.map(([name, { value }]) =>
    value === undefined ? `--${name}` : `--${name} ${value}`,
  );
  const width = Math.max(...names.map((name) => name.length));
  return [
    usage(command),
    '',
    command.summary,
    ...(command.details === undefined ? [] : ['', command.details]),
    '',
    ...options.map(([, option], n) => `  ${names[n]!.padEnd(width)}  ${option.help}`),
  ].join('\n');
}

process.exit(await main(process.argv.slice(2)));
