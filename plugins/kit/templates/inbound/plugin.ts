import { X509Certificate } from 'node:crypto';
import {
  definePlugin,
  type Gateway,
  type HttpRequest,
  type HttpResponse,
  type Mount,
  Type,
  toFault,
} from 'postern';

const json = (status: number, value: unknown, headers: Record<string, string> = {}): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: `${JSON.stringify(value)}\n`,
});

/** Serves the expiry dates of the CA certificates of a domain, for monitoring. */
function mount(path: string, gateway: Gateway): Mount {
  async function handle(request: HttpRequest): Promise<HttpResponse> {
    if (request.method !== 'GET') return json(405, { detail: 'method not allowed' }, { allow: 'GET' });
    if (request.path !== path) return json(404, { detail: 'not found' });
    const domain = new URLSearchParams(request.query).get('domain') ?? undefined;
    try {
      const chain = await gateway.caCertificates(domain);
      return json(
        200,
        chain.map((der) => {
          const { subject, validToDate } = new X509Certificate(der);
          return { subject, not_after: validToDate.toISOString() };
        }),
      );
    } catch (error) {
      // A use case fails with a Fault, which this protocol turns into a response. Anything else is a defect.
      const { code, detail, retryAfter = 5 } = toFault(error);
      if (code === 'notFound') return json(404, { detail });
      if (code === 'unavailable') return json(503, { detail }, { 'retry-after': String(retryAfter) });
      throw error;
    }
  }
  return {
    prefix: path,
    plainHttp: false,
    bodyLimit: 0,
    handle,
    refuse: (status, detail) => json(status, { detail }),
  };
}

export default definePlugin({
  slot: 'inbound',
  name: 'my-plugin',
  summary: 'Serves the expiry dates of the CA certificates.',
  config: Type.Object({
    path: Type.String({
      default: '/my-plugin',
      pattern: '^(?:/[A-Za-z0-9._~-]+)+$',
      title: 'a path like /x',
    }),
  }),
  open: async ({ path }, { gateway }) => ({ mounts: [mount(path, gateway)] }),
});
