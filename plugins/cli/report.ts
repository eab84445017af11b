import { type Fault, toFault } from '#core/fault.ts';
import { ConfigurationError } from '../host/config.ts';
import { reason } from '../host/reason.ts';
import { type Command, exit, printable, UsageError } from './command.ts';
import { usage } from './help.ts';

/** Prints on standard error why a command failed. Returns the exit status. */
export function report(command: Command, error: unknown): number {
  if (error instanceof UsageError) {
    console.error(
      `postern ${command.name}: ${error.message}\n\n${usage(command)}\nMore: postern ${command.name} --help`,
    );
    return exit.usage;
  }
  if (error instanceof ConfigurationError) {
    console.error('postern: invalid configuration:');
    for (const problem of error.problems) console.error(`  ${printable(problem)}`);
    return exit.configuration;
  }
  const fault = toFault(error);
  const message = reason(fault);
  const name = nameOf(command, fault);
  console.error(`postern: ${printable(name === undefined ? message : `${name}: ${message}`)}`);
  if (fault.hint) console.error(`  ${fault.hint}`);
  return exit.failure;
}

/** Returns the name of the field on the command line. */
function nameOf({ fields = {}, options }: Command, { field }: Fault): string | undefined {
  if (field === undefined) return undefined;
  const option = field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return fields[field] ?? (Object.hasOwn(options, option) ? `--${option}` : option.replaceAll('-', ' '));
}
