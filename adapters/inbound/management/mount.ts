import { Elysia } from 'elysia';
import type { Gateway } from '#core/gateway.ts';
import type { Clock, Log } from '#core/ports/platform.ts';
import type { HttpRequest, HttpResponse, Mount } from '../http/exchange.ts';
import { originalOf, toHttpResponse, toWebRequest } from './bridge.ts';
import { methodNotAllowed } from './collection.ts';
import { snakeCase } from './description.ts';
import { HttpError, render } from './errors.ts';
import { healthRoute } from './health-route.ts';
import { meRoutes } from './me-route.ts';
import { metricsRoute } from './metrics-route.ts';
import { resourceRoutes } from './resources/catalog.ts';
import { deviceImportPath } from './resources/device-imports.ts';
import { anyAccount, type PublicRoute, type Route } from './route.ts';
import { schemaRoutes } from './schema-routes.ts';
import { swaggerUi } from './swagger-ui.ts';
import { tokenRoutes } from './token-routes.ts';
import { Tokens } from './tokens.ts';

const usualBody = 1024 * 1024;
/** Whoever sends it has not signed in yet. */
const tokenBody = 16 * 1024;

/**
 * The Management API (`/api`), its description (`/schema`) and the metrics (`/metrics`): a mount for each. `deviceImportLimit`: octets
 * of a file of devices, and what is around it.
 */
export function createManagement(
  gateway: Gateway,
  log: Log,
  clock: Clock,
  baseUrl: string,
  deviceImportLimit = 32 * usualBody,
): readonly [api: Mount, ...Mount[]] {
  const tokens = new Tokens(gateway, clock);
  const report = (cause: unknown): void => log.error('management request failed', cause);
  const open = (handle: PublicRoute['handle']) => {
    return async ({
      request,
      params,
    }: {
      request: Request;
      params: Record<string, string>;
    }): Promise<Response> => {
      try {
        return await handle(originalOf(request), params);
      } catch (error) {
        return render(error, snakeCase, report);
      }
    };
  };
  const authenticated = ({ handle, operation }: Route) =>
    open(async (request, parameters) => {
      const principal = await tokens.principal(request);
      if (principal.mustChangePassword && !operation.beforePasswordChange) throw passwordChangeRequired();
      if (operation.permission !== anyAccount)
        await gateway.accounts.authorize(principal, operation.permission);
      return handle(principal, request, parameters);
    });

  const documented = [
    ...resourceRoutes(gateway, baseUrl),
    ...tokenRoutes(gateway, tokens),
    ...meRoutes(gateway, tokens),
    healthRoute(gateway),
    metricsRoute(gateway),
    swaggerUi.page,
  ];
  // `onParse` keeps the framework away from bodies: they are read by what describes them.
  const app = new Elysia().onParse(() => null);
  for (const route of [...documented, ...schemaRoutes(documented), ...swaggerUi.files]) {
    app.route(route.method, route.path, isPublic(route) ? open(route.handle) : authenticated(route));
  }
  // What is known by path only answers 405; Elysia prefers the exact method to `all`.
  const known = Map.groupBy(app.routes, ({ path }) => path);
  for (const [path, ofPath] of known) {
    app.all(
      path,
      open(() => Promise.reject(methodNotAllowed(ofPath.map(({ method }) => method)))),
    );
  }
  app.all(
    '/*',
    open(() => Promise.reject(new HttpError(404, 'not found'))),
  );
  app.onError(({ error }) => render(error, snakeCase, report));

  const handle = async (request: HttpRequest): Promise<HttpResponse> => {
    const web = toWebRequest(request);
    return web ? toHttpResponse(await app.handle(web)) : refuse(404, 'not found');
  };
  const bodyLimit = (path: string): number => {
    if (/^\/api\/token(?:\/|$)/.test(path)) return tokenBody;
    return path.replace(/\/$/, '') === deviceImportPath ? deviceImportLimit : usualBody;
  };
  const mount = (prefix: string): Mount => ({ prefix, plainHttp: false, bodyLimit, handle, refuse });
  return [mount('/api'), mount('/schema'), mount('/metrics')];
}

const passwordChangeRequired = (): HttpError =>
  new HttpError(
    403,
    'an administrator has set this password: choose another one with POST /api/me/password/',
    {},
    'password_change_required',
  );

const isPublic = (route: Route | PublicRoute): route is PublicRoute => !('permission' in route.operation);

const refuse = (status: number, detail: string): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ detail }),
});
