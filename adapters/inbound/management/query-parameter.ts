import type { TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';

/** How a query parameter spells a truth value, in lower case. */
export const truths: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** Returns true if the text of a query parameter is a value that its schema in the OpenAPI document allows. */
export function fitsParameter(schema: TSchema, text: string): boolean {
  const value = spelled(schema, text);
  // TypeBox knows `enum` as an annotation only.
  if (Array.isArray(schema.enum) && !schema.enum.includes(value)) return false;
  if (schema.type !== 'array') return Value.Check(schema, value);
  const items = text.split(',');
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  const fits = items.length >= minItems && items.length <= maxItems;
  return fits && items.every((item) => fitsParameter(schema.items, item.trim()));
}

/** The value in the text; the text itself where it spells no value of that type. */
function spelled({ type }: TSchema, text: string): unknown {
  if (type === 'integer' && /^-?\d{1,16}$/.test(text)) return Number(text);
  if (type === 'boolean') return truths.get(text.toLowerCase()) ?? text;
  return text;
}
