import { type TSchema, Type } from '@sinclair/typebox';
import type { Kind, Records } from '#core/ports/store.ts';
import type { Filter } from './description.ts';
import { reference } from './fields.ts';
import { truths } from './query-parameter.ts';

type FieldName<K extends Kind> = keyof Records[K] & string;

const day = 24 * 3_600_000;

/** The maximum length of a text to compare with. */
const longestText = 300;

export const equalText = <K extends Kind>(field: FieldName<K>): Filter<K> => ({
  schema: Type.String({ maxLength: longestText }),
  conditions: (text) => [{ field, is: 'equal', value: text }],
});

/** Filters by one of the values that the field can have. */
export const equalChoice = <K extends Kind>(field: FieldName<K>, values: readonly string[]): Filter<K> => ({
  schema: Type.String({ enum: [...values] }),
  conditions: (text) => [{ field, is: 'equal', value: text }],
});

/** Filters by one or more of `values`, separated by commas. */
export const oneOfTexts = <K extends Kind>(field: FieldName<K>, values: readonly string[]): Filter<K> => ({
  schema: Type.Array(Type.String({ enum: [...values] }), {
    minItems: 1,
    description: 'one of these values, or several, separated by commas',
  }),
  conditions: (text) => [{ field, is: 'oneOf', value: text.split(',').map((one) => one.trim()) }],
});

/** Filters by an integer, by default the id of another record. */
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

/** Filters by a serial number, converted to the stored form: upper-case hexadecimal, whole octets, without leading zeros. */
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

/** Filters by text that the field contains. `stored` converts the text to its stored form. */
export const contains = <K extends Kind>(
  field: FieldName<K>,
  description: string,
  stored: (text: string) => string,
): Filter<K> => ({
  schema: Type.String({ maxLength: longestText, description }),
  conditions: (text) => [{ field, is: 'contains', value: stored(text) }],
});

const momentPattern = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d:\d\d)(\.\d{1,6})?(?:Z|\+00:00)?)?$/;

const momentSchema = (description: string) =>
  Type.String({
    pattern: momentPattern.source,
    description: `${description}ISO 8601 date, or date-time in UTC`,
  });

/** Parses a time, or a whole day in UTC. Returns its beginning (milliseconds since 1970) and its length in milliseconds. */
function moment(text: string): { readonly begins: number; readonly length: number } | undefined {
  const match = momentPattern.exec(text);
  if (!match) return undefined;
  const [, date, time, fraction] = match;
  const begins = Date.parse(`${date}T${time ?? '00:00:00'}${fraction?.slice(0, 4) ?? ''}Z`);
  // Date.parse reads the 31st of February as the 3rd of March.
  if (Number.isNaN(begins) || !new Date(begins).toISOString().startsWith(date!)) return undefined;
  return { begins, length: fraction ? 1 : time ? 1000 : day };
}

/** Filters by a time, or by a whole day. */
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

/** Filters by a time or later. */
export const from = <K extends Kind>(field: FieldName<K>): Filter<K> => ({
  schema: momentSchema('at this time or later: '),
  conditions: (text) => {
    const found = moment(text);
    return found && [{ field, is: 'greaterOrEqual', value: found.begins }];
  },
});

/** Filters by a time or earlier; a day is included completely. */
export const until = <K extends Kind>(field: FieldName<K>): Filter<K> => ({
  schema: momentSchema('at this time or earlier: '),
  conditions: (text) => {
    const found = moment(text);
    return found && [{ field, is: 'less', value: found.begins + found.length }];
  },
});
