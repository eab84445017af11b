import { type TSchema, Type } from '@sinclair/typebox';
import type { Condition, Kind, Records } from '#core/ports/store.ts';
import type { Filter } from './description.ts';

type FieldName<K extends Kind> = keyof Records[K] & string;

const day = 24 * 3_600_000;

export const equalText = <K extends Kind>(field: FieldName<K>): Filter<K> => ({
  schema: Type.String(),
  conditions: (text) => [{ field, is: 'equal', value: text.trim() }],
});

export const equalInteger = <K extends Kind>(
  field: FieldName<K>,
  schema: TSchema = Type.Integer(),
): Filter<K> => ({
  schema,
  conditions: (text) =>
    /^-?\d{1,15}$/.test(text) ? [{ field, is: 'equal', value: Number(text) }] : undefined,
});

export const isTrue = <K extends Kind>(field: FieldName<K>): Filter<K> => ({
  schema: Type.Boolean(),
  conditions: (text) => {
    const value = { true: true, '1': true, false: false, '0': false }[text.toLowerCase()];
    return value === undefined ? undefined : [{ field, is: 'equal', value }];
  },
});

/** Upper-case hexadecimal; any case, with or without colons and leading zeros. */
export const equalSerialNumber = <K extends Kind>(field: FieldName<K>): Filter<K> => ({
  schema: Type.String({ description: 'hexadecimal, any case, with or without colons' }),
  conditions: (text) => {
    const digits = text.replaceAll(':', '').trim().toUpperCase();
    if (!/^[0-9A-F]{1,64}$/.test(digits)) return undefined;
    return [{ field, is: 'equal', value: digits.length % 2 === 0 ? digits : `0${digits}` }];
  },
});

/** A moment to the second or finer, or a whole day in UTC. */
export const within = <K extends Kind>(field: FieldName<K>): Filter<K> => ({
  schema: Type.String({ description: 'ISO 8601 date, or date-time in UTC' }),
  conditions: (text) => {
    const match = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d:\d\d)(\.\d{1,6})?(?:Z|\+00:00)?)?$/.exec(text.trim());
    if (!match) return undefined;
    const [, date, time, fraction] = match;
    const from = Date.parse(`${date}T${time ?? '00:00:00'}${fraction?.slice(0, 4) ?? ''}Z`);
    if (Number.isNaN(from)) return undefined;
    const length = fraction ? 1 : time ? 1000 : day;
    const range: Condition<K>[] = [
      { field, is: 'greaterOrEqual', value: from },
      { field, is: 'less', value: from + length },
    ];
    return range;
  },
});
