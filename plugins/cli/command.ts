import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { ParseArgsOptionsConfig } from 'node:util';
import type { Principal } from '#core/access/principal.ts';
import { Fault } from '#core/fault.ts';
import type { Gateway } from '#core/gateway.ts';
import type { Place } from '../host/config-file.ts';
import { type LoadedConfiguration, loadConfiguration } from '../host/config-file.ts';
import type { Addresses, ServiceOptions } from '../host/service.ts';
import type { Plugin } from '../kit/contract.ts';

/** Exit statuses; `configuration` is EX_CONFIG of sysexits(3). */
export const exit = { success: 0, failure: 1, usage: 2, configuration: 78 } as const;

/** The command line itself is at fault. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What a command is called with, parsed. */
export interface Invocation {
  readonly positionals: readonly string[];
  readonly options: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
  readonly place: Place;
  readonly catalog: readonly Plugin[];
}

export interface Option {
  readonly type: ParseArgsOptionsConfig[string]['type'];
  /** What stands after the option, for help: `DIR`. */
  readonly value?: string;
  /** It may stand there more than once: its value is a list. */
  readonly multiple?: true;
  readonly help: string;
}

/** One command of the command line. */
export interface Command {
  /** `device add` */
  readonly name: string;
  /** The names of its positional arguments: all are needed, but for one in brackets. */
  readonly positionals: readonly string[];
  /** One line. */
  readonly summary: string;
  /** What else there is to know. */
  readonly details?: string;
  readonly options: Readonly<Record<string, Option>>;
  /** Fields of the core that a Fault may name → what they are called on the command line; default: the option of that name. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Answers the exit status. Prints its result on standard output. */
  run(invocation: Invocation): Promise<number>;
}

export const dataOption: Option = {
  type: 'string',
  value: 'DIR',
  help: 'The data directory. Default: ./data',
};
export const configOption: Option = {
  type: 'string',
  value: 'FILE',
  help: 'The configuration. Default: postern.toml here or in the data directory, if there is one',
};
export const jsonOption: Option = { type: 'boolean', help: 'Print JSON' };
/** What every command takes that works on an installation. */
export const placeOptions = { json: jsonOption, data: dataOption, config: configOption } as const;
export const limitOption: Option = { type: 'string', value: 'N', help: 'Print at most N' };

/** What a command works with when it needs more than the configuration. */
export interface Opened extends Addresses {
  readonly gateway: Gateway;
  /** Whoever may read the data directory may do everything; the audit trail has their name. */
  readonly principal: Principal;
  readonly loaded: LoadedConfiguration;
}

/**
 * Opens the store and the keys, beside a running server or without one, for as long as `use` takes. Fault notFound where nothing
 * has been made yet: a list or a backup of nothing would look as if all were well.
 */
export async function withGateway<T>(
  { place, catalog }: Invocation,
  use: (opened: Opened) => Promise<T>,
  options: Pick<ServiceOptions, 'sealWithNew'> = {},
): Promise<T> {
  const loaded = await loadConfiguration(place, catalog);
  demandInstallation(loaded);
  await using stack = new AsyncDisposableStack();
  const working = progress('opening the store and the keys');
  try {
    const { openService, rememberedAddresses } = await import('../host/service.ts');
    const known = rememberedAddresses(loaded);
    const service = await openService(loaded, known, { ...options, logToStderr: false }, stack);
    working.done();
    const { gateway } = service;
    return await use({ ...known, gateway, principal: gateway.accounts.operator(operatorName()), loaded });
  } finally {
    working.done();
  }
}

function demandInstallation({ dataDirectory }: LoadedConfiguration): void {
  // What the first start makes first, wherever the store and the keys are.
  if (statSync(join(dataDirectory, 'master.json'), { throwIfNoEntry: false })) return;
  throw new Fault('notFound', `${dataDirectory} is not a data directory of Postern`, {
    hint: 'Say where it is with --data. `postern serve` makes one, and `postern restore` brings one back.',
  });
}

/** Says on a terminal what takes so long, if it does. */
function progress(what: string): { done(): void } {
  if (!process.stderr.isTTY) return { done() {} };
  let shown = false;
  const timer = setTimeout(() => {
    shown = true;
    process.stderr.write(`${what} …`);
  }, 300);
  return {
    done() {
      clearTimeout(timer);
      if (shown) process.stderr.write('\r\u001b[K');
      shown = false;
    },
  };
}

/** Who does it, for the audit trail: whoever may read the data directory, by the name of the account. */
export const operatorName = (): string =>
  `command line (${process.env.SUDO_USER ?? process.env.USER ?? 'unknown'})`;

export const printJson = (value: unknown): void => console.log(JSON.stringify(value, undefined, 2));

/** Rows in columns, under their titles. */
export function printTable(titles: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  const lines = [titles, ...rows].map((row) => row.map((cell) => printable(String(cell))));
  const widths = titles.map((_, n) => Math.max(...lines.map((line) => line[n]!.length)));
  for (const line of lines)
    console.log(
      line
        .map((cell, n) => cell.padEnd(widths[n]!))
        .join('  ')
        .trimEnd(),
    );
}

/** One record: a line for each member. */
export function printFacts(record: Readonly<Record<string, string | number | boolean | null>>): void {
  const width = Math.max(...Object.keys(record).map((name) => name.length));
  for (const [name, value] of Object.entries(record)) {
    console.log(`${name.replaceAll('_', ' ').padEnd(width)}  ${printable(String(value ?? '-'))}`);
  }
}

/** What stands in a record came from outside: nothing in it may speak to the terminal. */
export const printable = (text: string): string =>
  text.replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, '\ufffd');
