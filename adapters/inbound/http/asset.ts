import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { HttpRequest, HttpResponse } from './exchange.ts';

/** A file as it is served: as it is, and compressed in each way that makes it shorter. */
export interface Asset {
  readonly contentType: string;
  readonly etag: string;
  readonly body: Uint8Array;
  /** By content coding, the best first. */
  readonly encoded: ReadonlyMap<string, Uint8Array>;
}

const compress = { br: promisify(brotliCompress), gzip: promisify(gzip) };

/** Compresses `body` and computes its ETag: once for a file, not for each request. */
export async function createAsset(contentType: string, body: Uint8Array): Promise<Asset> {
  const [br, zstd, gz] = await Promise.all([
    // The highest quality takes ten times as long for a twentieth less.
    compress.br(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
    Bun.zstdCompress(body, { level: 15 }),
    compress.gzip(body, { level: 9 }),
  ]);
  const encoded = Object.entries({ br, zstd, gzip: gz }).filter(([, octets]) => octets.length < body.length);
  return {
    contentType,
    etag: `"${hash('sha256', body, 'base64url').slice(0, 22)}"`,
    body,
    encoded: new Map(encoded),
  };
}

/**
 * Returns the asset as 200 in the best coding that the client accepts, or 304 if the client has it already (RFC 9110 §13.1.2).
 * `headers` are added to both.
 */
export function serveAsset(
  request: HttpRequest,
  asset: Asset,
  headers: Readonly<Record<string, string>>,
): HttpResponse {
  const { contentType, etag, body, encoded } = asset;
  const common = { ...headers, etag, vary: 'accept-encoding' };
  if (isFresh(request.headers['if-none-match'], etag)) return { status: 304, headers: common, body: '' };
  const coding = [...encoded.keys()].find((one) => accepts(request.headers['accept-encoding'], one));
  return {
    status: 200,
    headers: { ...common, 'content-type': contentType, ...(coding && { 'content-encoding': coding }) },
    body: (coding && encoded.get(coding)) || body,
  };
}

/** Returns the asset with 404, always whole: no client has a copy of a page that does not exist. */
export const serveMissing = (
  request: HttpRequest,
  asset: Asset,
  headers: Readonly<Record<string, string>>,
): HttpResponse => ({
  ...serveAsset({ ...request, headers: { ...request.headers, 'if-none-match': '' } }, asset, {
    ...headers,
    'cache-control': 'no-store',
  }),
  status: 404,
});

/** RFC 9110 §13.1.2. */
const isFresh = (ifNoneMatch = '', etag: string): boolean =>
  ifNoneMatch.split(',').some((one) => one.trim().replace(/^W\//, '') === etag || one.trim() === '*');

/** Whether a coding is named, and not with quality 0 (RFC 9110 §12.5.3). */
const accepts = (acceptEncoding: string | undefined, coding: string): boolean =>
  (acceptEncoding ?? '').split(',').some((range) => {
    const [name, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return name === coding && !parameters.some((one) => /^q=0(?:\.0*)?$/.test(one));
  });
