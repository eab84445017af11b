import { STATUS_CODES } from 'node:http';
import type { Connection } from './connection.ts';
import type { HttpResponse } from './exchange.ts';
import type { RequestHead } from './parser.ts';

export const plainText = (status: number, text: string): HttpResponse => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: `${text}\n`,
});

const always = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };
const overTls = { ...always, 'strict-transport-security': 'max-age=31536000' };
/** Fields that only the listener sets. */
const listenerFields = ['content-length', 'transfer-encoding', 'connection', 'date', 'x-request-id'];
// RFC 9110 §5.1, §5.5: a reader might take anything else for more than one field.
const field = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+: [\t\x20-\x7e\x80-\xff]*$/;

/** How the client finds the end of a body (RFC 9112 §6.3); a number is the length in octets. */
type Framing = number | 'chunked' | 'to the end' | 'none';

/** The status line and the fields that are the same for all responses with this status and these headers. */
interface StatusAndFields {
  readonly status: number;
  readonly secure: boolean;
  readonly text: string;
}

/** The last text made from each frozen headers object: most responses share a few of them. */
const formatted = new WeakMap<HttpResponse['headers'], StatusAndFields>();

/** Throws an Error when the status or a field is invalid. */
function statusAndFields({ status, headers }: HttpResponse, secure: boolean): string {
  const known = formatted.get(headers);
  if (known?.status === status && known.secure === secure) return known.text;
  const reason = STATUS_CODES[status];
  if (reason === undefined) throw new Error(`there is no status ${status}`);
  const lines = [`HTTP/1.1 ${status} ${reason}`];
  const present: string[] = [];
  for (const name of Object.keys(headers)) {
    const lower = name.toLowerCase();
    const line = `${usualSpelling(lower)}: ${headers[name]}`;
    if (!field.test(line)) throw new Error(`the response field ${name} has an invalid name or value`);
    if (listenerFields.includes(lower)) continue;
    present.push(lower);
    lines.push(line);
  }
  const usual: Record<string, string> = secure ? overTls : always;
  for (const name of Object.keys(usual)) {
    if (!present.includes(name)) lines.push(`${usualSpelling(name)}: ${usual[name]}`);
  }
  const text = lines.join('\r\n');
  if (Object.isFrozen(headers)) formatted.set(headers, { status, secure, text });
  return text;
}

/** Returns status line and header, one octet per character. Throws an Error when the status or a field is invalid. */
function headOf(
  connection: Connection,
  { id, http10, keepAlive }: RequestHead,
  response: HttpResponse,
  framing: Framing,
): string {
  let text = `${statusAndFields(response, connection.peer.secure)}\r\nDate: ${connection.clock.date}\r\nX-Request-Id: ${id}\r\n`;
  if (typeof framing === 'number') text += `Content-Length: ${framing}\r\n`;
  else if (framing === 'chunked') text += 'Transfer-Encoding: chunked\r\n';
  if (connection.closing || !keepAlive || framing === 'to the end') {
    connection.closed = true;
    text += 'Connection: close\r\n';
  } else if (http10) {
    text += 'Connection: keep-alive\r\n';
  }
  return `${text}\r\n`;
}

/** These responses have neither a body nor a Content-Length (RFC 9110 §8.6). */
const isBare = (status: number): boolean => status === 204 || status === 304;

const noOctets = new Uint8Array();

/** In octets. A longer body is sent in pieces of this length, as fast as the client reads them. */
const piece = 64 * 1024;

/**
 * Sends the response to the request `head`. It is complete when this function returns, or when the returned promise resolves.
 * Throws or rejects when the response is invalid; `connection.responding` tells whether part of it has been sent.
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
 * Sends header and body as one string if both are ASCII, as in most responses; returns false otherwise. This is faster: one check
 * of the whole text replaces a count of the octets in the body, and the socket copies a string less often than a Buffer.
 */
function sendAscii(connection: Connection, head: RequestHead, response: HttpResponse, body: string): boolean {
  const whole = headOf(connection, head, response, body.length) + body;
  if (Buffer.byteLength(whole) !== whole.length) return false;
  connection.send(whole);
  connection.complete();
  return true;
}

/** Joins header and body into one write and one TLS record: two writes make the whole exchange half as expensive again. */
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
  const unknown = head.http10 ? 'to the end' : 'chunked';
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
    if (part.length === 0) continue; // an empty chunk would end the body
    octets += part.length;
    if (!connection.send(framing === 'chunked' ? chunk(part) : part)) await drained(connection);
  }
  if (framing === 'chunked') connection.send(lastChunk);
  else if (typeof framing === 'number' && octets !== framing) {
    throw new Error('the length of a response differs from its Content-Length');
  }
  connection.complete();
}

/** RFC 9112 §7.1. */
const chunk = (octets: Uint8Array): Uint8Array =>
  Buffer.concat([Buffer.from(`${octets.length.toString(16)}\r\n`), octets, Buffer.from('\r\n')]);
const lastChunk = Buffer.from('0\r\n\r\n');

function drained(connection: Connection): Promise<void> {
  connection.startSendTimeout();
  return new Promise((resolve) => {
    const { socket } = connection;
    const done = (): void => {
      socket.off('drain', done);
      socket.off('close', done);
      connection.clearSendTimeout();
      resolve();
    };
    socket.on('drain', done);
    socket.on('close', done);
  });
}

/**
 * Sends the last response of a connection, to a request whose body is not read. The caller completes the connection when the
 * request ends. Further input is read and dropped for a moment: closing a socket with unread octets resets it, and the client
 * might not receive the response.
 */
export function respondAndClose(connection: Connection, head: RequestHead, response: HttpResponse): void {
  const { body, status } = response;
  const octets = typeof body === 'string' ? Buffer.from(body) : body instanceof Uint8Array ? body : noOctets;
  connection.closing = true;
  const text = headOf(connection, head, response, isBare(status) ? 'none' : octets.length);
  connection.send(joined(text, head.method === 'HEAD' ? noOctets : octets));
  connection.closeLingering();
}

/** Field names whose usual spelling is not simply a capital after each hyphen. */
const irregular = new Map([
  ['etag', 'ETag'],
  ['www-authenticate', 'WWW-Authenticate'],
]);

/**
 * Returns the usual spelling, such as `Content-Type`, of a field name in lower case. Names are case-insensitive (RFC 9110 §5.1),
 * but some EST clients compare them literally (cisco/libest: Content-Type, Content-Length, WWW-Authenticate).
 */
const usualSpelling = (name: string): string =>
  irregular.get(name) ?? name.replace(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase());
