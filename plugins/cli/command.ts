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

/** The command line is wrong. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The parsed arguments of a command. */
export interface Invocation {
  readonly positionals: readonly string[];
  readonly options: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
  readonly place: Place;
  readonly catalog: readonly Plugin[];
}

export interface Option {
  readonly type: ParseArgsOptionsConfig[string]['type'];
  /** The placeholder for the option's value in the help text: `DIR`. */
  readonly value?: string;
  /** The option may be repeated; its value is a list. */
  readonly multiple?: true;
  readonly help: string;
}

/** One command of the command line. */
export interface Command {
  /** `device add` */
  readonly name: string;
  /** The names of the positional arguments. Names in brackets are optional. */
  readonly positionals: readonly string[];
  /** One line for the list of commands. */
  readonly summary: string;
  /** Further text for `--help`. */
  readonly details?: string;
  readonly options: Readonly<Record<string, Option>>;
  /** Maps the field that a Fault names to its name on the command line. Default: the option of the same name. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Prints the result on standard output and returns the exit status. */
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
  help: 'The configuration file. Default: postern.toml in this directory or in the data directory',
};
export const jsonOption: Option = { type: 'boolean', help: 'Print JSON' };
/** The options of every command that works on an installation. */
export const placeOptions = { json: jsonOption, data: dataOption, config: configOption } as const;
export const limitOption: Option = { type: 'string', value: 'N', help: 'Print at most N' };

/** An opened installation, for commands that need more than the configuration. */
export interface Opened extends Addresses {
  readonly gateway: Gateway;
  /** An operator who can read the data directory has all permissions; the audit trail records the account name. */
  readonly principal: Principal;
  readonly loaded: LoadedConfiguration;
}

/**
 * Opens the store and the key stores while `use` runs; a server may be running at the same time. Fault notFound if the
 * directory holds no installation: an empty list or backup would hide a wrong --data.
 */
export async function withGateway<T>(
  { place, catalog }: Invocation,
  use: (opened: Opened) => Promise<T>,
  options: Pick<ServiceOptions, 'sealWithNew'> = {},
): Promise<T> {
  const loaded = await loadConfiguration(place, catalog);
  demandInstallation(loaded);
  await using stack = new AsyncDisposableStack();
  const working = progress('opening the store and the key stores');
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
  // The first start creates this file before anything else, also if the store and the keys are elsewhere.
  if (statSync(join(dataDirectory, 'master.json'), { throwIfNoEntry: false })) return;
  throw new Fault('notFound', `${dataDirectory} is not a data directory of Postern`, {
    hint: 'Name the data directory with --data. `postern serve` creates one, `postern restore` restores one.',
  });
}

/** Shows `what` on a terminal if the work takes longer than 300 ms. */
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

/** The actor for the audit trail: the account that runs the command. */
export const operatorName = (): string =>
  `command line (${process.env.SUDO_USER ?? process.env.USER ?? 'unknown'})`;

export const printJson = (value: unknown): void => console.log(JSON.stringify(value, undefined, 2));

/** Prints rows as aligned columns under their titles. */
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

/** Prints one record, a line for each member. */
export function printFacts(record: Readonly<Record<string, string | number | boolean | null>>): void {
  const width = Math.max(...Object.keys(record).map((name) => name.length));
  for (const [name, value] of Object.entries(record)) {
    console.log(`${name.replaceAll('_', ' ').padEnd(width)}  ${printable(String(value ?? '-'))}`);
  }
}

/** Replaces control and bidirectional characters: records hold text from clients, which must not control the terminal. */
export const printable = (text: string): string =>
  text.replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, '\ufffd');
