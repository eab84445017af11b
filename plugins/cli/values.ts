import { suggestion } from '../host/schema.ts';
import { type Invocation, UsageError } from './command.ts';

type Options = Invocation['options'];

/** The text of an option; undefined where it is not given. */
export function text(options: Options, name: string): string | undefined {
  const value = options[name];
  if (value === '') throw new UsageError(`--${name} is empty`);
  return typeof value === 'string' ? value : undefined;
}

/** A whole number of at least 1, at most `most`. */
export function number(options: Options, name: string, most = 1_000_000_000): number | undefined {
  const value = text(options, name);
  if (value === undefined) return undefined;
  const given = /^\d{1,10}$/.test(value) ? Number(value) : 0;
  if (given < 1 || given > most) throw new UsageError(`--${name} is a number from 1 to ${most}`);
  return given;
}

/** One of some words. */
export function word<W extends string>(options: Options, name: string, words: readonly W[]): W | undefined {
  const value = text(options, name);
  const known = words.find((one) => one === value);
  if (value === undefined || known !== undefined) return known;
  throw new UsageError(`--${name} is one of ${words.join(', ')}${suggestion(value, words)}`);
}
