import { type Command, exit, UsageError } from './command.ts';

/** The command `completion`, which completes `commands()` and itself. */
export const completionCommand = (commands: () => readonly Command[]): Command => ({
  name: 'completion',
  positionals: ['SHELL'],
  summary: 'Print the completion script for bash, zsh or fish.',
  details: `bash: postern completion bash > /etc/bash_completion.d/postern
zsh:  postern completion zsh > /usr/local/share/zsh/site-functions/_postern
fish: postern completion fish > ~/.config/fish/completions/postern.fish`,
  options: {},
  async run({ positionals: [shell = ''] }) {
    const script = scripts[shell];
    if (!script) throw new UsageError(`SHELL must be one of ${Object.keys(scripts).join(', ')}`);
    console.log(script(commands()));
    return exit.success;
  },
});

type Script = (commands: readonly Command[]) => string;

/** The first words of all commands, each with the second words that follow it, and the summary of its command. */
function groupsOf(commands: readonly Command[]): ReadonlyMap<string, readonly Command[]> {
  return Map.groupBy(commands, ({ name }) => name.split(' ')[0]!);
}

const second = ({ name }: Command): string | undefined => name.split(' ')[1];
const flags = ({ options }: Command): string[] =>
  [...Object.keys(options), 'help'].map((name) => `--${name}`);
/** The options whose value is a path. */
const paths = (command: Command): string[] =>
  Object.entries(command.options)
    .filter(([, { value }]) => value === 'FILE' || value === 'DIR')
    .map(([name]) => `--${name}`);

const bash: Script = (commands) => {
  const groups = groupsOf(commands);
  const cases = commands.map(
    (command) =>
      `    '${command.name}') options='${flags(command).join(' ')}'; paths='${paths(command).join(' ')}' ;;`,
  );
  const nested = [...groups]
    .filter(([, members]) => second(members[0]!) !== undefined)
    .map(([group, members]) => `    ${group}) words='${members.map(second).join(' ')}' ;;`);
  return `# bash completion for postern
_postern() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  local first=\${COMP_WORDS[1]} words='' options='' paths=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${[...groups.keys()].join(' ')} --help --version' -- "$current"))
    return
  fi
  case "$first" in
${nested.join('\n')}
  esac
  if [ "$COMP_CWORD" -eq 2 ] && [ -n "$words" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    return
  fi
  local command=$first
  [ -n "$words" ] && command="$first \${COMP_WORDS[2]}"
  case "$command" in
${cases.join('\n')}
  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$current")); return ;;
  esac
  case " $paths " in
    *" $previous "*) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  COMPREPLY=($(compgen -f -- "$current"))
}
complete -o filenames -F _postern postern`;
};

/** For zsh between single quotes: \`_arguments\` and \`_describe\` give \`:\`, \`[\` and \`]\` a meaning. */
const zshText = (text: string): string => text.replaceAll("'", "'\\''").replace(/[[\]:\\]/g, '\\$&');

const zsh: Script = (commands) => {
  const groups = groupsOf(commands);
  const described = (entries: readonly (readonly [string, string])[]): string =>
    entries.map(([word, summary]) => `'${word}:${zshText(summary)}'`).join(' ');
  const first = [...groups].map(([group, members]): [string, string] => [
    group,
    second(members[0]!) === undefined ? members[0]!.summary : members.map(second).join(', '),
  ]);
  const nested = [...groups]
    .filter(([, members]) => second(members[0]!) !== undefined)
    .map(
      ([group, members]) =>
        `    ${group}) second=(${described(members.map((one) => [second(one)!, one.summary]))}) ;;`,
    );
  const cases = commands.map((command) => {
    const specs = Object.entries(command.options).map(([name, { value, help, multiple }]) => {
      const argument =
        value === undefined ? '' : `:${value}:${value === 'FILE' || value === 'DIR' ? '_files' : ' '}`;
      return `'${multiple ? '*' : ''}--${name}[${zshText(help)}]${argument}'`;
    });
    return `    '${command.name}') _arguments ${[...specs, "'--help[Print the help]'", "'*:argument:_files'"].join(' ')} ;;`;
  });
  return `#compdef postern
_postern() {
  local -a first second
  local command=$words[2]
  if (( CURRENT == 2 )); then
    first=(${described(first)})
    _describe command first
    return
  fi
  case "$words[2]" in
${nested.join('\n')}
  esac
  if (( $#second )); then
    if (( CURRENT == 3 )); then
      _describe command second
      return
    fi
    command="$words[2] $words[3]"
  fi
  case "$command" in
${cases.join('\n')}
  esac
}
_postern "$@"`;
};

const fishText = (text: string): string => `'${text.replace(/[\\']/g, '\\$&').replaceAll('\n', ' ')}'`;

const fish: Script = (commands) => {
  const lines = ['# fish completion for postern', 'complete -c postern -f'];
  for (const [group, members] of groupsOf(commands)) {
    const isGroup = second(members[0]!) !== undefined;
    const summary = isGroup ? members.map(second).join(', ') : members[0]!.summary;
    lines.push(`complete -c postern -n __fish_use_subcommand -a ${group} -d ${fishText(summary)}`);
    for (const command of members) {
      const word = second(command);
      const others = members.map(second).join(' ');
      if (word !== undefined) {
        const when = `__fish_seen_subcommand_from ${group}; and not __fish_seen_subcommand_from ${others}`;
        lines.push(`complete -c postern -n ${fishText(when)} -a ${word} -d ${fishText(command.summary)}`);
      }
      const when = `__fish_seen_subcommand_from ${group}${word === undefined ? '' : `; and __fish_seen_subcommand_from ${word}`}`;
      for (const [name, { value, help }] of Object.entries(command.options)) {
        const argument = value === undefined ? '' : value === 'FILE' || value === 'DIR' ? ' -r -F' : ' -x';
        lines.push(`complete -c postern -n ${fishText(when)} -l ${name}${argument} -d ${fishText(help)}`);
      }
      if (command.positionals.some((name) => name.includes('FILE')))
        lines.push(`complete -c postern -n ${fishText(when)} -F`);
    }
  }
  return lines.join('\n');
};

const scripts: Readonly<Record<string, Script>> = { bash, zsh, fish };
