import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { CsvError, type InfoRecord, parse } from 'csv-parse';
import { Fault } from '#core/fault.ts';

/** A row with its values by column name, or its problem. `line` counts from 1. */
export type CsvRow =
  | { readonly line: number; readonly values: Readonly<Record<string, string>> }
  | { readonly line: number; readonly problem: string };

export interface CsvTable {
  /** In lower case. */
  readonly columns: readonly string[];
  /** Can be read once, completely or in part. Faults: malformed, with the line. */
  readonly rows: AsyncIterable<CsvRow>;
}

const longestRow = 16 * 1024;
const slice = 64 * 1024;
const delimiters = [',', ';', '\t'] as const;

/**
 * Reads a CSV table (RFC 4180) with a header: UTF-8, with or without a byte order mark. The separator is the first
 * comma, semicolon or tab in the header. Rows are parsed on demand. Faults: malformed with field `file`.
 */
export async function readCsv(file: Uint8Array): Promise<CsvTable> {
  if (!isUtf8(file)) throw malformed('the file is not UTF-8: save the table as CSV UTF-8');
  if (file.includes(0)) throw malformed('the file is not a text file');
  const lines = linesOf(file, delimiterOf(file));
  const header = await lines.next();
  if (header.done) throw malformed('the file is empty');
  const columns = header.value.values.map((name) => name.trim().toLowerCase());
  return { columns, rows: rowsOf(columns, lines) };
}

const malformed = (detail: string): Fault => new Fault('malformed', detail, { field: 'file' });

/** Returns the separator. Column names contain none of the possible separators. */
function delimiterOf(file: Uint8Array): string {
  const head = Buffer.from(file.subarray(0, longestRow))
    .toString('utf8')
    .split(/[\r\n]/, 1)[0]!;
  const found = delimiters.filter((one) => head.includes(one));
  return found.toSorted((a, b) => head.indexOf(a) - head.indexOf(b))[0] ?? ',';
}

interface Line {
  /** The line on which the row ends. A value may contain line breaks. */
  readonly line: number;
  readonly values: readonly string[];
}

async function* linesOf(file: Uint8Array, delimiter: string): AsyncGenerator<Line> {
  const parser = parse({
    bom: true,
    delimiter,
    info: true,
    max_record_size: longestRow,
    relax_column_count: true,
    skip_empty_lines: true,
  });
  const source = Readable.from(slicesOf(file), { objectMode: false });
  source.pipe(parser);
  // The parser counts line breaks in quoted values twice.
  let quotedBreaks = 0;
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: InfoRecord }>) {
      for (const value of record) quotedBreaks += value.split('\r\n').length - 1;
      yield { line: info.lines - quotedBreaks, values: record };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = typeof error.lines === 'number' ? `line ${error.lines}: ` : '';
    throw malformed(`${line}${problems[error.code] ?? 'this is not CSV'}`);
  } finally {
    source.destroy();
    parser.destroy();
  }
}

const problems: Readonly<Record<string, string>> = {
  CSV_MAX_RECORD_SIZE: `a line must have at most ${longestRow} characters`,
  CSV_QUOTE_NOT_CLOSED: 'a quoted value is not closed',
  CSV_INVALID_CLOSING_QUOTE: 'unexpected text after a quoted value',
  INVALID_OPENING_QUOTE: 'unexpected quotation mark in an unquoted value',
};

function* slicesOf(file: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < file.length; at += slice) yield file.subarray(at, at + slice);
}

async function* rowsOf(columns: readonly string[], lines: AsyncIterable<Line>): AsyncGenerator<CsvRow> {
  for await (const { line, values } of lines) {
    if (values.length !== columns.length) {
      yield {
        line,
        problem: `the row has ${values.length} values, but the table has ${columns.length} columns`,
      };
    } else if (values.some((value) => value.trim() !== '')) {
      yield { line, values: Object.fromEntries(values.map((value, n) => [columns[n]!, value])) };
    }
  }
}

/**
 * Formats values as a line of CSV. A value that a spreadsheet would run as a formula gets a leading apostrophe, so that
 * it is shown as text (OWASP, CSV injection).
 */
export const csvLine = (values: readonly (string | number | null)[]): string =>
  `${values.map((value) => quoted(value === null ? '' : String(value))).join(',')}\r\n`;

function quoted(value: string): string {
  const harmless = /^\s*[=+\-@\t\r|%]/.test(value) ? `'${value}` : value;
  return /[",;\r\n\t']/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
