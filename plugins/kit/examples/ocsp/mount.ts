import { createHash } from 'node:crypto';
import { Fault, type HttpRequest, type HttpResponse, type Log, type Mount, toFault } from 'postern';
import type { OcspAnswer } from './responder.ts';
import { refusal } from './response.ts';

export interface MountOptions {
  readonly path: string;
  /** How long caches may keep a response, in seconds. */
  readonly maxAge: number;
  readonly answer: (request: Uint8Array) => Promise<OcspAnswer>;
  readonly now: () => number;
  readonly log: Log;
}

/** Enough for fifty requests with SHA-512 and a signature, which is ignored. */
const longestRequest = 16 * 1024;

const text = (status: number, body: string, headers: Record<string, string> = {}): HttpResponse => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
  body: `${body}\n`,
});

/** Serves OCSP over HTTP (RFC 6960 §A) on both listeners, without authentication. Responses to GET can be cached (RFC 5019 §5, §6). */
export const ocspMount = (options: MountOptions): Mount => ({
  prefix: options.path,
  plainHttp: true,
  bodyLimit: longestRequest,
  handle: (request) => handle(options, request),
  refuse: text,
});

async function handle(options: MountOptions, request: HttpRequest): Promise<HttpResponse> {
  const { method, headers } = request;
  const byPost = method === 'POST';
  if (!byPost && method !== 'GET') return text(405, 'method not allowed', { allow: 'GET, POST' });
  if (byPost) {
    if (request.path !== options.path && request.path !== `${options.path}/`) return text(404, 'not found');
    const [type = ''] = (headers['content-type'] ?? '').split(';');
    if (type.trim().toLowerCase() !== 'application/ocsp-request') {
      return text(415, 'Content-Type must be application/ocsp-request');
    }
  }
  try {
    const answer = await options.answer(byPost ? request.body : fromPath(options.path, request.path));
    return byPost
      ? response(answer.der, { 'cache-control': 'no-store' })
      : cacheable(options, answer, headers);
  } catch (error) {
    const { code } = toFault(error);
    if (code === 'internal') options.log.error('an OCSP request could not be processed', error);
    return response(refusal(error), { 'cache-control': 'no-store' });
  }
}

const response = (body: Uint8Array, headers: Record<string, string>): HttpResponse => ({
  status: 200,
  headers: { 'content-type': 'application/ocsp-response', ...headers },
  body,
});

/** Decodes the request in a GET path: the URL-encoded base64 of its DER (RFC 6960 §A.1). Throws Fault `malformed`. */
function fromPath(prefix: string, path: string): Uint8Array {
  let base64: string;
  try {
    base64 = decodeURIComponent(path.slice(prefix.length + 1));
  } catch {
    throw new Fault('malformed', 'the path is not percent-encoded');
  }
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(base64)) {
    throw new Fault('malformed', 'the path is not base64');
  }
  return Uint8Array.from(Buffer.from(base64, 'base64'));
}

function cacheable(
  { maxAge, now }: MountOptions,
  { der, reusable, thisUpdate, nextUpdate }: OcspAnswer,
  headers: HttpRequest['headers'],
): HttpResponse {
  if (!reusable) return response(der, { 'cache-control': 'no-store' });
  const left = Math.max(0, Math.floor((nextUpdate - now()) / 1000));
  const etag = `"${createHash('sha256').update(der).digest('hex')}"`;
  const caching = {
    'cache-control': `max-age=${Math.min(maxAge, left)},public,no-transform,must-revalidate`,
    'last-modified': new Date(thisUpdate).toUTCString(),
    expires: new Date(nextUpdate).toUTCString(),
    etag,
  };
  const cached = (headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (cached.includes(etag) || cached.includes('*')) return { status: 304, headers: caching, body: '' };
  return response(der, caching);
}
