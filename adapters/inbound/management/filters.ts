import { type TSchema, Type } from '@sinclair/typebox';
import type { Kind, Records } from '#core/ports/store.ts';
import type { Filter } from './description.ts';
import { reference } from './fields.ts';
import { truths } from './query-parameter.ts';

type FieldName<K extends Kind> = keyof Records[K] & string;

const day = 24 * 3_600_000;

/** No text that a filter compares with is longer. */
const longestText = 300;

export const equalText = <K extends Kind>(field: FieldName<K>): Filter<K> => ({
  schema: Type.String({ maxLength: longestText }),
  conditions: (text) => [{ field, is: 'equal', value: text }],
});

/** One of the values that the field can have. */
export const equalChoice = <K extends Kind>(field: FieldName<K>, values: readonly string[]): Filter<K> => ({
  schema: Type.String({ enum: [...values] }),
  conditions: (text) => [{ field, is: 'equal', value: text }],
});

/** One of some values, or several of them with commas between. */
export const oneOfTexts = <K extends Kind>(field: FieldName<K>, values: readonly string[]): Filter<K> => ({
  schema: Type.Array(Type.String({ enum: [...values] }), {
    minItems: 1,
    description: 'one of these values, or several, separated by commas',
  }),
  conditions: (text) => [{ field, is: 'oneOf', value: text.split(',').map((one) => one.trim()) }],
});

/** An integer; unless `schema` says otherwise, the id of another record. */
export const equalInteger = <K extends Kind>(
  field: FieldName<K>,
  schema: TSchema = reference('id of the record'),
): Filter<K> => ({
  schema,
  conditions: (text) => [{ field, is: 'equal', value: Number(text) }],
});

export const isTrue = <K extends Kind>(field: FieldName<K>): Filter<K> => ({
  schema: Type.Boolean(),
  conditions: (text) => [{ field, is: 'equal', value: truths.get(text.toLowerCase())! }],
});

/** As serial numbers are stored: upper-case hexadecimal, whole octets; any case, with or without colons and leading zeros. */
export const equalSerialNumber = <K extends Kind>(field: FieldName<K>): Filter<K> => ({
  schema: Type.String({
    pattern: '^:*(?:[0-9A-Fa-f]:*){1,64}$',
    description: 'hexadecimal, any case, with or without colons',
  }),
  conditions: (text) => {
    const given = text.replaceAll(':', '').toUpperCase();
    const digits = given.replace(/^0+/, '') || '0';
    return [{ field, is: 'equal', value: digits.length % 2 === 0 ? digits : `0${digits}` }];
  },
});

/** Text that stands somewhere in the field, after `written` has written it as it is stored. */
export const contains = <K extends Kind>(
  field: FieldName<K>,
  description: string,
  written: (text: string) => string,
): Filter<K> => ({
  schema: Type.String({ maxLength: longestText, description }),
  conditions: (text) => [{ field, is: 'contains', value: written(text) }],
});

const momentPattern = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d:\d\d)(\.\d{1,6})?(?:Z|\+00:00)?)?$/;

const momentSchema = (description: string) =>
  Type.String({
    pattern: momentPattern.source,
    description: `${description}ISO 8601 date, or date-time in UTC`,
  });

/** A moment to the second or finer, or a whole day in UTC: where it begins, and how long it is, in milliseconds. */
function moment(text: string): { readonly begins: number; readonly length: number } | undefined {
  const match = momentPattern.exec(text);
  if (!match) return undefined;
  const [, date, time, fraction] = match;
  const begins = Date.parse(`${date}T${time ?? '00:00:00'}${fraction?.slice(0, 4) ?? ''}Z`);
  // Date.parse takes the 31st of February for the 3rd of March.
  if (Number.isNaN(begins) || !new Date(begins).toISOString().startsWith(date!)) return undefined;
  return { begins, length: fraction ? 1 : time ? 1000 : day };
}

/** In that moment or on that day. */
export const within = <K extends Kind>(field: FieldName<K>): Filter<K> => ({
  schema: momentSchema(''),
  conditions: (text) => {
    const found = moment(text);
    return (
      found && [
        { field, is: 'greaterOrEqual', value: found.begins },
        { field, is: 'less', value: found.begins + found.length },
      ]
    );
  },
});

/** Then or later. */
export const from = <K extends Kind>(field: FieldName<K>): Filter<K> => ({
  schema: momentSchema('then or later: '),
  conditions: (text) => {
    const found = moment(text);
    return found && [{ field, is: 'greaterOrEqual', value: found.begins }];
  },
});

/** Then or earlier: a day is meant whole. */
export const until = <K extends Kind>(field: FieldName<K>): Filter<K> => ({
  schema: momentSchema('then or earlier: '),
  conditions: (text) => {
    const found = moment(text);
    return found && [{ field, is: 'less', value: found.begins + found.length }];
  },
});
