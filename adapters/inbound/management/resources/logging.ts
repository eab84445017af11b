import { Type } from '@sinclair/typebox';
import type { Gateway } from '#core/gateway.ts';
import type { LogFile } from '#core/ports/platform.ts';
import { timestamp } from '../description.ts';
import { json } from '../errors.ts';
import { dateTime } from '../fields.ts';
import { preferredType } from '../files.ts';
import { jsonResponse, type Route } from '../route.ts';

const members = {
  name: Type.String(),
  size: Type.Integer({ description: 'octets' }),
  modified: dateTime('when the file was last written'),
};
const logFile = Type.Object(members, { $id: 'LogFile', additionalProperties: false });
const logText = Type.Object(
  { ...members, content: Type.String({ description: 'the text; the last 64 MiB of a longer file' }) },
  { $id: 'LogText', additionalProperties: false },
);
const example = { name: 'postern.log', size: 18_322, modified: '2026-03-02T08:15:30.000' };
const line = '{"time":"2026-03-02T08:15:30.000Z","level":"info","pid":1,"event":"serving"}\n';
const fileName = { file_name: Type.String({ description: 'a name from the list' }) };

const info = ({ name, size, modified }: LogFile) => ({ name, size, modified: timestamp(modified) });

/** `/api/logging`: the files that the log is written to. */
export const loggingRoutes = (gateway: Gateway): readonly Route[] => [
  {
    method: 'GET',
    path: '/api/logging/list_files',
    operation: {
      id: 'listLogFiles',
      tag: 'logging',
      summary: 'List the log files, oldest first',
      permission: 'logs.read',
      responses: { 200: jsonResponse('All log files.', Type.Array(logFile), [example]) },
    },
    handle: async (principal) => json(200, (await gateway.logFiles.list(principal)).map(info)),
  },
  {
    method: 'GET',
    path: '/api/logging/download/:file_name',
    operation: {
      id: 'downloadLogFile',
      tag: 'logging',
      summary: 'Read a log file',
      description: 'JSON, unless the Accept header prefers `text/plain` or `application/octet-stream`.',
      permission: 'logs.read',
      path: fileName,
      responses: {
        200: {
          description: 'The file.',
          content: {
            'application/json': { schema: logText, example: { ...example, content: line } },
            'text/plain': { schema: Type.String(), example: line },
            'application/octet-stream': { schema: Type.String(), example: line },
          },
          headers: { 'Content-Disposition': 'Except for JSON: attachment with the file name.' },
        },
      },
    },
    async handle(principal, { headers }, { file_name: name }) {
      const { content, ...file } = await gateway.logFiles.read(principal, decoded(name));
      const wanted = preferredType(headers.accept, [
        'application/json',
        'text/plain',
        'application/octet-stream',
      ]);
      if (wanted === undefined || wanted === 'application/json') {
        return json(200, { ...info(file), content: new TextDecoder().decode(content) });
      }
      return new Response(Uint8Array.from(content), {
        headers: {
          'content-type': wanted,
          'content-disposition': `attachment; filename="${file.name}"`,
          'x-content-type-options': 'nosniff',
        },
      });
    },
  },
  {
    method: 'DELETE',
    path: '/api/logging/delete/:file_name',
    operation: {
      id: 'deleteLogFile',
      tag: 'logging',
      summary: 'Delete a log file',
      permission: 'logs.write',
      path: fileName,
      responses: { 204: { description: 'Deleted.' } },
    },
    async handle(principal, _request, { file_name: name }) {
      await gateway.logFiles.remove(principal, decoded(name));
      return new Response(null, { status: 204 });
    },
  },
];

/** Decodes a path segment; a segment that cannot be decoded matches no file. */
function decoded(segment = ''): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return '';
  }
}
