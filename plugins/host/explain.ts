import { type Slot, slots } from '../kit/contract.ts';
import type { LoadedConfiguration } from './config-file.ts';
import { isTable, type Table } from './schema.ts';
import { sections } from './sections.ts';

/** Where the value of a key comes from. */
export type Origin = 'file' | 'command line' | 'default' | 'not set';

/** A key of the effective configuration. */
export interface ExplainedKey {
  readonly key: string;
  /** As it would be written in TOML; without secrets. */
  readonly value: string;
  readonly origin: Origin;
}

/** A table of the effective configuration, with all its keys. */
export interface ExplainedTable {
  /** `keys.hsm` */
  readonly path: string;
  readonly keys: readonly ExplainedKey[];
}

/** Keys whose literal values are secrets. */
const secretKey = /(?:^|_)(?:passphrase|password|pin|secret|token|sftp_key)$/;
const hidden = '"********"';

/**
 * Returns the effective configuration: every table that is in use, with every key that its schema knows. A value that
 * the file takes from the environment or from another file is shown as that reference.
 */
export function explain({
  configuration,
  tables,
  overrides,
}: LoadedConfiguration): readonly ExplainedTable[] {
  const own = Object.entries(sections).map(([name, { properties }]) => ({
    path: name,
    keys: keysOf(
      properties,
      configuration[name as keyof typeof sections],
      tableAt(tables, name),
      name === 'server' ? overrides : {},
    ),
  }));
  const chosen = (Object.keys(slots) as Slot[]).flatMap((slot) =>
    configuration[slot].map(({ name, plugin, config }) => {
      const path = slots[slot].max === 1 ? slot : `${slot}.${name}`;
      const given = slots[slot].max === 1 ? tableAt(tables, slot) : tableAt(tableAt(tables, slot), name);
      const origin = given.plugin === undefined && given.module === undefined ? 'default' : 'file';
      const choice: ExplainedKey =
        given.module === undefined
          ? { key: 'plugin', value: JSON.stringify(plugin.name), origin }
          : { key: 'module', value: JSON.stringify(given.module), origin };
      return { path, keys: [choice, ...keysOf(plugin.config.properties, config as Table, given, {})] };
    }),
  );
  return [...own, ...chosen];
}

const tableAt = (table: unknown, name: string): Table => {
  const member = isTable(table) ? table[name] : undefined;
  return isTable(member) ? member : {};
};

function keysOf(
  properties: Readonly<Record<string, unknown>>,
  values: object,
  given: Table,
  overrides: Readonly<Record<string, unknown>>,
): readonly ExplainedKey[] {
  return Object.keys(properties).map((key): ExplainedKey => {
    const value = (values as Table)[key];
    if (value === undefined) return { key, value: '', origin: 'not set' };
    if (overrides[key] !== undefined) return { key, value: shown(key, value), origin: 'command line' };
    const literal = given[key];
    if (literal === undefined) return { key, value: shown(key, value), origin: 'default' };
    return { key, value: isReference(literal) ? shown('', literal) : shown(key, value), origin: 'file' };
  });
}

/** Whether the file says where the value is, and not the value. */
const isReference = (literal: unknown): boolean =>
  (typeof literal === 'string' && /^\$\{[^}]*\}$/.test(literal)) ||
  (isTable(literal) && Object.keys(literal).join() === 'file');

/** TOML of the value; secrets are replaced. */
function shown(key: string, value: unknown): string {
  if (secretKey.test(key)) return hidden;
  if (Array.isArray(value)) return `[${value.map((one) => shown(key, one)).join(', ')}]`;
  if (isTable(value)) {
    const members = Object.entries(value).map(([name, member]) => `${name} = ${shown(name, member)}`);
    return `{ ${members.join(', ')} }`;
  }
  if (typeof value !== 'string') return String(value);
  return JSON.stringify(value.replace(/^([a-z][a-z0-9+.-]*:\/\/[^/@:]*):[^@/]*@/i, '$1:********@'));
}
