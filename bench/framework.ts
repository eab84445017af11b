// `bun bench/framework.ts` compares the CPU time of a Management API request with Postern's own readers of bodies and queries, where
// Elysia only matches paths, to that with Elysia's TypeBox validation. Both run in this process in turns, without a network.

import { Elysia, t as Type } from 'elysia';
import type { HttpRequest, HttpResponse } from '#adapters/inbound/http/exchange.ts';
import { createManagement } from '#adapters/inbound/management/mount.ts';
import { backups } from '#adapters/inbound/management/resources/backups.ts';
import { signedMessages } from '#adapters/inbound/management/resources/signed-messages.ts';
import { Tokens } from '#adapters/inbound/management/tokens.ts';
import type { Permission } from '#core/access/permissions.ts';
import type { Principal } from '#core/access/principal.ts';
import { adminPassword, type Installation, installation } from '#tests/fixtures/installation.ts';

const origin = 'http://management.postern.internal';
const page = Type.Object({
  ordering: Type.Optional(Type.String()),
  limit: Type.Optional(Type.Numeric({ minimum: 1, maximum: 1000 })),
});
const named = Type.Object({ id: Type.Numeric({ minimum: 1 }) });
const backupInput = Type.Object(
  { remote_directory: Type.String({ minLength: 1, maxLength: 512 }) },
  { additionalProperties: false },
);

/** Implements two resources with Elysia's own validation. */
function native({ gateway, clock }: Installation): (request: HttpRequest) => Promise<HttpResponse> {
  const tokens = new Tokens(gateway, clock);
  const peer = { address: '192.0.2.9', secure: true, certificates: [] };
  const authenticated = new Elysia({ name: 'authenticated' }).derive(
    { as: 'scoped' },
    async ({ headers }): Promise<{ principal: Principal }> => ({
      principal: await tokens.principal({ headers, peer } as unknown as HttpRequest),
    }),
  );
  const permit =
    (permission: Permission) =>
    ({ principal }: { readonly principal: Principal }): Promise<void> =>
      gateway.accounts.authorize(principal, permission);
  const backupPlugin = new Elysia({ prefix: '/api/backups' })
    .use(authenticated)
    .get(
      '/',
      async ({ principal, query }) => {
        const { records } = await gateway.backups.list(principal, { limit: query.limit ?? 1000 });
        return records.map((one) => backups.toJson(one, false));
      },
      { query: page, beforeHandle: permit('backups.read') },
    )
    .get(
      '/:id',
      async ({ principal, params }) => backups.toJson(await gateway.backups.read(principal, params.id), true),
      {
        params: named,
        beforeHandle: permit('backups.read'),
      },
    )
    .patch(
      '/:id',
      async ({ principal, params, body }) =>
        backups.toJson(
          await gateway.backups.update(principal, params.id, { remoteDirectory: body.remote_directory }),
          true,
        ),
      { params: named, body: backupInput, beforeHandle: permit('backups.write') },
    );
  const messagePlugin = new Elysia({ prefix: '/api/signed-messages' }).use(authenticated).get(
    '/',
    async ({ principal, query }) => {
      const { records } = await gateway.signers.messages.list(principal, { limit: query.limit ?? 1000 });
      return records.map((one) => signedMessages.toJson(one, false));
    },
    { query: page, beforeHandle: permit('signers.read') },
  );
  const app = new Elysia()
    .use(backupPlugin)
    .use(messagePlugin)
    .onError(({ code, error, set }) => {
      set.status = code === 'VALIDATION' ? 400 : 500;
      return { detail: String(error) };
    });
  return async ({ method, path, query, headers, body }) => {
    const url = `${origin}${path}${query === '' ? '' : `?${query}`}`;
    const web = new Request(url, {
      method,
      headers: headers as Record<string, string>,
      ...(body.length > 0 && { body: Buffer.from(body) }),
    });
    const response = await app.handle(web);
    return { status: response.status, headers: {}, body: new Uint8Array(await response.arrayBuffer()) };
  };
}

const request = (method: string, path: string, token: string, input?: object): HttpRequest => ({
  method,
  path,
  query: '',
  headers: {
    authorization: `Bearer ${token}`,
    ...(input && { 'content-type': 'application/json' }),
  },
  body: Buffer.from(input ? JSON.stringify(input) : ''),
  peer: { address: '192.0.2.9', secure: true, certificates: [] },
});

/** Returns the microseconds of CPU time per request, averaged over `count` requests. */
async function cost(
  handle: (request: HttpRequest) => Promise<HttpResponse>,
  one: HttpRequest,
  count: number,
) {
  const before = process.cpuUsage();
  for (let n = 0; n < count; n++) {
    const { status } = await handle(one);
    if (status !== 200) throw new Error(`status ${status}`);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

const site = await installation();
try {
  const [mount] = createManagement(site.gateway, site.log, site.clock, 'https://pki.example:8443');
  const login = await mount.handle({
    ...request('POST', '/api/token/', '', { username: 'admin', password: adminPassword }),
    headers: { 'content-type': 'application/json' },
  });
  const { access } = JSON.parse(Buffer.from(login.body as Uint8Array).toString());
  const create = request('POST', '/api/backups/', access, { remote_directory: '/srv/backups' });
  if ((await mount.handle(create)).status !== 201) throw new Error('no backup option');
  const rows: readonly (readonly [string, HttpRequest])[] = [
    ['GET /api/backups', request('GET', '/api/backups', access)],
    ['GET /api/backups/1', request('GET', '/api/backups/1', access)],
    ['PATCH /api/backups/1', request('PATCH', '/api/backups/1', access, { remote_directory: '/srv/more' })],
    ['GET /api/signed-messages', request('GET', '/api/signed-messages', access)],
  ];
  const ways = { 'own readers': (one: HttpRequest) => mount.handle(one), validation: native(site) };
  const rounds = 7;
  const count = 1500;
  for (const [name, one] of rows) {
    const costs = new Map<string, number[]>();
    for (let round = 0; round < rounds; round++) {
      for (const [way, handle] of Object.entries(ways)) {
        const taken = await cost(handle, one, count);
        if (round > 0) costs.set(way, [...(costs.get(way) ?? []), taken]);
      }
    }
    const median = (way: string): number =>
      costs.get(way)!.toSorted((a, b) => a - b)[Math.floor(rounds / 2) - 1]!;
    const [now, framework] = [median('own readers'), median('validation')];
    console.log(
      `${name.padEnd(28)} ${now.toFixed(1).padStart(7)} µs ${framework.toFixed(1).padStart(7)} µs ${(framework / now).toFixed(2)}`,
    );
  }
} finally {
  await site[Symbol.asyncDispose]();
}
