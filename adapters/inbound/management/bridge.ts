import type { HttpRequest, HttpResponse } from '../http/exchange.ts';

/** Elysia takes a Request on a host of some length only (`http://pki/x` is 404), and the host plays no part. */
const origin = 'http://management.postern.internal';

const originals = new WeakMap<Request, HttpRequest>();

/**
 * The request as the framework wants it; without its body, which `originalOf` has whole. Undefined for a path that means
 * another one (`..` and its encodings): what a proxy in front allowed is what is served.
 */
export function toWebRequest(request: HttpRequest): Request | undefined {
  const { method, path, query } = request;
  const web = new Request(`${origin}${path}${query === '' ? '' : `?${query}`}`, { method });
  if (new URL(web.url).pathname !== path) return undefined;
  originals.set(web, request);
  return web;
}

/** What `toWebRequest` made it from. */
export function originalOf(web: Request): HttpRequest {
  const original = originals.get(web);
  if (!original) throw new Error('a request that came another way');
  return original;
}

/** Tables and CRLs may be long: they are sent as they are made. */
export async function toHttpResponse(web: Response): Promise<HttpResponse> {
  const headers: Record<string, string> = {};
  web.headers.forEach((value, name) => {
    headers[name] = value;
  });
  const isTable = /^(?:text\/csv|application\/jsonl)/.test(headers['content-type'] ?? '');
  const long = streamOf(web) ?? (isTable ? web.body : undefined);
  const body = long ?? new Uint8Array(await web.arrayBuffer());
  return { status: web.status, headers, body };
}

/** By response: the pieces of a body that is sent as it is encoded. */
const bodies = new WeakMap<Response, Iterable<Uint8Array>>();

/** A response with a long body of known length, of which no more than a piece at a time is in memory. */
export function streamed(
  pieces: Iterable<Uint8Array>,
  length: number,
  headers: Readonly<Record<string, string>>,
): Response {
  const response = new Response(null, { headers: { ...headers, 'content-length': String(length) } });
  bodies.set(response, pieces);
  return response;
}

/** The body of what `streamed` made. */
function streamOf(response: Response): AsyncIterable<Uint8Array> | undefined {
  const pieces = bodies.get(response);
  return pieces && oneByOne(pieces);
}

/** A client that takes the pieces as fast as they are encoded does not keep other requests waiting. */
async function* oneByOne(pieces: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    yield piece;
    await new Promise(setImmediate);
  }
}
