import { toFault } from '#core/fault.ts';
import type { Gateway } from '#core/gateway.ts';
import type { HttpRequest, HttpResponse, Mount } from '../http/exchange.ts';

const text = (status: number, body: string, headers: Record<string, string> = {}): HttpResponse => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
  body: `${body}\n`,
});

interface Publication {
  readonly prefix: string;
  readonly ending: string;
  readonly contentType: string;
  readonly read: (gateway: Gateway, ca: number) => Promise<Uint8Array>;
}

/** What the URLs in certificates point to: DER (RFC 5280 §4.2.1.13, §4.2.2.1) with the media types of RFC 2585 §3. */
const publications: readonly Publication[] = [
  {
    prefix: '/crl',
    ending: '.crl',
    contentType: 'application/pkix-crl',
    read: (gateway, ca) => gateway.crl(ca),
  },
  {
    prefix: '/aia',
    ending: '.cer',
    contentType: 'application/pkix-cert',
    read: (gateway, ca) => gateway.caCertificate(ca),
  },
];

/** Serves `/crl/{ca}.crl` and `/aia/{ca}.cer` without authentication, on both listeners. */
export const createPublication = (gateway: Gateway): readonly Mount[] =>
  publications.map((publication) => ({
    prefix: publication.prefix,
    plainHttp: true,
    bodyLimit: 0,
    handle: (request) => handle(gateway, publication, request),
    refuse: text,
  }));

async function handle(
  gateway: Gateway,
  publication: Publication,
  request: HttpRequest,
): Promise<HttpResponse> {
  if (request.method !== 'GET') return text(405, 'method not allowed', { allow: 'GET' });
  const name = request.path.slice(publication.prefix.length + 1);
  const ca = /^\d{1,15}$/.exec(name.slice(0, -publication.ending.length));
  if (!ca || !name.endsWith(publication.ending)) return text(404, 'not found');
  try {
    const body = await publication.read(gateway, Number(ca[0]));
    return {
      status: 200,
      headers: { 'content-type': publication.contentType, 'cache-control': 'max-age=300' },
      body,
    };
  } catch (error) {
    const fault = toFault(error);
    if (fault.code === 'notFound') return text(404, fault.detail);
    if (fault.code === 'unavailable')
      return text(503, fault.detail, { 'retry-after': String(fault.retryAfter ?? 5) });
    throw error;
  }
}
