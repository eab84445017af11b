import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { Fault } from '#core/fault.ts';

export interface UpstreamCall {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Whether redirects are followed. Otherwise they are returned like other responses. */
  readonly redirects: boolean;
}

export interface UpstreamReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
}

/** Trust anchors and client credential, PEM. `anyone`: the server is not authenticated; the caller verifies the response otherwise. */
export interface TlsIdentity {
  readonly anchors: readonly string[] | 'system' | 'anyone';
  readonly certificate?: string;
  readonly key?: string;
}

const mostBytes = 1024 * 1024;
const mostRedirects = 3;

/**
 * Sends one request on a new connection, over TLS for https. Redirects are followed only on the same origin (RFC 7030
 * §3.2.1), and those of a POST only if they preserve the method. Faults: unavailable without a complete response;
 * malformed for a response that is too large, or compressed although the request did not allow it.
 */
export async function exchange(
  request: UpstreamCall,
  identity: TlsIdentity,
  signal: AbortSignal,
): Promise<UpstreamReply> {
  let { url } = request;
  for (let redirects = 0; ; redirects++) {
    const answer = await once({ ...request, url }, identity, signal);
    const next = request.redirects ? redirection(request.method, url, answer) : undefined;
    if (!next) return answer;
    if (redirects >= mostRedirects) throw new Fault('unavailable', 'the upstream CA redirects too often');
    url = next;
  }
}

const redirects: Readonly<Record<UpstreamCall['method'], readonly number[]>> = {
  GET: [301, 302, 303, 307, 308],
  POST: [307, 308],
};

function redirection(
  method: UpstreamCall['method'],
  from: URL,
  { status, headers: { location } }: UpstreamReply,
): URL | undefined {
  if (!redirects[method].includes(status) || location === undefined || !URL.canParse(location, from.href))
    return undefined;
  const to = new URL(location, from);
  if (to.origin === from.origin) return to;
  throw new Fault('unavailable', 'the upstream CA redirects to another server: not followed');
}

function once(
  { url, method, headers, body }: UpstreamCall,
  identity: TlsIdentity,
  signal: AbortSignal,
): Promise<UpstreamReply> {
  const isTls = url.protocol === 'https:';
  const options: RequestOptions = {
    method,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (isTls ? 443 : 80) : Number(url.port),
    path: url.pathname + url.search,
    headers: { ...headers, 'accept-encoding': 'identity', connection: 'close' },
    agent: false,
    signal,
    ...(isTls && tlsOptions(identity)),
  };
  return new Promise((resolve, reject) => {
    const lost = (error: unknown): void => reject(signal.aborted ? late(signal) : unreachable(error));
    if (signal.aborted) return lost(undefined);
    const request = (isTls ? httpsRequest : httpRequest)(options, (response) => {
      receive(response).then(resolve, (error: unknown) => {
        request.destroy();
        if (error instanceof Fault) reject(error);
        else lost(error);
      });
    });
    request.on('error', (error) => {
      if (!isSurplus(error)) lost(error);
    });
    // Bun does not report the end of every connection.
    signal.addEventListener('abort', () => lost(signal.reason), { once: true });
    request.end(body);
  });
}

/** Returns whether the error is about octets after the complete response, which are ignored. */
const isSurplus = (error: Error): boolean => 'code' in error && error.code === 'HPE_CLOSED_CONNECTION';

const tlsOptions = ({ anchors, certificate, key }: TlsIdentity): RequestOptions => ({
  minVersion: 'TLSv1.2',
  rejectUnauthorized: anchors !== 'anyone',
  ...(typeof anchors === 'object' && { ca: [...anchors] }),
  ...(certificate !== undefined && key !== undefined && { cert: certificate, key }),
});

function receive(response: IncomingMessage): Promise<UpstreamReply> {
  return new Promise((resolve, reject) => {
    const { statusCode: status = 0, headers } = response;
    const encoding = headers['content-encoding'];
    if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
      return reject(
        new Fault('malformed', 'the upstream CA sent a compressed response, which was not requested'),
      );
    const chunks: Uint8Array[] = [];
    let length = 0;
    response.on('data', (chunk: Uint8Array) => {
      length += chunk.length;
      if (length > mostBytes) reject(new Fault('malformed', 'the response of the upstream CA is too large'));
      else chunks.push(chunk);
    });
    response.on('end', () => {
      const body = new Uint8Array(Buffer.concat(chunks));
      const promised = headers['content-length'];
      // A connection that was closed early does not mark the end of the body.
      if (promised !== undefined && Number(promised) !== body.length) reject(new Error('cut off'));
      else resolve({ status, headers, body });
    });
    response.on('aborted', () => reject(new Error('cut off')));
    response.on('error', reject);
    response.on('close', () => reject(new Error('cut off')));
  });
}

const late = (signal: AbortSignal): Fault =>
  new Fault('unavailable', 'the upstream CA did not respond in time', { cause: signal.reason });

/** Returns the Fault for a connection failure. It contains the error code of the TLS library, no secrets. */
function unreachable(error: unknown): Fault {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const why = /CERT|VERIFY|SELF_SIGNED|ISSUER|ALTNAME/.test(code)
    ? `the TLS certificate of the upstream CA is not trusted (${code})`
    : `the upstream CA cannot be reached${/^[A-Z_]{3,40}$/i.test(code) ? ` (${code})` : ''}`;
  return new Fault('unavailable', why, { cause: error });
}
