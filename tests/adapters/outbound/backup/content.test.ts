import { expect, test } from 'bun:test';
import { decodeEntries, encodeEntries } from '#adapters/outbound/backup/content.ts';

const header = { backup: { version: 1, createdAt: 0, schema: 's' } };
const table = { table: { name: 't', columns: [{ name: 'id', type: 'integer' }], lastId: 1 } };

async function* plain(...entries: readonly unknown[]): AsyncGenerator<Uint8Array> {
  for (const entry of entries) yield Buffer.from(`${JSON.stringify(entry)}\n`);
}

const read = (...entries: readonly unknown[]) => Array.fromAsync(decodeEntries(plain(...entries)));

test.each([
  ['this is not valid base64', { rows: [[['not base64!']]] }],
  ['base64 without its padding', { rows: [[['AA']]] }],
  ['octets that are no text', { rows: [[[7]]] }],
  ['octets twice', { rows: [[['AA==', 'AA==']]] }],
  ['an integer that no column holds', { rows: [[2 ** 60]] }],
  ['an object among the values', { rows: [[{ a: 1 }]] }],
  ['a row that is no list', { rows: [7] }],
  ['a table without a name', { table: { ...table.table, name: 7 } }],
  ['a column without a name', { table: { ...table.table, columns: [7] } }],
  ['a last id that is no number', { table: { ...table.table, lastId: 'x' } }],
  ['something that is no object', 7],
])('a backup with %s is malformed', async (_, entry) => {
  await expect(read(header, entry)).rejects.toMatchObject({ code: 'malformed' });
});

test('rows are read as they were written', async () => {
  const rows = { rows: [[1, 'text', true, null, Uint8Array.of(0, 255)]] };
  async function* entries() {
    yield header as never;
    yield rows;
  }
  expect(await Array.fromAsync(decodeEntries(encodeEntries(entries())))).toEqual([header as never, rows]);
});
