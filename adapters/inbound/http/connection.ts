import type { Socket } from 'node:net';
import type { SocketPeer } from './evidence.ts';
import type { Limits } from './limits.ts';

/** Time as of the last tick: every request asks several times, and none needs it finer. */
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

const goOn = 'HTTP/1.1 100 Continue\r\n\r\n';

/** What octets are awaited for. */
interface Awaiting {
  refuse(status: number, detail: string): void;
}

/** Something to be done after what came before it. */
interface Task {
  /** Must not throw; calls `Connection.next` when it is done, once. */
  run(): void;
}

/**
 * One connection: what it is busy with, and how long it may be so. One sweep over all connections looks after the time:
 * a timer for each would cost more than what it guards.
 */
export class Connection {
  readonly socket: Socket;
  readonly peer: SocketPeer;
  readonly clock: Clock;
  readonly limits: Limits;
  /** The next response is the last. */
  closing = false;
  /** The last response has begun: whatever else comes in is dropped. */
  closed = false;
  /** Some of a response has been sent, and not all. */
  responding = false;
  #deadline: number; // for the peer to send something
  #stalled = Number.POSITIVE_INFINITY; // for the peer to take something
  #awaiting: Awaiting | undefined; // while octets of a request are to come after its header
  #running = false;
  readonly #waiting: Task[] = [];
  /** More requests came than may wait. */
  #full = false;
  /** Octets have come since the last request ended. */
  #heard = false;
  #headBegun = false;

  constructor(socket: Socket, peer: SocketPeer, clock: Clock, limits: Limits) {
    this.socket = socket;
    this.peer = peer;
    this.clock = clock;
    this.limits = limits;
    this.#deadline = clock.now + limits.headerMs;
  }

  /** Octets have come. */
  hear(): void {
    this.#heard = true;
  }

  get busy(): boolean {
    return this.#running || this.#awaiting !== undefined;
  }

  /** Octets are to come within `ms`. If they do not, or cannot be read, `awaiting` is to refuse, once. */
  expect(ms: number, awaiting: Awaiting): void {
    this.#awaiting = awaiting;
    this.#deadline = this.clock.now + ms;
  }

  /** The last response is on its way: what the peer is still sending is dropped for a moment, then the connection is cut. */
  linger(): void {
    this.expect(this.limits.lingerMs, { refuse: () => this.socket.destroy() });
  }

  /** Nothing is expected of the peer. */
  rest(): void {
    this.#awaiting = undefined;
    this.#deadline = Number.POSITIVE_INFINITY;
  }

  /** The peer has to take some of a response before there can be more of it. */
  stall(): void {
    this.#stalled = this.clock.now + this.limits.idleMs;
  }

  /** It has. */
  flow(): void {
    this.#stalled = Number.POSITIVE_INFINITY;
  }

  /** Refuses the request of which octets are awaited; false when there is none. */
  refuse(status: number, detail: string): boolean {
    const awaiting = this.#awaiting;
    if (!awaiting) return false;
    this.rest();
    awaiting.refuse(status, detail);
    return true;
  }

  /** Runs `task` once those before it are done. */
  run(task: Task): void {
    this.rest();
    if (!this.#running) {
      this.#running = true;
      task.run();
    } else {
      this.#waiting.push(task);
    }
  }

  /**
   * Whether one more request may wait. The first one that may not is dropped, with all that follow it. The response to the one
   * before it ends the connection, so that the client knows which ones to send again (RFC 9112 §9.3.2).
   */
  hasRoom(): boolean {
    this.#full ||= this.#running && this.#waiting.length >= this.limits.pipelined;
    return !this.#full;
  }

  /** Sends 100 Continue (RFC 9110 §10.1.1), unless the response to an earlier request comes first. */
  invite(): void {
    if (!this.#running) this.socket.write(goOn);
  }

  /** Sends some of a response, a string in UTF-8; false when the peer is to take some of it before there is more. */
  send(octets: Uint8Array | string): boolean {
    this.responding = true;
    return this.socket.write(octets);
  }

  /** All of a response is sent. */
  complete(): void {
    this.responding = false;
    if (!this.closed) return;
    if (this.#full) {
      this.socket.end();
      this.linger();
    } else {
      this.socket.destroySoon();
    }
  }

  /** Closes: at once when no request has begun, else after its response. */
  finish(): void {
    this.closing = true;
    if (!this.busy && !this.#heard) this.socket.destroySoon();
  }

  /** The task that ran is done. */
  next(): void {
    const task = this.closed ? undefined : this.#waiting.shift();
    if (task) {
      if (this.#full && this.#waiting.length === 0) this.closing = true;
      task.run();
      return;
    }
    this.#running = false;
    if (this.#awaiting) return;
    this.#headBegun = false;
    this.#heard = false;
    this.#deadline = this.clock.now + this.limits.idleMs;
    // A response that said so closes the connection itself; this one had begun before it was to be the last.
    if (this.closing && !this.closed) this.socket.destroySoon();
  }

  sweep(): void {
    const { now } = this.clock;
    if (!this.busy && !this.#headBegun && this.#heard) {
      this.#headBegun = true;
      this.#deadline = Math.min(this.#deadline, now + this.limits.headerMs);
    }
    if (now >= this.#stalled) this.socket.destroy();
    if (now < this.#deadline) return;
    if (!this.refuse(408, 'the request did not arrive in time')) this.socket.destroy();
  }
}
