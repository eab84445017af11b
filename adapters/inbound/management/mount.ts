import { Elysia } from 'elysia';
import type { Gateway } from '#core/gateway.ts';
import type { Clock, Log } from '#core/ports/platform.ts';
import type { HttpRequest, HttpResponse, Mount } from '../http/exchange.ts';
import { toHttpResponse, toWebRequest } from './bridge.ts';
import { methodNotAllowed } from './collection.ts';
import { snakeCase } from './description.ts';
import { codeOfStatus } from './error-codes.ts';
import { HttpError, render } from './errors.ts';
import { healthRoute } from './health-route.ts';
import { meRoutes } from './me-route.ts';
import { metricsRoute } from './metrics-route.ts';
import { authenticate, authorize, guardedPlugin, publicPlugin } from './plugins.ts';
import { resourceRoutes } from './resources/catalog.ts';
import { deviceImportPath } from './resources/device-imports.ts';
import type { PublicRoute, Route } from './route.ts';
import { schemaRoutes } from './schema-routes.ts';
import { swaggerUi } from './swagger-ui.ts';
import { tokenRoutes } from './token-routes.ts';
import { Tokens } from './tokens.ts';

const defaultBodyLimit = 1024 * 1024;
/** Small, because the client has not signed in yet. */
const tokenBodyLimit = 16 * 1024;

/**
 * Returns the mounts of the Management API (`/api`), its description (`/schema`) and the metrics (`/metrics`). `deviceImportLimit`: the
 * maximum size in octets of an upload with a device file.
 */
export function createManagement(
  gateway: Gateway,
  log: Log,
  clock: Clock,
  baseUrl: string,
  deviceImportLimit = 32 * defaultBodyLimit,
): readonly [api: Mount, ...Mount[]] {
  const tokens = new Tokens(gateway, clock);
  const report = (cause: unknown): void => log.error('management request failed', cause);
  const app = new Elysia({ name: 'management' })
    // Elysia must not parse bodies: `readBody` and `readInput` reject duplicate members and list all problems.
    .onParse({ as: 'global' }, () => null)
    .onError({ as: 'global' }, ({ code, error }) =>
      render(code === 'NOT_FOUND' ? new HttpError(404, 'not found') : error, snakeCase, report),
    );
  const resources = [
    ...resourceRoutes(gateway, baseUrl),
    ...tokenRoutes(gateway, tokens),
    ...meRoutes(gateway, tokens),
    healthRoute(gateway),
    metricsRoute(gateway),
    swaggerUi.page,
  ];
  const routes = [...resources, ...schemaRoutes(resources), ...swaggerUi.files];
  const guards = { authenticate: authenticate(tokens), authorize: authorize(gateway) };
  for (const [name, ofResource] of Map.groupBy(routes, resourceOf)) {
    const [open, guarded] = [ofResource.filter(isPublic), ofResource.filter((one) => !isPublic(one))];
    app.use(publicPlugin(`${name} (public)`, open)).use(guardedPlugin(name, guarded as Route[], guards));
  }
  // A known path responds to other methods with 405; Elysia prefers a route of the exact method to `all`.
  for (const [path, ofPath] of Map.groupBy(app.routes, (route) => route.path)) {
    app.all(path, () => Promise.reject(methodNotAllowed(ofPath.map(({ method }) => method))));
  }

  const handle = async (request: HttpRequest): Promise<HttpResponse> => {
    const web = toWebRequest(request);
    return web ? toHttpResponse(await app.handle(web)) : refuse(404, 'not found');
  };
  const bodyLimit = (path: string): number => {
    if (/^\/api\/token(?:\/|$)/.test(path)) return tokenBodyLimit;
    return path.replace(/\/$/, '') === deviceImportPath ? deviceImportLimit : defaultBodyLimit;
  };
  const mount = (prefix: string): Mount => ({ prefix, plainHttp: false, bodyLimit, handle, refuse });
  return [mount('/api'), mount('/schema'), mount('/metrics')];
}

/** `/api/devices/:id` → `devices`. Each resource is one plugin of Elysia. */
const resourceOf = ({ path }: Pick<Route, 'path'>): string =>
  path.replace(/^\/api(?=\/)/, '').split('/')[1] ?? '';

const isPublic = (route: Route | PublicRoute): route is PublicRoute => !('permission' in route.operation);

const refuse = (status: number, detail: string): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ detail, code: codeOfStatus(status) }),
});
