import { Elysia } from 'elysia';
import type { Principal } from '#core/access/principal.ts';
import type { Gateway } from '#core/gateway.ts';
import { originalOf } from './bridge.ts';
import { HttpError } from './errors.ts';
import { anyAccount, type PublicRoute, type Route } from './route.ts';
import type { Tokens } from './tokens.ts';

/** The part of Elysia's context that the routes use. */
interface Context {
  readonly request: Request;
  readonly params: Record<string, string>;
}

interface Guards {
  readonly authenticate: (context: Context) => Promise<{ principal: Principal }>;
  readonly authorize: (principal: Principal, operation: Route['operation']) => Promise<void> | undefined;
}

/** Derives the principal of a request from its token. Throws TokenError, or HttpError 403 for a service account in a browser. */
export const authenticate =
  (tokens: Tokens): Guards['authenticate'] =>
  async ({ request }) => ({ principal: await tokens.principal(originalOf(request)) });

/** Requires the permission of an operation. Throws an error with status 403 if the principal lacks it. */
export const authorize =
  ({ accounts }: Gateway): Guards['authorize'] =>
  (principal, { permission, beforePasswordChange }) => {
    if (principal.mustChangePassword && !beforePasswordChange) throw passwordChangeRequired();
    return permission === anyAccount ? undefined : accounts.authorize(principal, permission);
  };

/** Returns the routes of a resource that need no authentication. */
export function publicPlugin(name: string, routes: readonly PublicRoute[]): Elysia {
  const plugin = new Elysia({ name });
  for (const { method, path, operation, handle } of routes) {
    plugin.route(method, path, ({ request, params }) => handle(originalOf(request), params), {
      detail: { operationId: operation.id },
    });
  }
  return plugin;
}

/** Returns the routes of a resource that need a token and the permission of the operation. */
export function guardedPlugin(
  name: string,
  routes: readonly Route[],
  { authenticate, authorize }: Guards,
): Elysia {
  const plugin = new Elysia({ name }).derive(authenticate);
  for (const { method, path, operation, handle } of routes) {
    plugin.route(
      method,
      path,
      ({ principal, request, params }) => handle(principal, originalOf(request), params),
      {
        beforeHandle: ({ principal }) => authorize(principal, operation),
        detail: { operationId: operation.id },
      },
    );
  }
  return plugin as unknown as Elysia;
}

const passwordChangeRequired = (): HttpError =>
  new HttpError(
    403,
    'an administrator set this password: choose a new one with POST /api/me/password/',
    {},
    'password_change_required',
  );
