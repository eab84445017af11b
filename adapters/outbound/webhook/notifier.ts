import { createHmac } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { type IncomingMessage, request as plainRequest, type RequestOptions } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { isIP } from 'node:net';
import { encodePem } from '#adapters/wire/pem.ts';
import { Fault } from '#core/fault.ts';
import type { Attempt, Message, Notifier } from '#core/ports/notifier.ts';
import { destination, hostOf, isRefused } from './addresses.ts';

export interface NotifierOptions {
  /** Milliseconds for one attempt, including name resolution. */
  readonly timeout?: number;
  /** Name → addresses. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
}

const mostBody = 1024;
const mostAddresses = 4;

const resolveName = async (host: string): Promise<readonly string[]> =>
  (await lookup(host, { all: true })).map(({ address }) => address);

export function createNotifier(options: NotifierOptions = {}): Notifier {
  const { timeout = 10_000, resolve = resolveName } = options;
  return {
    check(url) {
      destination(url);
    },
    async post(message, outer) {
      const signal = AbortSignal.any([outer, AbortSignal.timeout(timeout)]);
      try {
        const url = destination(message.url);
        const status = await send(url, await within(signal, addressesOf(url, resolve)), message, signal);
        return answered(status);
      } catch (error) {
        return { delivered: false, status: null, detail: reasonOf(error, signal) };
      }
    },
  };
}

function answered(status: number): Attempt {
  const delivered = status >= 200 && status < 300;
  const redirects = status >= 300 && status < 400;
  const detail = delivered
    ? null
    : redirects
      ? `answered ${status}: redirects are not followed`
      : `answered ${status}`;
  return { delivered, status, detail };
}

/**
 * Resolves and checks the host. The connection uses these addresses, so a second resolution cannot bypass the check.
 * Faults: malformed.
 */
async function addressesOf(
  url: URL,
  resolve: NonNullable<NotifierOptions['resolve']>,
): Promise<readonly string[]> {
  const host = hostOf(url);
  if (isIP(host) !== 0) return [host];
  const addresses = await resolve(host);
  if (addresses.some(isRefused))
    throw new Fault('malformed', 'the name resolves to an address to which webhooks are not allowed');
  return addresses.slice(0, mostAddresses);
}

/** Returns the status of the response. Tries the next address only if nothing has been sent. */
async function send(
  url: URL,
  addresses: readonly string[],
  message: Message,
  signal: AbortSignal,
): Promise<number> {
  let failure: unknown = new Error('no address');
  for (const address of addresses) {
    try {
      return await once(url, address, message, signal);
    } catch (error) {
      failure = error;
      if (signal.aborted || !/^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/.test(codeOf(error)))
        throw error;
    }
  }
  throw failure;
}

function once(url: URL, address: string, message: Message, signal: AbortSignal): Promise<number> {
  const { body, anchors } = message;
  const host = hostOf(url);
  const isTls = url.protocol === 'https:';
  const options: RequestOptions & { servername?: string; ca?: string[]; minVersion?: 'TLSv1.2' } = {
    method: 'POST',
    host: address,
    port: url.port === '' ? (isTls ? 443 : 80) : Number(url.port),
    path: url.pathname + url.search,
    headers: {
      ...signedHeaders(message),
      host: url.host,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'user-agent': 'Postern',
      'accept-encoding': 'identity',
      connection: 'close',
    },
    agent: false,
    signal,
    ...(isTls && {
      minVersion: 'TLSv1.2',
      ...(isIP(host) === 0 && { servername: host }),
      ...(anchors && { ca: anchors.map((der) => encodePem('CERTIFICATE', der)) }),
    }),
  };
  const sent = new Promise<number>((resolve, reject) => {
    const request = (isTls ? tlsRequest : plainRequest)(options, (response) => {
      resolve(response.statusCode ?? 0);
      drain(response, () => request.destroy());
    });
    request.on('error', reject);
    request.on('close', () => reject(new Error('cut off')));
    request.end(body);
  });
  // Bun does not report the end of every connection.
  return within(signal, sent);
}

/** Reads a short response to its end and aborts a long one. */
function drain(response: IncomingMessage, stop: () => void): void {
  let length = 0;
  response.on('data', (chunk: Uint8Array) => {
    length += chunk.length;
    if (length > mostBody) stop();
  });
  response.on('error', () => undefined);
}

function within<T>(signal: AbortSignal, what: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    what.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** Returns a reason without text from the receiver. */
function reasonOf(error: unknown, signal: AbortSignal): string {
  if (error instanceof Fault) return error.detail;
  if (signal.aborted) return 'no response in time';
  const code = codeOf(error);
  if (/CERT|VERIFY|SELF_SIGNED|ISSUER|ALTNAME/.test(code))
    return `its TLS certificate is not trusted (${code})`;
  return `it cannot be reached${/^[A-Z][A-Z_]{2,39}$/i.test(code) ? ` (${code})` : ''}`;
}

/** Standard Webhooks 1.0.0: HMAC-SHA256 over id, time (seconds) and body, each after a full stop. */
function signedHeaders({ id, at, body, secret }: Message): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(at / 1000));
  const mac = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${mac}` };
}
