import { Fault } from '../fault.ts';
import { tag } from './tag.ts';

/**
 * Parses the contents of a time: with seconds, zone Z, no fractions (RFC 5280 §4.1.2.5). Returns milliseconds since
 * 1970. Faults: malformed.
 */
export function parseTime(which: number, text: string): number {
  const yearDigits = which === tag.utcTime ? 2 : 4;
  if (text.length !== yearDigits + 11 || !text.endsWith('Z'))
    throw new Fault('malformed', 'DER: the time is not valid');
  const given = number(text, 0, yearDigits);
  const year = yearDigits === 4 ? given : given < 50 ? 2000 + given : 1900 + given;
  const month = number(text, yearDigits, 2);
  const day = number(text, yearDigits + 2, 2);
  const hour = number(text, yearDigits + 4, 2);
  const minute = number(text, yearDigits + 6, 2);
  const second = number(text, yearDigits + 8, 2);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (!exists || hour > 23 || minute > 59 || second > 59)
    throw new Fault('malformed', 'DER: this date or time does not exist');
  return date.getTime() + ((hour * 60 + minute) * 60 + second) * 1000;
}

function number(text: string, at: number, digits: number): number {
  let value = 0;
  for (let i = at; i < at + digits; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (!(digit >= 0 && digit <= 9)) throw new Fault('malformed', 'DER: the time is not valid');
    value = value * 10 + digit;
  }
  return value;
}

/**
 * Formats a time as RFC 5280 §4.1.2.5 prescribes: UTCTime through 2049, GeneralizedTime from 2050. Faults: malformed.
 */
export function formatTime(milliseconds: number): { readonly tag: number; readonly text: string } {
  const text = formatGeneralizedTime(milliseconds);
  return text >= '1950' && text < '2050'
    ? { tag: tag.utcTime, text: text.slice(2) }
    : { tag: tag.generalizedTime, text };
}

/** Formats a time as YYYYMMDDHHMMSSZ, without the fraction of the second. Faults: malformed. */
export function formatGeneralizedTime(milliseconds: number): string {
  const date = new Date(milliseconds);
  const year = date.getUTCFullYear();
  if (!(year >= 0 && year <= 9999))
    throw new Fault('malformed', 'the time is outside the range that certificates can hold');
  return `${two(Math.floor(year / 100))}${two(year % 100)}${two(date.getUTCMonth() + 1)}${two(date.getUTCDate())}${two(date.getUTCHours())}${two(date.getUTCMinutes())}${two(date.getUTCSeconds())}Z`;
}

const two = (n: number): string => (n < 10 ? `0${n}` : `${n}`);

/** Drops the fraction of the second, because times in certificates have none. */
export const wholeSecond = (milliseconds: number): number => Math.floor(milliseconds / 1000) * 1000;

/** Whether `now` is after the validity period, which includes the second of notAfter (RFC 5280 §4.1.2.5). */
export const hasExpired = (notAfter: number, now: number): boolean => !(wholeSecond(now) <= notAfter);
