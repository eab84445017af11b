import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suggestion } from '../host/schema.ts';
import type { Command } from './command.ts';

export const usage = ({ name, positionals, options }: Command): string =>
  ['Usage: postern', name, ...positionals, Object.keys(options).length > 0 ? '[options]' : '']
    .join(' ')
    .trim();

/** Returns the list of commands, one line each. */
export function overview(listed: readonly Command[]): string {
  const names = listed.map(({ name, positionals }) => [name, ...positionals].join(' '));
  const width = Math.max(...names.map((name) => name.length));
  const lines = listed.map(({ summary }, n) => `  ${names[n]!.padEnd(width)}  ${summary}`);
  return [
    'Usage: postern COMMAND [arguments] [options]',
    '',
    ...lines,
    '',
    'postern COMMAND --help describes a command; postern --version prints the version.',
    'Exit status: 0 success, 1 failure, 2 usage error, 78 configuration error.',
  ].join('\n');
}

/** Returns the help text of a command. */
export function describe(command: Command): string {
  const options = Object.entries({ ...command.options, help: { value: undefined, help: 'Print this help' } });
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

/** Returns ` (did you mean "device list"?)` if a command is similar to the given words, else ''. */
export function commandSuggestion(first: string, second: string, commands: readonly Command[]): string {
  const names = commands.map(({ name }) => name);
  const groups = [...new Set(names.map((name) => name.split(' ')[0]!))];
  const [group] = groups.includes(first) ? [first] : groups.filter((one) => suggestion(first, [one]) !== '');
  // The second word is compared alone: after a long first word, nearly every short second word would be similar.
  const within = names.filter((name) => name.startsWith(`${group} `)).map((name) => name.split(' ')[1]!);
  if (group === undefined) return '';
  const close = within.includes(second) ? second : /"(.*)"/.exec(suggestion(second, within))?.[1];
  if (close !== undefined) return ` (did you mean "${group} ${close}"?)`;
  return group === first ? '' : ` (did you mean "${group}"?)`;
}

/** Returns the version in package.json. */
export const version = (): string =>
  JSON.parse(readFileSync(join(import.meta.dir, '../../package.json'), 'utf8')).version;
