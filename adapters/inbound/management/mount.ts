import { Elysia } from 'elysia';
import type { Gateway } from '#core/gateway.ts';
import type { Log } from '#core/ports/logs.ts';
import type { HttpRequest, HttpResponse, Mount } from '../http/exchange.ts';
import { originalOf, toHttpResponse, toWebRequest } from './bridge.ts';
import { methodNotAllowed, type Route } from './collection.ts';
import { snakeCase } from './description.ts';
import { HttpError, json, render } from './errors.ts';
import { resourceRoutes } from './resources/catalog.ts';
import { refresh, signIn } from './token-routes.ts';
import { Tokens } from './tokens.ts';

const bodyLimit = 1024 * 1024;

/** The Management API (`/api`). */
export function createManagement(gateway: Gateway, log: Log): Mount {
  const tokens = new Tokens(gateway);
  const report = (cause: unknown): void => log.error('management request failed', cause);
  const open = (
    handle: (request: HttpRequest, parameters: Readonly<Record<string, string>>) => Promise<Response>,
  ) => {
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
  const authenticated = ({ handle }: Route) =>
    open(async (request, parameters) => handle(await tokens.principal(request), request, parameters));

  // `onParse` keeps the framework away from bodies: they are read by what describes them.
  const app = new Elysia().onParse(() => null);
  app.get(
    '/api/health',
    open(() => health(gateway)),
  );
  app.post(
    '/api/token',
    open((request) => signIn(gateway, tokens, request)),
  );
  app.post(
    '/api/token/refresh',
    open((request) => refresh(gateway, tokens, request)),
  );
  const routes = resourceRoutes(gateway);
  for (const route of routes) app.route(route.method, route.path, authenticated(route));
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

  return {
    prefix: '/api',
    plainHttp: false,
    bodyLimit,
    handle: async (request) => toHttpResponse(await app.handle(toWebRequest(request))),
    refuse,
  };
}

async function health(gateway: Gateway): Promise<Response> {
  const checks = await gateway.health();
  const ok = Object.values(checks).every((check) => check.ok);
  return json(ok ? 200 : 503, { status: ok ? 'ok' : 'unavailable', checks });
}

const refuse = (status: number, detail: string): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ detail }),
});
