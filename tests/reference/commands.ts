import { commands } from '#plugins/cli/commands.ts';
import { describe } from '#plugins/cli/help.ts';
import { code, type Parts, table } from './page.ts';

const written = ({ name, positionals }: (typeof commands)[number]): string =>
  [name, ...positionals].join(' ');

/** The tables of `docs/reference/command-line.md`. */
export const commandParts: Parts = {
  commands: table(
    ['Command', 'Meaning'],
    commands.map((command) => [code(written(command)), command.summary]),
  ),
  options: commands
    .map((command) => `### ${code(written(command))}\n\n\`\`\`text\n${describe(command)}\n\`\`\``)
    .join('\n\n'),
};
