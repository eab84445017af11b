import { Fault } from '../fault.ts';
import { tag } from './tag.ts';

const utcForm = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/;
const generalizedForm = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/;

/** Seconds always, zone always Z, no fractions (RFC 5280 §4.1.2.5). Milliseconds since 1970. Faults: malformed. */
export function parseTime(which: number, text: string): number {
  const match = (which === tag.utcTime ? utcForm : generalizedForm).exec(text);
  if (!match) throw new Fault('malformed', 'DER: bad time');
  const [year, month, day, hour, minute, second] = match.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const full = which === tag.utcTime ? (year < 50 ? 2000 + year : 1900 + year) : year;
  const date = new Date(0);
  date.setUTCFullYear(full, month - 1, day);
  date.setUTCHours(hour, minute, second);
  const valid =
    date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24 && minute < 60 && second < 60;
  if (!valid) throw new Fault('malformed', 'DER: no such time');
  return date.getTime();
}

/** The form that RFC 5280 §4.1.2.5 prescribes: UTCTime through 2049, GeneralizedTime from 2050. Faults: malformed. */
export function formatTime(milliseconds: number): { readonly tag: number; readonly text: string } {
  const text = formatGeneralizedTime(milliseconds);
  return text >= '1950' && text < '2050'
    ? { tag: tag.utcTime, text: text.slice(2) }
    : { tag: tag.generalizedTime, text };
}

/** YYYYMMDDHHMMSSZ; the fraction of the second is cut off. Faults: malformed. */
export function formatGeneralizedTime(milliseconds: number): string {
  const date = new Date(milliseconds);
  const year = date.getUTCFullYear();
  if (!(year >= 0 && year <= 9999)) throw new Fault('malformed', 'time out of range');
  return `${two(Math.floor(year / 100))}${two(year % 100)}${two(date.getUTCMonth() + 1)}${two(date.getUTCDate())}${two(date.getUTCHours())}${two(date.getUTCMinutes())}${two(date.getUTCSeconds())}Z`;
}

const two = (n: number): string => (n < 10 ? `0${n}` : `${n}`);
