import type { Socket } from 'node:net';
import type { SocketPeer } from './evidence.ts';
import type { Limits } from './limits.ts';

/** The time of the last tick: a request reads the time several times, and about a second is fine enough. */
export class Clock {
  now = 0;
  /** For the Date field (RFC 9110 §6.6.1). */
  date = '';

  constructor() {
    this.tick();
  }

  tick(): void {
    this.now = performance.now();
    this.date = new Date().toUTCString();
  }
}

const continueResponse = 'HTTP/1.1 100 Continue\r\n\r\n';

/** A request of which more octets are expected. */
interface IncompleteRequest {
  refuse(status: number, detail: string): void;
}

/** Work on one request. The requests of a connection are processed one after the other. */
interface Task {
  /** Must not throw; calls `Connection.next` exactly once, when it is done. */
  run(): void;
}

/**
 * The state of one connection and its time limits. The engine checks the limits of all connections in one sweep, because a timer
 * per request would cost more than the request itself.
 */
export class Connection {
  readonly socket: Socket;
  readonly peer: SocketPeer;
  readonly clock: Clock;
  readonly limits: Limits;
  /** The next response is the last. */
  closing = false;
  /** The last response has begun: any further input is dropped. */
  closed = false;
  /** A response has been sent in part. */
  responding = false;
  #receiveDeadline: number;
  #sendDeadline = Number.POSITIVE_INFINITY;
  #incomplete: IncompleteRequest | undefined; // set while the rest of a request is expected after its header
  #running = false;
  readonly #waiting: Task[] = [];
  /** The client has pipelined more requests than `limits.pipelined`. */
  #full = false;
  /** Octets have arrived since the last request ended. */
  #octetsArrived = false;
  #headBegun = false;

  constructor(socket: Socket, peer: SocketPeer, clock: Clock, limits: Limits) {
    this.socket = socket;
    this.peer = peer;
    this.clock = clock;
    this.limits = limits;
    this.#receiveDeadline = clock.now + limits.headerMs;
  }

  /** Records that octets have arrived. */
  noteOctets(): void {
    this.#octetsArrived = true;
  }

  get busy(): boolean {
    return this.#running || this.#incomplete !== undefined;
  }

  /** Expects the rest of `request` within `ms`. If it is late or cannot be parsed, `request.refuse` is called once. */
  expect(ms: number, request: IncompleteRequest): void {
    this.#incomplete = request;
    this.#receiveDeadline = this.clock.now + ms;
  }

  /** Reads and drops further input for `limits.lingerMs`, then closes, so that the peer can read the last response. */
  closeLingering(): void {
    this.expect(this.limits.lingerMs, { refuse: () => this.socket.destroy() });
  }

  #expectNothing(): void {
    this.#incomplete = undefined;
    this.#receiveDeadline = Number.POSITIVE_INFINITY;
  }

  /** Starts the time within which the peer must read some of the response. */
  startSendTimeout(): void {
    this.#sendDeadline = this.clock.now + this.limits.idleMs;
  }

  /** Ends the time that `startSendTimeout` began. */
  clearSendTimeout(): void {
    this.#sendDeadline = Number.POSITIVE_INFINITY;
  }

  /** Refuses the request that is still incomplete; false when there is none. */
  refuse(status: number, detail: string): boolean {
    const request = this.#incomplete;
    if (!request) return false;
    this.#expectNothing();
    request.refuse(status, detail);
    return true;
  }

  /** Runs `task` after the tasks before it. */
  run(task: Task): void {
    this.#expectNothing();
    if (!this.#running) {
      this.#running = true;
      task.run();
    } else {
      this.#waiting.push(task);
    }
  }

  /**
   * Whether one more request may wait. The first request beyond the limit is dropped, and all that follow it. The response to the
   * last accepted request closes the connection, so that the client knows which requests to repeat (RFC 9112 §9.3.2).
   */
  hasRoom(): boolean {
    this.#full ||= this.#running && this.#waiting.length >= this.limits.pipelined;
    return !this.#full;
  }

  /** Sends 100 Continue (RFC 9110 §10.1.1), unless an earlier request is still without its response. */
  sendContinue(): void {
    if (!this.#running) this.socket.write(continueResponse);
  }

  /** Sends part of a response, strings in UTF-8; false when the caller must wait for `drain` before it sends more. */
  send(octets: Uint8Array | string): boolean {
    this.responding = true;
    return this.socket.write(octets);
  }

  /** Records that a response has been sent completely. */
  complete(): void {
    this.responding = false;
    if (!this.closed) return;
    if (this.#full) {
      this.socket.end();
      this.closeLingering();
    } else {
      this.socket.destroySoon();
    }
  }

  /** Closes the connection: at once when no request has begun, otherwise after its response. */
  finish(): void {
    this.closing = true;
    if (!this.busy && !this.#octetsArrived) this.socket.destroySoon();
  }

  /** Ends the current task and runs the next one. */
  next(): void {
    const task = this.closed ? undefined : this.#waiting.shift();
    if (task) {
      if (this.#full && this.#waiting.length === 0) this.closing = true;
      task.run();
      return;
    }
    this.#running = false;
    if (this.#incomplete) return;
    this.#headBegun = false;
    this.#octetsArrived = false;
    this.#receiveDeadline = this.clock.now + this.limits.idleMs;
    // A response with "Connection: close" closes the connection itself. This one had begun before `finish` was called.
    if (this.closing && !this.closed) this.socket.destroySoon();
  }

  /** Enforces the time limits. */
  sweep(): void {
    const { now } = this.clock;
    if (!this.busy && !this.#headBegun && this.#octetsArrived) {
      this.#headBegun = true;
      this.#receiveDeadline = Math.min(this.#receiveDeadline, now + this.limits.headerMs);
    }
    if (now >= this.#sendDeadline) this.socket.destroy();
    if (now < this.#receiveDeadline) return;
    if (!this.refuse(408, 'the request did not arrive in time')) this.socket.destroy();
  }
}
