import { suggestion } from '../host/schema.ts';
import { type Invocation, UsageError } from './command.ts';

type Options = Invocation['options'];

/** Returns the text of an option; undefined if it is not given. */
export function text(options: Options, name: string): string | undefined {
  const value = options[name];
  if (value === '') throw new UsageError(`--${name} is empty`);
  return typeof value === 'string' ? value : undefined;
}

/** Returns a whole number from 1 to `most`; undefined if the option is not given. */
export function number(options: Options, name: string, most = 1_000_000_000): number | undefined {
  const value = text(options, name);
  if (value === undefined) return undefined;
  const given = /^\d{1,10}$/.test(value) ? Number(value) : 0;
  if (given < 1 || given > most) throw new UsageError(`--${name} must be a number from 1 to ${most}`);
  return given;
}

/** Returns one of the allowed words; undefined if the option is not given. */
export function word<W extends string>(options: Options, name: string, words: readonly W[]): W | undefined {
  const value = text(options, name);
  const known = words.find((one) => one === value);
  if (value === undefined || known !== undefined) return known;
  throw new UsageError(`--${name} must be one of ${words.join(', ')}${suggestion(value, words)}`);
}

/** Splits a search text into its words. */
export const wordsOf = (text: string | undefined): readonly string[] =>
  (text ?? '').split(/\s+/).filter((word) => word !== '');
