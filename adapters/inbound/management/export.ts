import { type TSchema, Type } from '@sinclair/typebox';
import { csvLine } from '#adapters/wire/csv.ts';
import type { Gateway } from '#core/gateway.ts';
import type { Kind, Page, Query } from '#core/ports/store.ts';
import type { Description, FieldDescription } from './description.ts';
import { ValidationError } from './errors.ts';
import { shownRecords } from './shown.ts';

const formats = ['csv', 'jsonl'] as const;
type Format = (typeof formats)[number];

const contentTypes = { csv: 'text/csv; charset=utf-8', jsonl: 'application/jsonl; charset=utf-8' } as const;

/** The number of records read at a time. */
const recordsPerRead = 1000;

export const exportFormat = Type.String({
  enum: ['json', ...formats],
  description:
    'json (default): one page. csv and jsonl (one JSON object per line): a file with all matching records; `limit` and `cursor` are ignored. In CSV, a text that a spreadsheet would read as a formula is prefixed with an apostrophe',
});

/** Returns the requested file format, or undefined for a page of JSON. Throws ValidationError for any other format. */
export function readExportFormat(parameters: URLSearchParams): Format | undefined {
  const requested = parameters.get('format') || 'json';
  const format = formats.find((one) => one === requested);
  if (!format && requested !== 'json') {
    throw new ValidationError({ format: [`one of json, ${formats.join(', ')} is expected`] });
  }
  return format;
}

type Described<K extends Kind, View> = Pick<
  Description<K, never, View>,
  'path' | 'fields' | 'toJson' | 'example'
>;

/** Streams all matching records. Pages are read as fast as the client reads, so that only one page is in memory. */
export async function exportOf<K extends Kind, View>(
  gateway: Pick<Gateway, 'leftOut'>,
  description: Pick<Description<K, never, View>, 'fields' | 'kind' | 'path' | 'toJson'>,
  format: Format,
  { cursor: _, ...query }: Query<K>,
  list: (query: Query<K>) => Promise<Page<View>>,
): Promise<Response> {
  const { path, fields } = description;
  const columns = columnsOf(fields);
  const encode = ({ records }: Page<View>): Uint8Array =>
    Buffer.from(
      shownRecords(gateway, description, records)
        .map((record) => line(format, columns, record))
        .join(''),
    );
  const read = (cursor?: string): Promise<Page<View>> =>
    list({ ...query, limit: recordsPerRead, ...(cursor !== undefined && { cursor }) });
  // The first page is read before the response begins, so that an error still gets its own status.
  let page = await read();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      if (format === 'csv') controller.enqueue(Buffer.from(header(columns)));
      controller.enqueue(encode(page));
    },
    async pull(controller) {
      if (page.next === undefined) return controller.close();
      page = await read(page.next);
      controller.enqueue(encode(page));
    },
  });
  return new Response(body, {
    headers: {
      'content-type': contentTypes[format],
      'content-disposition': `attachment; filename="${path.slice(path.lastIndexOf('/') + 1)}.${format}"`,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    },
  });
}

/** Returns the examples for the OpenAPI document. */
export const exportExamples = <K extends Kind, View>({
  fields,
  example,
}: Pick<Described<K, View>, 'fields' | 'example'>) => {
  const columns = columnsOf(fields);
  const shown = Object.fromEntries(columns.map(({ field }) => [field, example[field]]));
  return {
    'text/csv': { schema: Type.String(), example: header(columns) + line('csv', columns, shown) },
    'application/jsonl': { schema: Type.String(), example: line('jsonl', columns, shown) },
  };
};

interface ExportColumn {
  readonly field: string;
  /** A member of the field, if the field is an object with known members. */
  readonly member?: string;
}

function columnsOf(fields: Readonly<Record<string, FieldDescription>>): readonly ExportColumn[] {
  return Object.entries(fields)
    .filter(([, { writeOnly, detailOnly }]) => !writeOnly && !detailOnly)
    .flatMap(([field, { schema }]) => {
      const members = Object.keys((schema as TSchema & { properties?: object }).properties ?? {});
      return members.length === 0 ? [{ field }] : members.map((member) => ({ field, member }));
    });
}

const header = (columns: readonly ExportColumn[]): string =>
  csvLine(columns.map(({ field, member }) => (member === undefined ? field : `${field}_${member}`)));

function line(
  format: Format,
  columns: readonly ExportColumn[],
  record: Readonly<Record<string, unknown>>,
): string {
  if (format === 'jsonl') return `${JSON.stringify(record)}\n`;
  return csvLine(
    columns.map(({ field, member }) => {
      const value = record[field];
      return cell(member === undefined ? value : (value as Record<string, unknown> | undefined)?.[member]);
    }),
  );
}

const cell = (value: unknown): string | number | null => {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' || typeof value === 'number') return value;
  return JSON.stringify(value);
};
