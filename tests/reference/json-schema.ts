import type { TSchema } from '@sinclair/typebox';
import { catalog } from '#plugins/catalog.ts';
import { sections } from '#plugins/host/sections.ts';
import { type Plugin, type Slot, slots } from '#plugins/kit/contract.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

const variable: JsonSchema = { $ref: '#/$defs/variable' };
const file: JsonSchema = { $ref: '#/$defs/file' };
const isText = ({ type, anyOf }: TSchema): boolean =>
  type === 'string' || (Array.isArray(anyOf) && anyOf.some(({ const: value }) => typeof value === 'string'));

/** Returns the JSON Schema of a key. Text can also come from a file, and every value from a variable. */
export function valueSchema(schema: TSchema): JsonSchema {
  if (schema.type === 'object') return tableSchema(schema);
  const { title, description, unset, default: usual, examples, pathname: _, items, ...rules } = schema;
  const fallback = unset === undefined ? '' : ` Default: ${unset}.`;
  const about = {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description: description + fallback }),
    ...(usual !== undefined && { default: usual }),
    ...(examples !== undefined && { examples }),
  };
  if (items !== undefined) return { ...about, ...rules, items: valueSchema(items) };
  return { ...about, anyOf: [...(rules.anyOf ?? [rules]), variable, ...(isText(schema) ? [file] : [])] };
}

function tableSchema(schema: TSchema, more: JsonSchema = {}): JsonSchema {
  const properties: Readonly<Record<string, TSchema>> = schema.properties ?? {};
  const required: readonly string[] = schema.required ?? [];
  const needed = required.filter((name) => properties[name]!.default === undefined);
  return {
    type: 'object',
    ...(schema.description !== undefined && { description: schema.description }),
    properties: {
      ...more,
      ...Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, valueSchema(member)])),
    },
    ...(needed.length > 0 && { required: needed }),
    additionalProperties: false,
  };
}

/** The tables of the plugins, for `$defs`. */
const pluginTables = Object.fromEntries(
  catalog.map(({ slot, name, summary, config }) => [
    `${slot}.${name}`,
    tableSchema(config, {
      plugin: { const: name, description: summary },
      ...(slot === 'inbound' && {
        enabled: { description: '`false` switches the plugin off.', anyOf: [{ type: 'boolean' }, variable] },
      }),
    }),
  ]),
);

/** Returns the schema of a table in a slot: of the plugin that it names, of the one that it is called like, or of a module. */
const pluginTable = (slot: Slot, plugins: readonly Plugin[], called?: string): JsonSchema => ({
  anyOf: [
    ...plugins.map(({ name }) => {
      const own = { $ref: `#/$defs/${slot}.${name}` };
      return name === called ? own : { type: 'object', allOf: [own], required: ['plugin'] };
    }),
    { $ref: '#/$defs/module' },
  ],
});

function slotSchema(slot: Slot): JsonSchema {
  const plugins = catalog.filter((plugin) => plugin.slot === slot);
  if (slots[slot].max === 1) return pluginTable(slot, plugins);
  const defaults = {
    description: 'Adds the tables of this slot to the built-in plugins.',
    default: false,
    anyOf: [{ type: 'boolean' }, variable],
  };
  return {
    type: 'object',
    properties: {
      ...(slot === 'inbound' && { defaults }),
      ...Object.fromEntries(plugins.map(({ name }) => [name, pluginTable(slot, plugins, name)])),
    },
    additionalProperties: pluginTable(slot, plugins),
  };
}

/** The JSON Schema of `postern.toml`, for editors. */
export const configurationSchema: JsonSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'postern.toml',
  description: 'The configuration of Postern.',
  type: 'object',
  properties: {
    ...Object.fromEntries(Object.entries(sections).map(([name, schema]) => [name, tableSchema(schema)])),
    ...Object.fromEntries((Object.keys(slots) as Slot[]).map((slot) => [slot, slotSchema(slot)])),
  },
  additionalProperties: false,
  $defs: {
    ...pluginTables,
    variable: {
      type: 'string',
      pattern: '\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}',
      description: 'A value from the environment.',
    },
    file: {
      type: 'object',
      properties: { file: { type: 'string', description: 'A file that only its owner can read.' } },
      required: ['file'],
      additionalProperties: false,
      description: 'Text from a file.',
    },
    module: {
      type: 'object',
      properties: {
        module: { type: 'string', minLength: 1, description: 'The module of a plugin that is not built in.' },
      },
      required: ['module'],
    },
  },
};
