import { suggestion } from '../host/schema.ts';
import type { Command } from './command.ts';

export const usage = ({ name, positionals, options }: Command): string =>
  ['Usage: postern', name, ...positionals, Object.keys(options).length > 0 ? '[options]' : '']
    .join(' ')
    .trim();

/** What there is, a line for each command. */
export function overview(listed: readonly Command[]): string {
  const names = listed.map(({ name, positionals }) => [name, ...positionals].join(' '));
  const width = Math.max(...names.map((name) => name.length));
  const lines = listed.map(({ summary }, n) => `  ${names[n]!.padEnd(width)}  ${summary}`);
  return [
    'Usage: postern COMMAND [arguments] [options]',
    '',
    ...lines,
    '',
    'postern COMMAND --help says more; postern --version prints the version.',
    'Exit status: 0 done, 1 failed, 2 wrong usage, 78 wrong configuration.',
  ].join('\n');
}

/** All there is to say of one command. */
export function describe(command: Command): string {
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

/** ` (did you mean "device list"?)` where a command is close to what was written. */
export function commandSuggestion(first: string, second: string, commands: readonly Command[]): string {
  const names = commands.map(({ name }) => name);
  const groups = [...new Set(names.map((name) => name.split(' ')[0]!))];
  const [group] = groups.includes(first) ? [first] : groups.filter((one) => suggestion(first, [one]) !== '');
  // A short second word is judged by itself: beside a long first one nearly every word would be close.
  const within = names.filter((name) => name.startsWith(`${group} `)).map((name) => name.split(' ')[1]!);
  if (group === undefined) return '';
  const close = within.includes(second) ? second : /"(.*)"/.exec(suggestion(second, within))?.[1];
  if (close !== undefined) return ` (did you mean "${group} ${close}"?)`;
  return group === first ? '' : ` (did you mean "${group}"?)`;
}
