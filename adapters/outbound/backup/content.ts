import { Fault } from '#core/fault.ts';
import type { SnapshotItem, SnapshotTable, SnapshotValue } from '#core/ports/snapshot.ts';

/** An entry of the plain text of a backup, which is a line of JSON. */
export type Entry =
  /** The first entry. `schema`: that of the snapshot. */
  | { readonly backup: { readonly version: 1; readonly createdAt: number; readonly schema: string } }
  /** A file of the data directory or the configuration. */
  | { readonly file: string; readonly contents: string }
  /** A key in the format of its key store. */
  | { readonly key: string; readonly store: string; readonly contents: string }
  /** The key stores whose keys are not in the backup, because they cannot leave their device. */
  | { readonly keysElsewhere: readonly string[] }
  | SnapshotItem
  /** The last entry, with the number of entries before it. */
  | { readonly end: { readonly tables: number; readonly rows: number; readonly keys: number } };

/** Encodes entries as lines. A page of rows is a line too, so a reader needs memory for one page only. */
export async function* encodeEntries(entries: AsyncIterable<Entry>): AsyncGenerator<Uint8Array> {
  for await (const entry of entries) {
    const line = 'rows' in entry ? { rows: entry.rows.map((row) => row.map(toJson)) } : entry;
    yield Buffer.from(`${JSON.stringify(line)}\n`);
  }
}

/** Converts a value to JSON. Octets become an array with one base64 string. */
const toJson = (value: SnapshotValue): unknown =>
  value instanceof Uint8Array
    ? [Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')]
    : value;

/** Decodes entries. Faults: malformed; unsupported for a backup of a later version. */
export async function* decodeEntries(plain: AsyncIterable<Uint8Array>): AsyncGenerator<Entry> {
  let first = true;
  for await (const line of lines(plain)) {
    const entry = decode(line);
    if (first !== 'backup' in entry) throw malformed();
    if ('backup' in entry && entry.backup.version !== 1) {
      throw new Fault('unsupported', 'the backup was made by a newer version of Postern');
    }
    first = false;
    yield entry;
  }
}

const strictly = { lastChunkHandling: 'strict' } as const;

const malformed = (): Fault => new Fault('malformed', 'the backup contains invalid data');

function decode(line: string): Entry {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw malformed();
  }
  if (typeof value !== 'object' || value === null) throw malformed();
  const entry = value as Readonly<Record<string, unknown>>;
  const text = (name: string): boolean => typeof entry[name] === 'string';
  if (Array.isArray(entry.rows)) return { rows: entry.rows.map(fromJson) };
  if (isTable(entry.table)) return { table: entry.table };
  const isKnown =
    hasMembers(entry.backup, 'version', 'createdAt', 'schema') ||
    hasMembers(entry.end, 'tables', 'rows', 'keys') ||
    Array.isArray(entry.keysElsewhere) ||
    (text('contents') && (text('file') || (text('key') && text('store'))));
  if (!isKnown) throw malformed();
  return entry as Entry;
}

function fromJson(row: unknown): readonly SnapshotValue[] {
  if (!Array.isArray(row)) throw malformed();
  return row.map((value) => {
    if (Array.isArray(value)) return bytesIn(value);
    if (
      typeof value === 'number' ? !Number.isSafeInteger(value) : typeof value === 'object' && value !== null
    ) {
      throw malformed();
    }
    return value;
  });
}

function bytesIn(value: readonly unknown[]): Uint8Array {
  try {
    const [text] = value;
    if (value.length === 1 && typeof text === 'string') return Uint8Array.fromBase64(text, strictly);
  } catch {}
  throw malformed();
}

const hasMembers = (value: unknown, ...names: readonly string[]): boolean =>
  typeof value === 'object' && value !== null && names.every((name) => Object.hasOwn(value, name));

function isTable(value: unknown): value is SnapshotTable {
  if (!hasMembers(value, 'name', 'columns', 'lastId')) return false;
  const { name, columns, lastId } = value as Readonly<Record<string, unknown>>;
  const hasColumns = Array.isArray(columns) && columns.every((one) => hasMembers(one, 'name', 'type'));
  return hasColumns && typeof name === 'string' && (lastId === null || Number.isSafeInteger(lastId));
}

async function* lines(plain: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let pending: Uint8Array[] = [];
  for await (const piece of plain) {
    let at = 0;
    for (let end = piece.indexOf(10); end >= 0; end = piece.indexOf(10, at)) {
      pending.push(piece.subarray(at, end));
      yield Buffer.concat(pending).toString('utf8');
      pending = [];
      at = end + 1;
    }
    if (at < piece.length) pending.push(piece.subarray(at));
  }
  if (pending.length > 0) throw malformed();
}
