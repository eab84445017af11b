import { STATUS_CODES } from 'node:http';
import type { Connection } from './connection.ts';
import type { HttpResponse } from './exchange.ts';
import { type Head, isFieldName, isFieldValue } from './head.ts';

const everywhere = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };
const overTls = { ...everywhere, 'strict-transport-security': 'max-age=31536000' };

export const plainText = (status: number, text: string): HttpResponse => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: `${text}\n`,
});

/** A response as it goes out. */
interface Ready {
  readonly head: string;
  readonly body: HttpResponse['body'];
  /** Octets of the body; undefined for a stream of which nobody has said. */
  readonly length: number | undefined;
  readonly chunked: boolean;
}

/** Throws for a status or a field that cannot be sent. */
export function prepare(connection: Connection, request: Head, response: HttpResponse): Ready {
  const { status, body } = response;
  const fields = fieldsOf(connection, response);
  const length = lengthOf(body) ?? (fields['content-length'] ? Number(fields['content-length']) : undefined);
  const chunked = length === undefined && request.version !== '1.0';
  // RFC 9110 §8.6: these have none.
  const bodiless = status === 204 || status === 304;
  delete fields['content-length'];
  if (!bodiless && chunked) fields['transfer-encoding'] = 'chunked';
  if (!bodiless && length !== undefined) fields['content-length'] = `${length}`;
  if (connection.closing) fields.connection = 'close';
  const head = render(status, fields);
  return bodiless || request.method === 'HEAD'
    ? { head, body: '', length: 0, chunked: false }
    : { head, body, length, chunked };
}

function fieldsOf({ peer, clock }: Connection, { headers }: HttpResponse): Record<string, string> {
  const fields: Record<string, string> = peer.secure ? { ...overTls } : { ...everywhere };
  for (const name in headers) fields[name.toLowerCase()] = headers[name]!;
  fields.date = clock.date;
  return fields;
}

function lengthOf(body: HttpResponse['body']): number | undefined {
  if (typeof body === 'string') return Buffer.byteLength(body);
  return body instanceof Uint8Array ? body.length : undefined;
}

function render(status: number, fields: Readonly<Record<string, string>>): string {
  if (!Number.isInteger(status) || status < 200 || status > 999) throw new RangeError(`status ${status}`);
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
  for (const name in fields) {
    const value = fields[name]!;
    if (!isFieldName(name) || !isFieldValue(value)) throw new TypeError(`field ${name} cannot be sent`);
    head += `${name}: ${value}\r\n`;
  }
  return `${head}\r\n`;
}

/** Octets. What is longer goes out in pieces of this length, as fast as the peer takes them. */
const piece = 64 * 1024;

/**
 * Sends a response, and ends the connection when it is the last one. Undefined when the socket has taken it all, else a promise
 * of that, which rejects when a stream fails or is not as long as it was said to be.
 */
export function send(connection: Connection, ready: Ready): Promise<void> | undefined {
  connection.closed = connection.closing;
  const { head, body, length } = ready;
  if (!isStream(body) && length !== undefined && length <= piece) {
    // In one write and one TLS record: two cost half as much again as the whole exchange.
    connection.socket.write(together(head, body, length));
    end(connection);
    return undefined;
  }
  return stream(connection, ready).then(() => end(connection));
}

const isStream = (body: HttpResponse['body']): body is AsyncIterable<Uint8Array> =>
  typeof body !== 'string' && !(body instanceof Uint8Array);

function together(head: string, body: string | Uint8Array, length: number): Buffer {
  const octets = Buffer.allocUnsafe(head.length + length);
  octets.write(head, 'latin1');
  if (typeof body === 'string') octets.write(body, head.length);
  else octets.set(body, head.length);
  return octets;
}

function end({ closed, socket }: Connection): void {
  if (closed) socket.destroySoon();
}

async function stream(connection: Connection, { head, body, length, chunked }: Ready): Promise<void> {
  const { socket } = connection;
  const pieces = isStream(body) ? body : cut(typeof body === 'string' ? Buffer.from(body) : body);
  let sent = 0;
  socket.write(head, 'latin1');
  for await (const octets of pieces) {
    if (socket.destroyed) return;
    if (octets.length === 0) continue;
    sent += octets.length;
    if (chunked) socket.write(`${octets.length.toString(16)}\r\n`);
    const taken = socket.write(octets);
    if (chunked) socket.write('\r\n');
    if (!taken) await drained(connection);
  }
  if (chunked) socket.write('0\r\n\r\n');
  else if (length !== undefined && sent !== length)
    throw new Error(`a body of ${sent} octets, not ${length}`);
}

function* cut(octets: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < octets.length; at += piece) yield octets.subarray(at, at + piece);
}

function drained(connection: Connection): Promise<void> {
  const { socket } = connection;
  connection.stall();
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off('drain', done);
      socket.off('close', done);
      connection.flow();
      resolve();
    };
    socket.on('drain', done);
    socket.on('close', done);
  });
}

/**
 * Answers a request that is not wanted, and ends the connection. What the peer is still sending is dropped for a moment
 * first: to close with octets unread is to reset, and the peer might never read why.
 */
export function refuse(connection: Connection, request: Head, response: HttpResponse): void {
  connection.closing = true;
  const { head, body, length = 0 } = prepare(connection, request, response);
  connection.closed = true;
  connection.socket.write(isStream(body) ? head : together(head, body, length));
  connection.expect(connection.limits.lingerMs, () => connection.socket.destroy());
}
