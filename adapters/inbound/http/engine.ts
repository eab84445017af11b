import type { Socket } from 'node:net';
import { Clock, Connection } from './connection.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { SocketPeer } from './evidence.ts';
import type { IncomingRequest } from './incoming-request.ts';
import type { Limits } from './limits.ts';
import { allowedSomewhere } from './methods.ts';
import { type RequestHead, RequestParser, type Unreadable } from './parser.ts';
import { newRequestId } from './request-id.ts';

const statuses = {
  'header too long': '431 Request Header Fields Too Large',
  'unknown method': '501 Not Implemented',
  malformed: '400 Bad Request',
} as const satisfies Record<Unreadable, string>;

/** Speaks HTTP/1.1 on sockets that the listener has accepted. */
export class Engine {
  readonly #dispatcher: Dispatcher;
  readonly #limits: Limits;
  readonly #onError: (error: unknown) => void;
  readonly #clock = new Clock();
  readonly #connections = new Set<Connection>();
  readonly #ticking: NodeJS.Timeout;
  #onAllClosed: (() => void) | undefined;

  constructor(dispatcher: Dispatcher, limits: Limits, onError: (error: unknown) => void) {
    this.#dispatcher = dispatcher;
    this.#limits = limits;
    this.#onError = onError;
    const shortest = Math.min(limits.headerMs, limits.bodyMs, limits.idleMs, limits.lingerMs);
    this.#ticking = setInterval(() => this.#tick(), Math.min(1_000, Math.ceil(shortest / 4)));
  }

  /** Serves the requests that arrive on `socket` until it closes. */
  serve(socket: Socket, peer: SocketPeer): void {
    const connection = new Connection(socket, peer, this.#clock, this.#limits);
    let request: IncomingRequest | undefined;
    const parser = new RequestParser(this.#limits.headerOctets, {
      head: (head) => {
        request = this.#receive(connection, head);
      },
      body: (octets) => request?.receive(octets),
      end: () => {
        request?.end();
        request = undefined;
      },
    });
    this.#connections.add(connection);
    socket.on('data', (octets: Buffer) => {
      connection.noteOctets();
      try {
        const unreadable = parser.read(octets);
        if (unreadable) this.#refuseUnreadable(connection, unreadable);
      } catch (error) {
        this.#onError(error);
        socket.destroy();
      }
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      parser.close();
      this.#connections.delete(connection);
      if (this.#connections.size === 0) this.#onAllClosed?.();
    });
  }

  /** Closes idle connections at once and the others after their current response, at the latest after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    const allClosed = new Promise<void>((resolve) => {
      this.#onAllClosed = resolve;
    });
    for (const connection of this.#connections) connection.finish();
    if (this.#connections.size > 0) {
      const cut = setTimeout(() => {
        for (const { socket } of this.#connections) socket.destroy();
      }, graceMs);
      await allClosed;
      clearTimeout(cut);
    }
    clearInterval(this.#ticking);
  }

  #receive(connection: Connection, head: RequestHead): IncomingRequest | undefined {
    if (connection.closed || !connection.hasRoom()) return undefined;
    if (head.method !== 'CONNECT') return this.#dispatcher.dispatch(connection, head);
    if (connection.busy) connection.finish();
    else this.#refuseBare(connection, `405 Method Not Allowed\r\nAllow: ${allowedSomewhere}`);
    return undefined;
  }

  #refuseUnreadable(connection: Connection, unreadable: Unreadable): void {
    if (connection.closed || connection.refuse(400, 'the request is not HTTP/1.1')) {
      return; // the connection has, or now gets, its last response
    }
    if (connection.busy)
      connection.finish(); // earlier requests still get their responses
    else this.#refuseBare(connection, statuses[unreadable]);
  }

  /** Refuses a request without a body, for no mount is known that could format one, and closes the connection. */
  #refuseBare(connection: Connection, status: string): void {
    connection.closed = true;
    connection.socket.write(
      `HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\nCache-Control: no-store\r\nX-Request-Id: ${newRequestId()}\r\n\r\n`,
    );
    connection.closeLingering();
  }

  #tick(): void {
    this.#clock.tick();
    for (const connection of this.#connections) connection.sweep();
  }
}
