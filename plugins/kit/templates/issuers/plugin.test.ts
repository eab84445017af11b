import { issuerContract } from 'postern/contracts/issuer';
import { testSurroundings } from 'postern/contracts/surroundings';
import { upstreamCa } from 'postern/contracts/upstream-ca';
import plugin from './plugin.ts';

/** The plugin, and in this process the CA that it talks to. */
issuerContract('my-plugin', 'upstream', async () => {
  const ca = upstreamCa();
  const next: string[] = [];
  const waiting = new Map<string, Uint8Array>();

  const answer = (handle: string, request: Uint8Array): Response | Promise<Response> => {
    switch (next.shift()) {
      case 'defer':
        waiting.set(handle, request);
        return new Response(handle, { status: 202, headers: { 'retry-after': '1' } });
      case 'refuse':
        return new Response('no', { status: 403 });
      case 'fail':
        return new Response('not now', { status: 503 });
      case 'hang':
        return new Promise<Response>(() => {});
      case 'babble':
        return new Response('what?');
      default:
        return new Response(Buffer.from(ca.certify(request)));
    }
  };
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 30,
    async fetch(request) {
      const path = new URL(request.url).pathname;
      if (request.headers.get('authorization') !== 'Bearer secret') return new Response('', { status: 401 });
      if (path === '/chain') return new Response(ca.pem);
      const handle = path.split('/')[2];
      if (handle !== undefined) return answer(handle, waiting.get(handle)!);
      return answer(request.headers.get('idempotency-key')!, await request.bytes());
    },
  });
  const { remove, ...surroundings } = testSurroundings('my-plugin');
  const config = { url: `http://127.0.0.1:${server.port}`, token: 'secret', timeout_seconds: 1 };
  return {
    issuer: await plugin.open(config, surroundings),
    now: ca.now,
    behave: (...behaviours) => next.push(...behaviours),
    async close() {
      await server.stop(true);
      await remove();
    },
  };
});
