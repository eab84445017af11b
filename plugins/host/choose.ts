import { type Static, Type } from '@sinclair/typebox';
import { type Plugin, type Slot, slots } from '../kit/contract.ts';
import { isTable, type Problems, readTable, type Source, suggestion, type Table } from './schema.ts';

/** A configured plugin: its name in the configuration and its validated table. */
export interface Chosen<S extends Slot = Slot> {
  readonly name: string;
  readonly plugin: Plugin<S>;
  readonly config: Table;
  /** False for a plugin that a `module` provides. */
  readonly builtIn: boolean;
}

/** The sources of plugins. */
export interface Choice {
  readonly source: Source;
  readonly catalog: readonly Plugin[];
  /** Returns the plugin that an external module exports. Throws an Error with a message for the operator. */
  readonly load: (specifier: string) => Promise<Plugin>;
}

/** The plugins used when a slot has no table: SQLite, key files, and every inbound plugin. */
const isDefault: { readonly [S in Slot]: (plugin: Plugin) => boolean } = {
  store: ({ name }) => name === 'sqlite',
  keys: ({ name }) => name === 'keyfile',
  issuers: () => false,
  inbound: () => true,
};

type Entry = readonly [name: string, path: string, table: unknown];

/** Reads the tables of a slot and finds their plugins. Problems are added to `problems`. */
export async function choose(
  slot: Slot,
  given: unknown,
  input: Choice,
  problems: Problems,
): Promise<Chosen[]> {
  const { min } = slots[slot];
  if (given !== undefined && !isTable(given)) {
    problems.add(slot, 'must be a table');
    return [];
  }
  const entries = entriesOf(slot, given, input, problems);
  if (entries.length < min) problems.add(slot, `needs ${min === 1 ? 'a plugin' : `${min} plugins`}`);
  const chosen: Chosen[] = [];
  for (const [name, path, own] of entries) {
    if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name)) {
      problems.add(path, 'a name must have at most 64 characters: letters, digits, - and _');
    } else if (!isTable(own)) {
      problems.add(path, 'must be a table');
    } else {
      const plugin = await find(slot, name, path, own, input, problems);
      if (!plugin) continue;
      const { plugin: _, module: __, ...members } = own;
      chosen.push({
        name,
        plugin,
        config: readTable(members, plugin.config, path, input.source, problems),
        builtIn: input.catalog.includes(plugin),
      });
    }
  }
  return chosen;
}

/** Returns the tables of a slot or, without any, a table for each of its default plugins. */
function entriesOf(
  slot: Slot,
  given: Table | undefined,
  input: Choice,
  problems: Problems,
): readonly Entry[] {
  const path = (name: string): string => (slots[slot].max === 1 ? slot : `${slot}.${name.slice(0, 100)}`);
  const defaultPlugins = (): readonly Entry[] =>
    input.catalog
      .filter((plugin) => plugin.slot === slot && isDefault[slot](plugin))
      .map(({ name }) => [slots[slot].max === 1 ? slot : name, path(name), { plugin: name }]);
  if (given === undefined) return defaultPlugins();
  if (slots[slot].max === 1) return [[slot, slot, given]];
  if (slot !== 'inbound')
    return Object.entries(given).map(([name, table]) => [name, path(name), table] as const);

  const { defaults, ...tables } = given;
  const own = Object.entries(tables).map(([name, table]) => [name, path(name), table] as const);
  const isNamed = (plugin: string): boolean =>
    own.some(([name, , table]) => name === plugin || (isTable(table) && table.plugin === plugin));
  const readSwitch = (key: string, at: string, value: unknown, byDefault: boolean): boolean => {
    const schema = Type.Object({ [key]: Type.Boolean({ default: byDefault }) });
    return (
      readTable(value === undefined ? {} : { [key]: value }, schema, at, input.source, problems)[key] === true
    );
  };
  return [
    ...(readSwitch('defaults', slot, defaults, false)
      ? defaultPlugins().filter(([name]) => !isNamed(name))
      : []),
    ...own.flatMap(([name, at, table]): Entry[] => {
      if (!isTable(table)) return [[name, at, table]];
      const { enabled, ...members } = table;
      return readSwitch('enabled', at, enabled, true) ? [[name, at, members]] : [];
    }),
  ];
}

/** Returns the names of the built-in inbound plugins that the configuration disables. */
export const inboundOff = (catalog: readonly Plugin[], chosen: readonly Chosen<'inbound'>[]): string[] =>
  catalog
    .filter((plugin) => plugin.slot === 'inbound' && !chosen.some((one) => one.plugin.name === plugin.name))
    .map(({ name }) => name);

/** Returns the line that `serve` and `check` print about disabled plugins. */
export const disabledNote = (off: readonly string[]): string =>
  `Disabled inbound plugins: ${off.join(', ')}. To enable them, add their tables, or set defaults = true in [inbound].`;

const choice = Type.Object({
  plugin: Type.Optional(Type.String({ minLength: 1 })),
  module: Type.Optional(Type.String({ minLength: 1 })),
});

/** Finds the plugin of a table: by `module`, by `plugin`, or else the built-in one with the name of the table. */
async function find(
  slot: Slot,
  name: string,
  path: string,
  own: Table,
  { catalog, source, load }: Choice,
  problems: Problems,
): Promise<Plugin | undefined> {
  const given = Object.fromEntries(Object.entries(own).filter(([key]) => key in choice.properties));
  const wanted: Static<typeof choice> = readTable(given, choice, path, source, problems);
  if (problems.has(`${path}.plugin`) || problems.has(`${path}.module`)) return undefined;
  if (wanted.plugin !== undefined && wanted.module !== undefined) {
    problems.add(path, 'has both plugin and module: remove one of them');
    return undefined;
  }
  if (wanted.module !== undefined) {
    try {
      const plugin = await load(wanted.module);
      if (plugin.slot === slot) return plugin;
      problems.add(`${path}.module`, `the plugin is for the slot ${plugin.slot}, not for ${slot}`);
    } catch (error) {
      problems.add(`${path}.module`, error instanceof Error ? error.message : 'cannot be loaded');
    }
    return undefined;
  }
  const builtIn = catalog.filter((plugin) => plugin.slot === slot);
  const plugin = builtIn.find((candidate) => candidate.name === (wanted.plugin ?? name));
  if (!plugin) {
    const names = builtIn.map((candidate) => candidate.name);
    const list = names.length > 0 ? `; built in for ${slot}: ${names.join(', ')}` : '';
    if (wanted.plugin === undefined) problems.add(path, `needs plugin or module${list}`);
    else problems.add(`${path}.plugin`, `unknown plugin${suggestion(wanted.plugin, names)}${list}`);
  }
  return plugin;
}
