import type { Gateway } from '#core/gateway.ts';
import type { HttpRequest, HttpResponse, Mount } from '../http/exchange.ts';

const text = (status: number, body: string, headers: Record<string, string> = {}): HttpResponse => ({
  status,
  headers: { 'Content-Type': 'text/plain; charset=utf-8', ...headers },
  body: `${body}\n`,
});

const mount = (prefix: string, answer: () => HttpResponse | Promise<HttpResponse>): Mount => ({
  prefix,
  plainHttp: true,
  bodyLimit: 0,
  async handle({ method, path }: HttpRequest) {
    if (path !== prefix && path !== `${prefix}/`) return text(404, 'not found');
    return method === 'GET' ? answer() : text(405, 'method not allowed', { Allow: 'GET, HEAD' });
  },
  refuse: text,
});

/**
 * Serves `/livez` and `/readyz`, without authentication, on both listeners and with any set of plugins. `/livez` responds as long as
 * the process runs. `/readyz` returns 200 if this gateway can store and sign, otherwise 503 with one line per reason; restarting
 * the process repairs none of these.
 */
export const createHealth = (gateway: Gateway): readonly Mount[] => [
  mount('/livez', () => text(200, 'ok')),
  mount('/readyz', async () => {
    const { ready, checks } = await gateway.readiness();
    if (ready) return text(200, 'ok');
    const reasons = Object.entries(checks).filter(([, { ok }]) => !ok);
    const lines = reasons.map(([name, { detail = 'not available' }]) => `${name}: ${detail}`);
    return text(503, lines.join('\n'), { 'Retry-After': '5' });
  }),
];
