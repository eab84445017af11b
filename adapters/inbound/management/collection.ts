import { Fault } from '#core/fault.ts';
import type { Gateway } from '#core/gateway.ts';
import type { Kind } from '#core/ports/store.ts';
import { readBody } from './body.ts';
import { collectionOperations } from './collection-operations.ts';
import { isDeferral, pending } from './deferral.ts';
import type { Description } from './description.ts';
import { HttpError, json } from './errors.ts';
import { exportOf, readExportFormat } from './export.ts';
import { readInput } from './input.ts';
import { readListQuery } from './list-query.ts';
import type { Route } from './route.ts';
import { shownRecord, shownRecords } from './shown.ts';

/** Returns the routes of a described resource. */
export function collectionRoutes<K extends Kind, Input, View>(
  gateway: Gateway,
  description: Description<K, Input, View>,
): readonly Route[] {
  const { path, fields, permissions } = description;
  const shown = (view: View) => shownRecord(description, view);
  const { list, read, create, update, remove } = description.operations(gateway);
  const operations = collectionOperations(description);
  const one = `${path}/:id`;
  const { read: reads, write: writes = reads } = permissions;
  const routes: Route[] = [
    {
      method: 'GET',
      path,
      operation: { ...operations.list, permission: reads },
      handle: async (principal, request) => {
        const parameters = new URLSearchParams(request.query);
        const query = readListQuery(description, parameters, gateway.now());
        const format = description.exported && readExportFormat(parameters);
        if (format) return exportOf(gateway, description, format, query, (next) => list(principal, next));
        const page = await list(principal, query);
        return json(
          200,
          shownRecords(gateway, description, page.records),
          linkToNext(path, parameters, page.next),
        );
      },
    },
    {
      method: 'GET',
      path: one,
      operation: { ...operations.read, permission: reads },
      handle: async (principal, _request, { id }) => json(200, shown(await read(principal, recordId(id)))),
    },
  ];
  if (create) {
    routes.push({
      method: 'POST',
      path,
      operation: { ...operations.create, permission: permissions.create ?? writes },
      handle: async (principal, request) => {
        const input = readInput(fields, await readBody(request), 'create');
        const made = await create(principal, input as Input);
        return isDeferral(made) ? pending(made) : json(201, shown(made));
      },
    });
  }
  if (update) {
    for (const [method, mode] of [
      ['PUT', 'replace'],
      ['PATCH', 'change'],
    ] as const) {
      routes.push({
        method,
        path: one,
        operation: { ...operations[mode], permission: writes },
        handle: async (principal, request, { id }) => {
          const changes = readInput(fields, await readBody(request), mode);
          return json(200, shown(await update(principal, recordId(id), changes as Partial<Input>)));
        },
      });
    }
  }
  if (remove) {
    routes.push({
      method: 'DELETE',
      path: one,
      operation: { ...operations.remove, permission: writes },
      handle: async (principal, _request, { id }) => {
        await remove(principal, recordId(id));
        return new Response(null, { status: 204 });
      },
    });
  }
  return routes;
}

/** Returns the Link header to the next page of a list, if there is one. */
export function linkToNext(
  path: string,
  parameters: URLSearchParams,
  next: string | undefined,
): Readonly<Record<string, string>> {
  if (next === undefined) return {};
  const query = new URLSearchParams(parameters);
  query.set('cursor', next);
  return { link: `<${path}/?${query}>; rel="next"` };
}

/** Reads the id in a path. Throws Fault `notFound` if it is not an id. */
export function recordId(text: string | undefined): number {
  const id = /^\d{1,16}$/.test(text ?? '') ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(id) || id < 1) throw new Fault('notFound', 'there is no such record');
  return id;
}

/** Returns the error for an unknown method on a known path. A path with GET also allows HEAD. */
export function methodNotAllowed(known: readonly string[]): HttpError {
  const allowed = new Set(known.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])));
  return new HttpError(405, 'the method is not allowed for this path', { allow: [...allowed].join(', ') });
}
