import { kept } from './kept.ts';

export const languages = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof languages;

const ofBrowser = navigator.languages
  .map((tag) => tag.slice(0, 2).toLowerCase())
  .find((tag): tag is Language => tag in languages);

/** What everything is written in. */
export const language = kept<Language>('language', ['en', 'de'], ofBrowser ?? 'en');

/** A sentence, with `{name}` where a value goes; or two of them, of which `{n}` decides. */
export type Message = string | { readonly one: string; readonly other: string };
type Values = Readonly<Record<string, string | number>>;
type Translation<E> = { readonly [K in keyof E]: E[K] extends string ? string : Message };

/** A catalogue whose keys come from elsewhere: undefined for one that it has not. `keys`: those that it has. */
export function meanings<const E extends Readonly<Record<string, string>>>(en: E, de: Translation<E>) {
  const say = messages(en, de);
  const meaning = (key: string): string | undefined => (Object.hasOwn(en, key) ? say(key) : undefined);
  return Object.assign(meaning, { keys: Object.keys(en) });
}

/**
 * Messages in both languages: what one has and the other has not does not compile. The function that is answered says them in
 * the language of the moment; components that call it are drawn again when it changes.
 */
export function messages<const E extends Readonly<Record<string, Message>>>(en: E, de: Translation<E>) {
  const all: Readonly<Record<Language, Readonly<Record<keyof E, Message>>>> = { en, de };
  return (key: keyof E, values: Values = {}): string => {
    const message = all[language.value][key];
    const text =
      typeof message === 'string'
        ? message
        : message[new Intl.PluralRules(language.value).select(Number(values.n)) === 'one' ? 'one' : 'other'];
    return filled(text, values);
  };
}

/** Braces around anything else than a name of `values` are text: a hint may show a pattern such as `[0-9]{6}`. */
const filled = (text: string, values: Values): string =>
  text.replace(/\{(\w+)\}/g, (written, name: string) => {
    if (!Object.hasOwn(values, name)) return written;
    const value = values[name] ?? '';
    return typeof value === 'number' ? number(value) : value;
  });

/** Where no language of the browser is the one in use: a day before its month, and 24 hours. */
const fallbacks: Readonly<Record<Language, string>> = { en: 'en-GB', de: 'de-DE' };

/** The browser's own variant of the language in use, such as `en-GB`: it decides how dates and numbers are written. */
const locale = (): string =>
  navigator.languages.find((tag) => isLocale(tag) && tag.split('-')[0]?.toLowerCase() === language.value) ??
  fallbacks[language.value];

/** Some browsers tell what no format takes: `en-US@posix`. */
const isLocale = (tag: string): boolean => /^[a-z]{2,3}(?:-[a-z0-9]{1,8})*$/i.test(tag);

export const number = (value: number): string => new Intl.NumberFormat(locale()).format(value);

const magnitudes = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;

/** A size in octets: `1.4 MB`. */
export function bytes(size: number): string {
  const power = Math.min(magnitudes.length - 1, Math.floor(Math.log10(Math.max(1, size)) / 3));
  return new Intl.NumberFormat(locale(), {
    style: 'unit',
    unit: magnitudes[power] ?? 'byte',
    maximumFractionDigits: power === 0 ? 0 : 1,
  }).format(size / 1000 ** power);
}

/** Of the API, which leaves out the zone: UTC. */
export const moment = (text: string): Date => new Date(/(?:Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`);

/** A moment in the reader's time zone, which is named: `22 Nov 2026, 14:05 CET`. */
export const dateTime = (at: Date): string =>
  new Intl.DateTimeFormat(locale(), {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  }).format(at);

/** The same to the second, with the name of the zone, and in UTC as certificates and logs have it. */
export const exactTime = (at: Date): string =>
  `${new Intl.DateTimeFormat(locale(), { dateStyle: 'full', timeStyle: 'full' }).format(at)} (${at.toISOString()})`;

export const date = (at: Date): string => new Intl.DateTimeFormat(locale(), { dateStyle: 'long' }).format(at);

/** A day of a chart: `24 Nov`. */
export const shortDay = (at: Date): string =>
  new Intl.DateTimeFormat(locale(), { day: 'numeric', month: 'short' }).format(at);

/** The day of a moment in the reader's time zone, as inputs and queries write it: `2026-11-24`. */
export const isoDay = (at: Date): string =>
  [at.getFullYear(), at.getMonth() + 1, at.getDate()].map((one) => String(one).padStart(2, '0')).join('-');

/** The reader's time zone: `Europe/Berlin`. */
export const timeZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

const steps: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];

/** `in 3 days`, `2 hours ago`. */
export function fromNow(at: Date): string {
  const seconds = Math.round((at.getTime() - Date.now()) / 1000);
  const format = new Intl.RelativeTimeFormat(locale(), { numeric: 'auto' });
  const [unit, length] = steps.find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1];
  return format.format(Math.trunc(seconds / length), unit);
}
