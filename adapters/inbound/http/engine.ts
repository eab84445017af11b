import type { Socket } from 'node:net';
import { Clock, Connection } from './connection.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { SocketPeer } from './evidence.ts';
import type { Limits } from './limits.ts';
import { allowedSomewhere } from './methods.ts';
import { type RequestHead, RequestParser, type Unreadable } from './parser.ts';
import type { Reception } from './reception.ts';

const statuses = {
  'header too long': '431 Request Header Fields Too Large',
  'unknown method': '501 Not Implemented',
  malformed: '400 Bad Request',
} as const satisfies Record<Unreadable, string>;

/** HTTP/1.1 on sockets that someone else has accepted. */
export class Engine {
  readonly #dispatcher: Dispatcher;
  readonly #limits: Limits;
  readonly #onError: (error: unknown) => void;
  readonly #clock = new Clock();
  readonly #connections = new Set<Connection>();
  readonly #ticking: NodeJS.Timeout;
  #gone: (() => void) | undefined;

  constructor(dispatcher: Dispatcher, limits: Limits, onError: (error: unknown) => void) {
    this.#dispatcher = dispatcher;
    this.#limits = limits;
    this.#onError = onError;
    const shortest = Math.min(limits.headerMs, limits.bodyMs, limits.idleMs, limits.lingerMs);
    this.#ticking = setInterval(() => this.#tick(), Math.min(1_000, Math.ceil(shortest / 4)));
  }

  adopt(socket: Socket, peer: SocketPeer): void {
    const connection = new Connection(socket, peer, this.#clock, this.#limits);
    let reception: Reception | undefined;
    const parser = new RequestParser(this.#limits.headerOctets, {
      head: (head) => {
        reception = this.#receive(connection, head);
      },
      body: (octets) => reception?.take(octets),
      end: () => {
        reception?.end();
        reception = undefined;
      },
    });
    this.#connections.add(connection);
    socket.on('data', (octets: Buffer) => {
      connection.hear();
      try {
        const unreadable = parser.read(octets);
        if (unreadable) this.#complain(connection, unreadable);
      } catch (error) {
        this.#onError(error);
        socket.destroy();
      }
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      parser.close();
      this.#connections.delete(connection);
      if (this.#connections.size === 0) this.#gone?.();
    });
  }

  /** Ends idle connections now, the others after the response under way or, at the latest, after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    const gone = new Promise<void>((resolve) => {
      this.#gone = resolve;
    });
    for (const connection of this.#connections) connection.finish();
    if (this.#connections.size > 0) {
      const cut = setTimeout(() => {
        for (const { socket } of this.#connections) socket.destroy();
      }, graceMs);
      await gone;
      clearTimeout(cut);
    }
    clearInterval(this.#ticking);
  }

  #receive(connection: Connection, head: RequestHead): Reception | undefined {
    if (connection.closed || !connection.hasRoom()) return undefined;
    if (head.method !== 'CONNECT') return this.#dispatcher.dispatch(connection, head);
    if (connection.busy) connection.finish();
    else this.#dismiss(connection, `405 Method Not Allowed\r\nAllow: ${allowedSomewhere}`);
    return undefined;
  }

  #complain(connection: Connection, unreadable: Unreadable): void {
    if (connection.closed || connection.refuse(400, 'this is not HTTP/1.1')) {
      // it has, or gets, its last answer
    } else if (connection.busy) {
      connection.finish(); // what came before the rubbish is still answered
    } else {
      this.#dismiss(connection, statuses[unreadable]);
    }
  }

  /** Answers a request of which so little is known that no mount can word the answer. It is the last one. */
  #dismiss(connection: Connection, status: string): void {
    connection.closed = true;
    connection.socket.write(
      `HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\nCache-Control: no-store\r\n\r\n`,
    );
    connection.linger();
  }

  #tick(): void {
    this.#clock.tick();
    for (const connection of this.#connections) connection.sweep();
  }
}
