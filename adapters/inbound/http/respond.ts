import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Connection } from './connection.ts';
import type { HttpResponse } from './exchange.ts';

const everywhere = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };
const overTls = { ...everywhere, 'strict-transport-security': 'max-age=31536000' };

export const plainText = (status: number, text: string): HttpResponse => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: `${text}\n`,
});

/** `length` undefined: chunked, unless the response has a length of its own. */
function writeHead(
  connection: Connection,
  res: ServerResponse,
  response: HttpResponse,
  length?: number,
): void {
  const headers: Record<string, string | number> = {
    ...(connection.peer.secure ? overTls : everywhere),
    ...response.headers,
    date: connection.clock.date,
  };
  // RFC 9110 §8.6: these have none.
  if (length !== undefined && response.status !== 204 && response.status !== 304)
    headers['content-length'] = length;
  if (connection.closing) headers.connection = 'close';
  res.writeHead(response.status, headers);
  connection.closed = connection.closing;
}

/** Octets. What is longer goes out in pieces of this length, as fast as the peer takes them. */
const piece = 64 * 1024;

/** Sends a response; resolves when the socket has taken it all. Rejects when it cannot be sent as it is. */
export async function respond(
  connection: Connection,
  res: ServerResponse,
  response: HttpResponse,
): Promise<void> {
  const body = typeof response.body === 'string' ? Buffer.from(response.body) : response.body;
  if (body instanceof Uint8Array && body.length <= piece) {
    // Header and body in one write and one TLS record: two cost half as much again as the whole exchange.
    connection.socket.cork();
    try {
      writeHead(connection, res, response, body.length);
      res.end(body);
    } finally {
      connection.socket.uncork();
    }
    return;
  }
  const isWhole = body instanceof Uint8Array;
  writeHead(connection, res, response, isWhole ? body.length : undefined);
  for await (const chunk of isWhole ? pieces(body) : body) {
    if (connection.socket.destroyed || res.req.method === 'HEAD') break;
    if (!res.write(chunk)) await drained(connection, res);
  }
  res.end();
}

function* pieces(octets: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < octets.length; at += piece) yield octets.subarray(at, at + piece);
}

function drained(connection: Connection, res: ServerResponse): Promise<void> {
  connection.stall();
  return new Promise((resolve) => {
    const done = (): void => {
      res.off('drain', done);
      connection.socket.off('close', done);
      connection.flow();
      resolve();
    };
    res.on('drain', done);
    connection.socket.on('close', done);
  });
}

/**
 * Answers a request whose body is not wanted, and ends the connection. What the peer is still sending is
 * dropped for a moment first: to close with octets unread is to reset, and the peer might never read why.
 */
export function respondAndClose(
  connection: Connection,
  req: IncomingMessage,
  res: ServerResponse,
  response: HttpResponse,
): void {
  const { body } = response;
  const octets =
    typeof body === 'string' ? Buffer.from(body) : body instanceof Uint8Array ? body : Buffer.alloc(0);
  connection.closing = true;
  writeHead(connection, res, response, octets.length);
  if (req.readableEnded) {
    res.end(octets);
    return;
  }
  res.write(octets);
  connection.expect(connection.limits.lingerMs, () => connection.socket.destroy());
  req.on('end', () => res.end());
  req.resume();
}
