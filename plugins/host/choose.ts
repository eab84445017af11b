import { type Static, Type } from '@sinclair/typebox';
import { type Plugin, type Slot, slots } from '../kit/contract.ts';
import { isTable, type Problems, readTable, type Source, suggestion, type Table } from './schema.ts';

/** A plugin with its name in the configuration and the table that it reads, checked. */
export interface Chosen<S extends Slot = Slot> {
  readonly name: string;
  readonly plugin: Plugin<S>;
  readonly config: Table;
  /** It is part of Postern, not a module from outside. */
  readonly builtIn: boolean;
}

/** Where plugins come from. */
export interface Choice {
  readonly source: Source;
  readonly catalog: readonly Plugin[];
  /** The plugin that a module from outside exports. Throws an Error that says what is wrong. */
  readonly load: (specifier: string) => Promise<Plugin>;
}

/** Without a table: SQLite, key files, and every inbound plugin there is. */
const usual: { readonly [S in Slot]: (plugin: Plugin) => boolean } = {
  store: ({ name }) => name === 'sqlite',
  keys: ({ name }) => name === 'keyfile',
  issuers: () => false,
  inbound: () => true,
};

type Entry = readonly [name: string, path: string, table: unknown];

export async function choose(
  slot: Slot,
  given: unknown,
  input: Choice,
  problems: Problems,
): Promise<Chosen[]> {
  const { least } = slots[slot];
  if (given !== undefined && !isTable(given)) {
    problems.add(slot, 'must be a table');
    return [];
  }
  const entries = entriesOf(slot, given, input, problems);
  if (entries.length < least) problems.add(slot, `needs ${least === 1 ? 'a plugin' : `${least} plugins`}`);
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

/** The tables of a slot; where it has none, one for each of its usual plugins. */
function entriesOf(
  slot: Slot,
  given: Table | undefined,
  input: Choice,
  problems: Problems,
): readonly Entry[] {
  const path = (name: string): string => (slots[slot].most === 1 ? slot : `${slot}.${name.slice(0, 100)}`);
  const usualPlugins = (): readonly Entry[] =>
    input.catalog
      .filter((plugin) => plugin.slot === slot && usual[slot](plugin))
      .map(({ name }) => [slots[slot].most === 1 ? slot : name, path(name), { plugin: name }]);
  if (given === undefined) return usualPlugins();
  if (slots[slot].most === 1) return [[slot, slot, given]];
  if (slot !== 'inbound')
    return Object.entries(given).map(([name, table]) => [name, path(name), table] as const);

  const { defaults, ...tables } = given;
  const own = Object.entries(tables).map(([name, table]) => [name, path(name), table] as const);
  const isNamed = (plugin: string): boolean =>
    own.some(([name, , table]) => name === plugin || (isTable(table) && table.plugin === plugin));
  const readSwitch = (key: string, at: string, value: unknown, usually: boolean): boolean => {
    const schema = Type.Object({ [key]: Type.Boolean({ default: usually }) });
    return (
      readTable(value === undefined ? {} : { [key]: value }, schema, at, input.source, problems)[key] === true
    );
  };
  return [
    ...(readSwitch('defaults', slot, defaults, false)
      ? usualPlugins().filter(([name]) => !isNamed(name))
      : []),
    ...own.flatMap(([name, at, table]): Entry[] => {
      if (!isTable(table)) return [[name, at, table]];
      const { enabled, ...members } = table;
      return readSwitch('enabled', at, enabled, true) ? [[name, at, members]] : [];
    }),
  ];
}

/** The inbound plugins of the catalog that the configuration leaves out. */
export const inboundOff = (catalog: readonly Plugin[], chosen: readonly Chosen<'inbound'>[]): string[] =>
  catalog
    .filter((plugin) => plugin.slot === 'inbound' && !chosen.some((one) => one.plugin.name === plugin.name))
    .map(({ name }) => name);

/** For people, when they check or start the service: nothing is off without being said. */
export const tellOff = (off: readonly string[]): string =>
  `Disabled inbound plugins: ${off.join(', ')}. To enable them, add their tables, or set defaults = true in [inbound].`;

const choice = Type.Object({
  plugin: Type.Optional(Type.String({ minLength: 1 })),
  module: Type.Optional(Type.String({ minLength: 1 })),
});

/** By `module`, by `plugin`, or else the built-in that is called as the table is. */
async function find(
  slot: Slot,
  name: string,
  path: string,
  own: Table,
  { catalog, source, load }: Choice,
  problems: Problems,
): Promise<Plugin | undefined> {
  const said = Object.fromEntries(Object.entries(own).filter(([key]) => key in choice.properties));
  const wanted: Static<typeof choice> = readTable(said, choice, path, source, problems);
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
