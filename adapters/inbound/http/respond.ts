import { STATUS_CODES } from 'node:http';
import type { Connection } from './connection.ts';
import type { HttpResponse } from './exchange.ts';
import { usualSpelling } from './field-names.ts';
import type { RequestHead } from './parser.ts';

export const plainText = (status: number, text: string): HttpResponse => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: `${text}\n`,
});

const everywhere = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };
const overTls = { ...everywhere, 'strict-transport-security': 'max-age=31536000' };
/** What nobody but the listener says. */
const ours = ['content-length', 'transfer-encoding', 'connection', 'date'];
// RFC 9110 §5.1, §5.5: anything else might be read as more than one field.
const field = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+: [\t\x20-\x7e\x80-\xff]*$/;

/** How the peer knows where a body ends (RFC 9112 §6.3): by its length in octets, for one. */
type Framing = number | 'chunked' | 'to the end' | 'none';

/** Status line and all fields that depend on nothing but a status, what a mount says and whether it is over TLS. */
interface Opening {
  readonly status: number;
  readonly secure: boolean;
  readonly text: string;
}

/** The last one with each header that a mount has frozen: most responses have the very same. */
const openings = new WeakMap<HttpResponse['headers'], Opening>();

/** Throws when they cannot be sent as they are. */
function openingOf({ status, headers }: HttpResponse, secure: boolean): string {
  const known = openings.get(headers);
  if (known?.status === status && known.secure === secure) return known.text;
  const reason = STATUS_CODES[status];
  if (reason === undefined) throw new Error(`there is no status ${status}`);
  const lines = [`HTTP/1.1 ${status} ${reason}`];
  const said: string[] = [];
  for (const name of Object.keys(headers)) {
    const lower = name.toLowerCase();
    const line = `${usualSpelling(lower)}: ${headers[name]}`;
    if (!field.test(line)) throw new Error(`the field ${name} of a response is not one`);
    if (ours.includes(lower)) continue;
    said.push(lower);
    lines.push(line);
  }
  const usual: Record<string, string> = secure ? overTls : everywhere;
  for (const name of Object.keys(usual)) {
    if (!said.includes(name)) lines.push(`${usualSpelling(name)}: ${usual[name]}`);
  }
  const text = lines.join('\r\n');
  if (Object.isFrozen(headers)) openings.set(headers, { status, secure, text });
  return text;
}

/** Status line and header, one octet a character. Throws when they cannot be sent as they are. */
function headOf(
  connection: Connection,
  { old, persists }: RequestHead,
  response: HttpResponse,
  framing: Framing,
): string {
  let text = `${openingOf(response, connection.peer.secure)}\r\nDate: ${connection.clock.date}\r\n`;
  if (typeof framing === 'number') text += `Content-Length: ${framing}\r\n`;
  else if (framing === 'chunked') text += 'Transfer-Encoding: chunked\r\n';
  if (connection.closing || !persists || framing === 'to the end') {
    connection.closed = true;
    text += 'Connection: close\r\n';
  } else if (old) {
    text += 'Connection: keep-alive\r\n';
  }
  return `${text}\r\n`;
}

/** RFC 9110 §8.6: these have no body, and no length of one. */
const isBare = (status: number): boolean => status === 204 || status === 304;

const noOctets = new Uint8Array();

/** Octets. What is longer goes out in pieces of this length, as fast as the peer takes them. */
const piece = 64 * 1024;

/**
 * Answers the request with this head. The socket has taken all of it when this returns, or when what it returns resolves. Throws
 * or rejects when it cannot be sent as it is; `connection.responding` tells whether some of it has been.
 */
export function respond(
  connection: Connection,
  head: RequestHead,
  response: HttpResponse,
): Promise<void> | undefined {
  const { body, status } = response;
  const silent = head.method === 'HEAD' || isBare(status);
  if (
    typeof body === 'string' &&
    body.length <= piece &&
    !silent &&
    sendAscii(connection, head, response, body)
  ) {
    return undefined;
  }
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    return stream(connection, head, response, body);
  }
  const octets = typeof body === 'string' ? Buffer.from(body) : body;
  if (octets.length > piece) {
    const headers = { ...response.headers, 'content-length': String(octets.length) };
    return stream(connection, head, { ...response, headers }, pieces(octets));
  }
  const text = headOf(connection, head, response, isBare(status) ? 'none' : octets.length);
  connection.send(joined(text, silent ? noOctets : octets));
  connection.complete();
  return undefined;
}

/**
 * Sends header and body as one string if both are ASCII, as most are: then they have as many octets as characters, which costs less
 * to see of the whole than to count in the body first, and the socket copies a string less often than a buffer of ours.
 */
function sendAscii(connection: Connection, head: RequestHead, response: HttpResponse, body: string): boolean {
  const whole = headOf(connection, head, response, body.length) + body;
  if (Buffer.byteLength(whole) !== whole.length) return false;
  connection.send(whole);
  connection.complete();
  return true;
}

/** Header and body in one write and one TLS record: two cost half as much again as the whole exchange. */
function joined(head: string, body: Uint8Array): Uint8Array {
  const octets = Buffer.allocUnsafe(head.length + body.length);
  octets.write(head, 'latin1');
  octets.set(body, head.length);
  return octets;
}

async function* pieces(octets: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < octets.length; at += piece) yield octets.subarray(at, at + piece);
}

async function stream(
  connection: Connection,
  head: RequestHead,
  response: HttpResponse,
  body: AsyncIterable<Uint8Array>,
): Promise<void> {
  const { headers, status } = response;
  const known = headers['content-length'];
  const unknown = head.old ? 'to the end' : 'chunked';
  const framing = isBare(status) ? 'none' : known === undefined ? unknown : Number(known);
  connection.send(Buffer.from(headOf(connection, head, response, framing), 'latin1'));
  if (head.method === 'HEAD' || framing === 'none') {
    await body[Symbol.asyncIterator]().return?.();
    connection.complete();
    return;
  }
  let octets = 0;
  for await (const part of body) {
    if (connection.socket.destroyed) return;
    if (part.length === 0) continue; // an empty chunk would be the last
    octets += part.length;
    if (!connection.send(framing === 'chunked' ? chunk(part) : part)) await drained(connection);
  }
  if (framing === 'chunked') connection.send(lastChunk);
  else if (typeof framing === 'number' && octets !== framing) {
    throw new Error('a response is not as long as it says');
  }
  connection.complete();
}

/** RFC 9112 §7.1. */
const chunk = (octets: Uint8Array): Uint8Array =>
  Buffer.concat([Buffer.from(`${octets.length.toString(16)}\r\n`), octets, Buffer.from('\r\n')]);
const lastChunk = Buffer.from('0\r\n\r\n');

function drained(connection: Connection): Promise<void> {
  connection.stall();
  return new Promise((resolve) => {
    const { socket } = connection;
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
 * Answers a request whose body is not wanted; the last one of its connection, which the caller completes when the request has come
 * to its end. What the peer is still sending is dropped for a moment first: to close with octets unread is to reset, and the peer
 * might never read why.
 */
export function respondAndClose(connection: Connection, head: RequestHead, response: HttpResponse): void {
  const { body, status } = response;
  const octets = typeof body === 'string' ? Buffer.from(body) : body instanceof Uint8Array ? body : noOctets;
  connection.closing = true;
  const text = headOf(connection, head, response, isBare(status) ? 'none' : octets.length);
  connection.send(joined(text, head.method === 'HEAD' ? noOctets : octets));
  connection.linger();
}
