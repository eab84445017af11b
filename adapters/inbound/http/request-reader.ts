import { type Body, Misframed } from './body.ts';
import { type Head, parseHead } from './head.ts';

/** What a reader tells of what it reads. */
export interface ReaderEvents {
  /** A header is there: what takes its body, undefined when it has none. */
  head(head: Head): Body | undefined;
  /** What came is not HTTP/1.1; nothing after it is read. */
  unreadable(tooLong: boolean): void;
}

const endOfHead = Buffer.from('\r\n\r\n');
const none = Buffer.alloc(0);

/** Cuts the octets of a connection into requests (RFC 9112 §2). */
export class RequestReader {
  readonly #events: ReaderEvents;
  readonly #longestHead: number;
  /** Of a head that has not come to its end. */
  #begun: Buffer = none;
  #body: Body | undefined;
  #stopped = false;

  constructor(longestHead: number, events: ReaderEvents) {
    this.#longestHead = longestHead;
    this.#events = events;
  }

  /** Whether a header has begun and not ended. */
  get headBegun(): boolean {
    return this.#begun.length > 0;
  }

  /** From here on everything is dropped. */
  stop(): void {
    this.#stopped = true;
    this.#begun = none;
  }

  push(octets: Buffer): void {
    let rest: Buffer | undefined = octets;
    try {
      while (rest !== undefined && rest.length > 0 && !this.#stopped) {
        rest = this.#body ? this.#readBody(this.#body, rest) : this.#readHead(rest);
      }
    } catch (error) {
      if (!(error instanceof Misframed)) throw error;
      this.#unreadable(false);
    }
  }

  #readBody(body: Body, octets: Buffer): Buffer | undefined {
    const rest = body.take(octets);
    if (rest !== undefined) this.#body = undefined;
    return rest;
  }

  #readHead(octets: Buffer): Buffer | undefined {
    const head = this.#begun.length > 0 ? Buffer.concat([this.#begun, octets]) : octets;
    const start = startOf(head);
    // What was looked at before has no end in it, but may have the beginning of one.
    const end = head.indexOf(endOfHead, Math.max(start, this.#begun.length - 3));
    const length = (end < 0 ? head.length : end) - start;
    if (length > this.#longestHead) return this.#unreadable(true);
    if (end < 0) {
      if (hasBareLineFeed(head, start)) return this.#unreadable(false);
      this.#begun = head.subarray(start);
      return undefined;
    }
    this.#begun = none;
    const parsed = parseHead(head.toString('latin1', start, end));
    if (!parsed) return this.#unreadable(false);
    this.#body = this.#events.head(parsed);
    return head.subarray(end + endOfHead.length);
  }

  #unreadable(tooLong: boolean): undefined {
    this.stop();
    this.#events.unreadable(tooLong);
  }
}

/** RFC 9112 §2.2: an empty line before a request is passed over. */
function startOf(head: Buffer): number {
  let at = 0;
  while (head[at] === 0x0d && head[at + 1] === 0x0a) at += 2;
  return at;
}

/** Such a header would never come to its end. */
function hasBareLineFeed(head: Buffer, start: number): boolean {
  for (let at = head.indexOf(0x0a, start); at >= 0; at = head.indexOf(0x0a, at + 1)) {
    if (head[at - 1] !== 0x0d) return true;
  }
  return false;
}
