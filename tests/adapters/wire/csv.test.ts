import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { type CsvRow, csvLine, readCsv } from '#adapters/wire/csv.ts';
import { Fault } from '#core/fault.ts';
import { runs } from '#tests/property.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

async function read(file: Uint8Array) {
  const { columns, rows } = await readCsv(file);
  const found: CsvRow[] = [];
  for await (const row of rows) found.push(row);
  return { columns, rows: found };
}

test('a table from a spreadsheet is read: byte order mark, semicolons, CRLF, empty lines, quotes', async () => {
  const file = '\ufeffCommon_Name;Serial\r\na;1\r\n\r\n"b ""x""; y";\r\n;\r\n"c\r\nd";3\r\ne;5\r\nf;g;h\r\n';
  expect(await read(bytes(file))).toEqual({
    columns: ['common_name', 'serial'],
    rows: [
      { line: 2, values: { common_name: 'a', serial: '1' } },
      { line: 4, values: { common_name: 'b "x"; y', serial: '' } },
      { line: 7, values: { common_name: 'c\r\nd', serial: '3' } },
      { line: 8, values: { common_name: 'e', serial: '5' } },
      { line: 9, problem: 'the row has 3 values, but the table has 2 columns' },
    ],
  });
});

test.each([
  ['nothing', bytes(''), 'the file is empty'],
  ['UTF-16', Uint8Array.of(0xff, 0xfe, 0x61, 0), 'the file is not UTF-8: save the table as CSV UTF-8'],
  ['Latin-1', Buffer.from('a\nü\n', 'latin1'), 'the file is not UTF-8: save the table as CSV UTF-8'],
  ['U+0000', bytes('a\nx\0y\n'), 'the file is not a text file'],
  ['a quote without an end', bytes('a,b\nx,y\n"c,d\n'), 'line 3: a quoted value is not closed'],
  ['something after a quote', bytes('a,b\n"c"x,d\n'), 'line 2: unexpected text after a quoted value'],
  ['a quote in the middle', bytes('a\nb"c\n'), 'line 2: unexpected quotation mark in an unquoted value'],
  ['a huge value', bytes(`a\n${'x'.repeat(1_000_000)}`), 'line 2: a line must have at most 16384 characters'],
  ['quotes alone', bytes('"'.repeat(1_000_001)), 'line 1: a line must have at most 16384 characters'],
])('%s is rejected', async (_, file, detail) => {
  const refusal = await read(file).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(Fault);
  expect(refusal).toMatchObject({ code: 'malformed', field: 'file', detail });
});

test('arbitrary octets are a table or malformed', async () => {
  const text = fc.string({
    unit: fc.constantFrom('a', '"', ',', ';', '\n', '\r', '\t', '\0', 'ü', '\ufeff', '='),
  });
  const file = fc.oneof(fc.uint8Array({ maxLength: 200 }), text.map(bytes));
  await fc.assert(
    fc.asyncProperty(file, async (given) => {
      const outcome = await read(given).catch((error: unknown) => error);
      if (outcome instanceof Error) expect(outcome).toMatchObject({ code: 'malformed', field: 'file' });
    }),
    runs(300),
  );
});

test('any table is read as it was written, with an apostrophe before a value that looks like a formula', async () => {
  const value = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
    .filter((text) => text.isWellFormed() && text.trim() !== '' && !text.includes('\0'));
  await fc.assert(
    fc.asyncProperty(fc.array(value, { minLength: 2, maxLength: 4 }), async (values) => {
      const header = values.map((_, n) => `c${n}`);
      const { rows } = await read(bytes(csvLine(header) + csvLine(values)));
      const [row] = rows;
      const found = row && 'values' in row ? Object.values(row.values) : [];
      expect(found.map((text, n) => (text === `'${values[n]}` ? values[n]! : text))).toEqual(values);
      expect(found.filter((text) => /^\s*[=+\-@\t\r|%]/.test(text))).toEqual([]);
    }),
    runs(300),
  );
});
