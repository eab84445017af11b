import type { HttpRequest, HttpResponse } from '../http/exchange.ts';

/** Elysia needs a long host name (`http://pki/x` is 404). Nothing else depends on it. */
const origin = 'http://management.postern.internal';

const originals = new WeakMap<Request, HttpRequest>();

/**
 * Returns the request as Elysia expects it, without its body, which `originalOf` returns. Undefined for a path that resolves to
 * another one (`..` and its encodings), so that Postern serves exactly the path that a proxy in front has allowed.
 */
export function toWebRequest(request: HttpRequest): Request | undefined {
  const { method, path, query } = request;
  const web = new Request(`${origin}${path}${query === '' ? '' : `?${query}`}`, { method });
  if (new URL(web.url).pathname !== path) return undefined;
  originals.set(web, request);
  return web;
}

/** Returns the request from which `toWebRequest` made `web`. */
export function originalOf(web: Request): HttpRequest {
  const original = originals.get(web);
  if (!original) throw new Error('this request was not made by toWebRequest');
  return original;
}

/** Converts a response of Elysia. Tables and CRLs may be long, so they are streamed. */
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

/** The pieces of each streamed body, by response. */
const bodies = new WeakMap<Response, Iterable<Uint8Array>>();

/** Returns a response with a long body of known length, of which one piece at a time is in memory. */
export function streamed(
  pieces: Iterable<Uint8Array>,
  length: number,
  headers: Readonly<Record<string, string>>,
): Response {
  const response = new Response(null, { headers: { ...headers, 'content-length': String(length) } });
  bodies.set(response, pieces);
  return response;
}

/** Returns the body of a response that `streamed` made. */
function streamOf(response: Response): AsyncIterable<Uint8Array> | undefined {
  const pieces = bodies.get(response);
  return pieces && oneByOne(pieces);
}

/** Yields to other requests after each piece: a fast client would block them otherwise. */
async function* oneByOne(pieces: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    yield piece;
    await new Promise(setImmediate);
  }
}
