import type { TSchema } from '@sinclair/typebox';
import { catalog } from '#plugins/catalog.ts';
import { sections } from '#plugins/host/sections.ts';
import { code, type Parts, table } from './page.ts';

/** A key of the configuration. */
interface Key {
  /** `trust.file` in the table of its plugin. */
  readonly path: string;
  readonly schema: TSchema;
  readonly isRequired: boolean;
}

/** Returns the keys of a table, those of the tables in it included. */
export function keysOf(schema: TSchema, prefix = ''): readonly Key[] {
  const properties: Readonly<Record<string, TSchema>> = schema.properties ?? {};
  const required: readonly string[] = schema.required ?? [];
  return Object.entries(properties).flatMap(([name, member]) =>
    member.type === 'object'
      ? keysOf(member, `${prefix}${name}.`)
      : [
          {
            path: prefix + name,
            schema: member,
            isRequired: required.includes(name) && member.default === undefined,
          },
        ],
  );
}

/** Returns a value of the configuration as TOML. */
function toml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toml).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${name} = ${toml(member)}`);
  return `{ ${members.join(', ')} }`;
}

const digits = (value: number): string => value.toLocaleString('en-US');

function typeOf(schema: TSchema): string {
  if (Array.isArray(schema.anyOf))
    return schema.anyOf.map(({ const: value }) => code(toml(value))).join(', ');
  if (schema.type === 'array') return `list of ${typeOf(schema.items)}`;
  if (schema.type === 'string') return schema.pathname === true ? 'path' : 'text';
  if (schema.type !== 'integer') return schema.type;
  const { minimum, maximum } = schema;
  return maximum === undefined
    ? `integer from ${digits(minimum)}`
    : `integer, ${digits(minimum)} to ${digits(maximum)}`;
}

/** Returns an example of a key, valid by its schema. */
export function exampleOf({ default: usual, examples, anyOf, type, minimum, unset }: TSchema): unknown {
  if (examples !== undefined) return examples[0];
  if (anyOf !== undefined) return anyOf.at(-1).const;
  if (type === 'boolean') return !(usual ?? unset === 'true');
  return usual ?? (isPlain(unset) ? Number(unset) : minimum);
}

/** Whether a default is a number or a truth value rather than a sentence. */
const isPlain = (unset: string | undefined): boolean => /^(?:\d+|true|false)$/.test(unset ?? '');

function row({ path, schema, isRequired }: Key): readonly string[] {
  const { default: usual, unset, description } = schema;
  const fallback = usual !== undefined ? code(toml(usual)) : isPlain(unset) ? code(unset) : (unset ?? '');
  return [
    code(path),
    typeOf(schema),
    isRequired ? '*required*' : fallback,
    code(`${path} = ${toml(exampleOf(schema))}`),
    description ?? '',
  ];
}

const titles = ['Key', 'Type', 'Default', 'Example', 'Meaning'];

const keys = (schema: TSchema): string => table(titles, keysOf(schema).map(row));

/** The tables of `docs/reference/configuration.md`. */
export const configurationParts: Parts = Object.fromEntries([
  ...Object.entries(sections).map(([name, schema]) => [`section.${name}`, keys(schema)]),
  ...catalog
    .filter(({ config }) => keysOf(config).length > 0)
    .map(({ slot, name, config }) => [`plugin.${slot}.${name}`, keys(config)]),
  [
    'plugins',
    table(
      ['Slot', 'Plugin', ''],
      catalog.map(({ slot, name, summary }) => [code(slot), code(name), summary]),
    ),
  ],
]);
