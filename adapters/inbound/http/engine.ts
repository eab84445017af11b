import type { Socket } from 'node:net';
import { Clock, Connection } from './connection.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { SocketPeer } from './evidence.ts';
import type { Limits } from './limits.ts';

/** HTTP/1.1 (RFC 9112) on sockets that someone else has accepted. */
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
    const connection: Connection = new Connection(socket, peer, this.#clock, this.#limits, {
      head: (head) => this.#dispatcher.dispatch(connection, head),
      unreadable: (tooLong) => this.#unreadable(connection, tooLong),
    });
    this.#connections.add(connection);
    socket.on('data', (octets: Buffer) => {
      try {
        connection.reader.push(octets);
      } catch (error) {
        this.#onError(error);
        socket.destroy();
      }
    });
    // A peer that breaks off, or ends its side, waits for nothing more.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
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

  #unreadable(connection: Connection, tooLong: boolean): void {
    if (connection.closed || connection.refuse(400, 'this is not HTTP/1.1')) {
      // it has, or gets, its last answer
    } else if (connection.busy) {
      connection.finish(); // what came before the rubbish is still answered
    } else {
      connection.closed = true;
      const status = tooLong ? '431 Request Header Fields Too Large' : '400 Bad Request';
      connection.socket.write(refusal(status));
      connection.expect(this.#limits.lingerMs, () => connection.socket.destroy());
    }
  }

  #tick(): void {
    this.#clock.tick();
    for (const connection of this.#connections) connection.sweep();
  }
}

/** For a request of which so little is known that no mount can word the answer. */
const refusal = (status: string): string =>
  `HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\nCache-Control: no-store\r\n\r\n`;
