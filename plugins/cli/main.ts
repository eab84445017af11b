import { parseArgs } from 'node:util';
import { catalog } from '../catalog.ts';
import type { Place } from '../host/config-file.ts';
import { suggestion } from '../host/schema.ts';
import { type Command, exit, printable, UsageError } from './command.ts';
import { commands } from './commands.ts';
import { commandSuggestion, describe, overview, version } from './help.ts';
import { report } from './report.ts';

const help = ['--help', '-h', 'help'];

/** Runs the command named by `words`, the arguments of `postern`. Returns the exit status. */
async function main(words: readonly string[]): Promise<number> {
  const [first = '', second = '', third = ''] = words;
  if (first === 'help' && second !== '') return main([second, third, '--help'].filter((word) => word !== ''));
  const command = commands.find(({ name }) => name === first || name === `${first} ${second}`);
  if (command) return run(command, words.slice(command.name.split(' ').length));

  const group = commands.filter(({ name }) => name.startsWith(`${first} `));
  if (group.length > 0 && help.includes(second)) return print(overview(group));
  if (help.includes(first)) return print(overview(commands));
  if (first === '--version' || first === 'version') return print(`postern ${version()}`);
  if (first !== '' && (group.length === 0 || second !== '')) {
    const written = printable([first, second].join(' ').trim());
    console.error(`postern: no such command: ${written}${commandSuggestion(first, second, commands)}\n`);
  }
  console.error(overview(group.length > 0 ? group : commands));
  return exit.usage;
}

function print(text: string): number {
  console.log(text);
  return exit.success;
}

async function run(command: Command, words: readonly string[]): Promise<number> {
  try {
    const { values, positionals } = parse(command, words);
    if (values.help === true) return print(describe(command));
    const optional = command.positionals.filter((name) => name.startsWith('[')).length;
    const most = command.positionals.length;
    if (positionals.length < most - optional || positionals.length > most) {
      const wanted = command.positionals.join(' ') || 'no arguments';
      throw new UsageError(`takes ${wanted}, but ${positionals.length} given`);
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
    const { message } = error as Error;
    const [, unknown] = /^Unknown option '(-[^']*)'/.exec(message) ?? [];
    if (unknown === undefined) throw new UsageError(message);
    const names = [...Object.keys(command.options), 'help'].map((name) => `--${name}`);
    throw new UsageError(`Unknown option '${printable(unknown)}'${suggestion(unknown, names)}`);
  }
}

function placeOf(values: Values): Place {
  const text = (name: string): string | undefined => {
    const value = values[name];
    // An unset variable in a script gives an empty value.
    if (value === '') throw new UsageError(`--${name} is empty`);
    return typeof value === 'string' ? value : undefined;
  };
  const port = (name: string): number | undefined => {
    const value = text(name);
    if (value === undefined) return undefined;
    if (!/^\d{1,5}$/.test(value) || Number(value) > 65_535)
      throw new UsageError(`--${name} must be a port number from 0 to 65535`);
    return Number(value);
  };
  return {
    data: text('data'),
    config: text('config'),
    httpsPort: port('https-port'),
    httpPort: port('http-port'),
  };
}

process.exit(await main(process.argv.slice(2)));
