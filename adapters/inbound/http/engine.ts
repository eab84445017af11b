import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Clock, Connection } from './connection.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { SocketPeer } from './evidence.ts';
import type { Limits } from './limits.ts';

/** HTTP/1.1 on sockets that someone else has accepted. */
export class Engine {
  readonly #dispatcher: Dispatcher;
  readonly #limits: Limits;
  readonly #onError: (error: unknown) => void;
  readonly #clock = new Clock();
  readonly #connections = new Map<Socket, Connection>();
  readonly #parser: Server;
  readonly #ticking: NodeJS.Timeout;
  #gone: (() => void) | undefined;

  constructor(dispatcher: Dispatcher, limits: Limits, onError: (error: unknown) => void) {
    this.#dispatcher = dispatcher;
    this.#limits = limits;
    this.#onError = onError;
    this.#parser = createServer({ maxHeaderSize: limits.headerOctets, keepAliveTimeout: limits.idleMs });
    // It drops the fields beyond its limit without a word: one more than ours, and the excess shows.
    this.#parser.maxHeadersCount = limits.headerFields + 1;
    this.#parser.on('request', (req, res) => this.#dispatch(req, res, false));
    this.#parser.on('checkContinue', (req, res) => this.#dispatch(req, res, true));
    this.#parser.on('connect', (_req, socket) => socket.end(refusal('405 Method Not Allowed')));
    this.#parser.on('clientError', (error, socket) => this.#unreadable(error, socket as Socket));
    const shortest = Math.min(limits.headerMs, limits.bodyMs, limits.idleMs, limits.lingerMs);
    this.#ticking = setInterval(() => this.#tick(), Math.min(1_000, Math.ceil(shortest / 4)));
  }

  adopt(socket: Socket, peer: SocketPeer): void {
    this.#connections.set(socket, new Connection(socket, peer, this.#clock, this.#limits));
    socket.on('close', () => {
      this.#connections.delete(socket);
      if (this.#connections.size === 0) this.#gone?.();
    });
    this.#parser.emit('connection', socket);
  }

  /** Ends idle connections now, the others after the response under way or, at the latest, after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    const gone = new Promise<void>((resolve) => {
      this.#gone = resolve;
    });
    for (const connection of this.#connections.values()) connection.finish();
    if (this.#connections.size > 0) {
      const cut = setTimeout(() => {
        for (const { socket } of this.#connections.values()) socket.destroy();
      }, graceMs);
      await gone;
      clearTimeout(cut);
    }
    clearInterval(this.#ticking);
  }

  #dispatch(req: IncomingMessage, res: ServerResponse, awaitsContinue: boolean): void {
    const connection = this.#connections.get(req.socket);
    if (!connection) return;
    try {
      this.#dispatcher.dispatch(connection, req, res, awaitsContinue);
    } catch (error) {
      this.#onError(error);
      req.socket.destroy();
    }
  }

  /** The parser gave up on this connection, or the connection on us. */
  #unreadable(error: NodeJS.ErrnoException, socket: Socket): void {
    const connection = this.#connections.get(socket);
    const answerable = error.code?.startsWith('HPE_') && error.code !== 'HPE_INVALID_EOF_STATE';
    if (!connection || !answerable) {
      socket.destroy();
    } else if (connection.closed || connection.refuse(400, 'this is not HTTP/1.1')) {
      // it has, or gets, its last answer
    } else if (connection.busy) {
      connection.finish(); // what came before the rubbish is still answered
    } else {
      connection.closed = true;
      const tooLong = error.code === 'HPE_HEADER_OVERFLOW';
      socket.write(refusal(tooLong ? '431 Request Header Fields Too Large' : '400 Bad Request'));
      connection.expect(this.#limits.lingerMs, () => socket.destroy());
    }
  }

  #tick(): void {
    this.#clock.tick();
    for (const connection of this.#connections.values()) connection.sweep();
  }
}

/** For a request of which so little is known that no mount can word the answer. */
const refusal = (status: string): string =>
  `HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\nCache-Control: no-store\r\n\r\n`;
