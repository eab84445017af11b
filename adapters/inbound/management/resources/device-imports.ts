import { type TSchema, Type } from '@sinclair/typebox';
import { csvLine, readCsv } from '#adapters/wire/csv.ts';
import type { Principal } from '#core/access/principal.ts';
import type { ImportedDevice } from '#core/devices/import/credentials.ts';
import { importColumns } from '#core/devices/import/row.ts';
import { atField } from '#core/fault.ts';
import type { Gateway } from '#core/gateway.ts';
import type { Page } from '#core/ports/store.ts';
import type { DeviceImport, DeviceImportState, ImportRefusal } from '#core/records/device-import.ts';
import type { HttpRequest } from '../../http/exchange.ts';
import { type Body, readBody } from '../body.ts';
import { linkToNext, recordId } from '../collection.ts';
import { inputSchema, recordSchema, shownExample } from '../collection-operations.ts';
import { type Description, type FieldDescription, timestamp } from '../description.ts';
import { json, ValidationError } from '../errors.ts';
import { dateTime, file, nullable, text } from '../fields.ts';
import { readFile } from '../files.ts';
import { equalChoice } from '../filters.ts';
import { readInput } from '../input.ts';
import { pageParameters, readListQuery } from '../list-query.ts';
import { fitsParameter } from '../query-parameter.ts';
import { jsonResponse, type Route } from '../route.ts';
import { createdAtField, idField } from './common-fields.ts';

export const deviceImportPath = '/api/devices/import';

const tag = 'devices';
const states = [
  'receiving',
  'waiting',
  'running',
  'done',
  'cancelled',
  'failed',
] as const satisfies readonly DeviceImportState[];
const shown = { readOnly: true } as const;
const count = (description: string): FieldDescription => ({
  schema: Type.Integer({ description }),
  ...shown,
});

export const deviceImports: Description<'deviceImport', never, DeviceImport> = {
  path: '/api/device-imports',
  tag,
  kind: 'deviceImport',
  permissions: { read: 'devices.read', write: 'devices.write' },
  fields: {
    id: idField,
    created_at: createdAtField,
    file_name: { schema: Type.String(), ...shown, orderable: true },
    account: { schema: Type.String({ description: 'the account that started the import' }), ...shown },
    state: {
      schema: Type.String({
        enum: [...states],
        description: 'done, cancelled and failed are final',
      }),
      ...shown,
      orderable: true,
    },
    total: count('rows in the file'),
    done: count('processed rows'),
    created: count('rows that created a device'),
    refused: count('rejected rows: see `refusals/`'),
    finished_at: { schema: nullable(dateTime('when it ended')), ...shown },
    reason: { schema: nullable(Type.String(), 'reason for the failure'), ...shown },
  },
  filters: { state: equalChoice('state', states) },
  toJson: (record) => ({
    id: record.id,
    created_at: timestamp(record.createdAt),
    file_name: record.fileName,
    account: record.actor.name,
    state: record.state,
    total: record.total,
    done: record.done,
    created: record.created,
    refused: record.refused,
    finished_at: record.finishedAt === null ? null : timestamp(record.finishedAt),
    reason: record.reason,
  }),
  example: {
    id: 3,
    created_at: '2026-03-02T08:15:30.000',
    file_name: 'line-3.csv',
    account: 'admin',
    state: 'running',
    total: 100_000,
    done: 42_000,
    created: 41_998,
    refused: 2,
    finished_at: null,
    reason: null,
  },
  conflicts: { remove: 'The import is still running.' },
  operations: ({ deviceImports: { list, read, remove } }) => ({ list, read, remove }),
};

const importResponse = (description: string) =>
  jsonResponse(
    description,
    recordSchema(deviceImports.fields, true, 'DeviceImport'),
    shownExample(deviceImports),
  );

/** Operations on a device import other than reading and deleting its record. */
export const deviceImportRoutes = (gateway: Gateway): readonly Route[] => [
  start(gateway),
  cancel(gateway),
  ...reportOf(gateway),
];

/** The listener already limits the size. */
const anySize = 512 * 1024 * 1024;
const columns = Object.entries(importColumns)
  .map(([name, meaning]) => `\`${name}\` (${meaning})`)
  .join('; ');

const startFields = {
  file: {
    schema: file(anySize, 'CSV in UTF-8 with a header row: a file of a form, text, or a data: URI'),
    required: true,
  },
  file_name: { schema: text(255, { description: 'for the record' }), whenMissing: '' },
} as const satisfies Record<string, FieldDescription>;

const start = (gateway: Gateway): Route => ({
  method: 'POST',
  path: deviceImportPath,
  operation: {
    id: 'importDevices',
    tag,
    summary: 'Import devices from a CSV file',
    description: `The file is accepted or rejected as a whole. Postern then creates the devices; \`/api/device-imports/{id}/\` shows the progress. The file can also be the body itself, as \`text/csv\`. A rejected row does not affect the others. Columns: ${columns}. Columns with secrets need devices.secrets. The limit is 32 MiB unless \`device_import_mib\` of the configuration changes it.`,
    permission: 'devices.write',
    body: {
      schema: inputSchema(startFields, 'create', 'DeviceImportInput'),
      example: {
        file: 'common_name,serial_number,domain\npump-1,SN-0001,default\npump-2,SN-0002,default\n',
        file_name: 'line-3.csv',
      },
    },
    responses: { 202: importResponse('The file is accepted.') },
  },
  async handle(principal, request) {
    const input = readInput(startFields, await readTable(request), 'create');
    const { file: given, fileName = '' } = input as { file: string | Uint8Array; fileName?: string };
    try {
      const table = await readCsv(readFile(given));
      const record = await gateway.deviceImports.create(principal, { fileName, ...table });
      return json(202, deviceImports.toJson(record, true), {
        location: `${deviceImports.path}/${record.id}/`,
      });
    } catch (error) {
      throw atField(error, 'file');
    }
  },
});

/** Reads the file from the body: the body itself, or a field of it. */
async function readTable(request: HttpRequest): Promise<Body> {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';', 1);
  if (type.trim().toLowerCase() !== 'text/csv') return readBody(request);
  return { members: { file: request.body }, isForm: true };
}

const cancel = (gateway: Gateway): Route => ({
  method: 'POST',
  path: `${deviceImports.path}/:id/cancel`,
  operation: {
    id: 'cancelDeviceImport',
    tag,
    summary: 'Stop an import',
    description: 'Devices that the import has already created are kept.',
    permission: 'devices.write',
    responses: { 200: importResponse('The updated import.') },
    failures: { 409: 'The import has already ended.' },
  },
  handle: async (principal, _request, { id }) =>
    json(200, deviceImports.toJson(await gateway.deviceImports.cancel(principal, recordId(id)), true)),
});

const reportFormat = Type.String({
  enum: ['json', 'csv'],
  description: 'default: json, in pages; csv: the complete list',
});

/** A list of an import: in pages as JSON, or complete as CSV. */
interface Report<T> {
  readonly name: string;
  readonly operation: Pick<Route['operation'], 'id' | 'summary' | 'description' | 'permission'>;
  readonly schema: TSchema;
  readonly toJson: (record: T) => Readonly<Record<string, string | number | null>>;
  readonly example: Readonly<Record<string, string | number | null>>;
  readonly read: (principal: Principal, id: number, cursor?: string) => Promise<Page<T>>;
}

const formula =
  'In CSV, a value that a spreadsheet would treat as a formula begins with an apostrophe; JSON is unchanged.';

const reportOf = ({ deviceImports: imports, now }: Gateway): readonly Route[] => [
  report<ImportRefusal>(now, {
    name: 'refusals',
    operation: {
      id: 'listRefusalsOfDeviceImport',
      summary: 'List the rejected rows of an import',
      description: `In file order. ${formula}`,
      permission: 'devices.read',
    },
    schema: Type.Object(
      {
        line: Type.Integer({ description: 'line of the file, starting at 1' }),
        field: Type.String({ description: 'the invalid column; empty if the error concerns the whole row' }),
        message: Type.String(),
      },
      { $id: 'ImportRefusal', additionalProperties: false },
    ),
    toJson: ({ line, field, message }) => ({ line, field, message }),
    example: { line: 17, field: 'domain', message: 'this name does not exist' },
    read: (principal, id, cursor) => imports.refusals(principal, id, cursor),
  }),
  report<ImportedDevice>(now, {
    name: 'credentials',
    operation: {
      id: 'listCredentialsOfDeviceImport',
      summary: 'List the devices of an import with their secrets',
      description: `Current values, without deleted devices. The audit trail records the access. ${formula}`,
      permission: 'devices.secrets',
    },
    schema: Type.Object(
      {
        id: Type.Integer(),
        common_name: Type.String(),
        serial_number: Type.String(),
        domain: nullable(Type.String()),
        est_password: nullable(Type.String()),
        cmp_shared_secret: nullable(Type.String()),
      },
      { $id: 'ImportedDevice', additionalProperties: false },
    ),
    toJson: (device) => ({
      id: device.id,
      common_name: device.commonName,
      serial_number: device.serialNumber,
      domain: device.domain,
      est_password: device.estPassword,
      cmp_shared_secret: device.cmpSharedSecret,
    }),
    example: {
      id: 7,
      common_name: 'pump-7',
      serial_number: 'SN-0007',
      domain: 'default',
      est_password: 'xJ0uZ0Y5hKc3nGm5Rj8Q2wVt1bYl7aSd9eFf4oPp6iI',
      cmp_shared_secret: null,
    },
    read: (principal, id, cursor) => imports.credentials(principal, id, cursor),
  }),
];

function report<T>(now: () => number, { name, operation, schema, toJson, example, read }: Report<T>): Route {
  const header = csvLine(Object.keys(example));
  const line = (record: T): string => csvLine(Object.values(toJson(record)));
  return {
    method: 'GET',
    path: `${deviceImports.path}/:id/${name}`,
    operation: {
      ...operation,
      tag,
      query: {
        cursor: pageParameters.cursor,
        format: reportFormat,
      },
      responses: {
        200: {
          description: 'A page of the list, or a file.',
          headers: { Link: '`<…>; rel="next"` is the next page, if there is one.' },
          content: {
            'application/json': { schema: Type.Array(schema), example: [example] },
            'text/csv': {
              schema: Type.String(),
              example: `${header}${csvLine(Object.values(example))}`,
            },
          },
        },
      },
      failures: { 400: 'A query parameter is invalid.' },
    },
    async handle(principal, request, { id: text }) {
      const parameters = new URLSearchParams(request.query);
      const id = recordId(text);
      const { cursor } = readListQuery({ fields: {} }, parameters, now());
      const format = parameters.get('format') || 'json';
      if (!fitsParameter(reportFormat, format)) {
        throw new ValidationError({ format: [`one of ${reportFormat.enum.join(', ')} is expected`] });
      }
      const page = await read(principal, id, cursor);
      if (format !== 'csv') {
        const link = linkToNext(`${deviceImports.path}/${id}/${name}`, parameters, page.next);
        return json(200, page.records.map(toJson), link);
      }
      let { records, next } = page;
      const lines = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(Buffer.from(header + records.map(line).join(''))),
        async pull(controller) {
          if (next === undefined) return controller.close();
          ({ records, next } = await read(principal, id, next));
          controller.enqueue(Buffer.from(records.map(line).join('')));
        },
      });
      return new Response(lines, {
        headers: {
          'content-type': 'text/csv; charset=utf-8',
          'content-disposition': `attachment; filename="device-import-${id}-${name}.csv"`,
          'x-content-type-options': 'nosniff',
          'cache-control': 'no-store',
        },
      });
    },
  };
}
