import { HTTPParser, methods } from 'node:_http_common';
import { UnknownMethodLine } from './unknown-method-line.ts';

/** A request line and its header, as they came. */
export interface RequestHead {
  /** Empty when the parser knows the method and has no name for it. */
  readonly method: string;
  readonly target: string;
  /** It is HTTP/1.0: without chunks, and the connection ends after it unless both sides say otherwise. */
  readonly old: boolean;
  /** Names and values in turn. */
  readonly fields: readonly string[];
  /** The client would have the connection go on after it (RFC 9112 §9.3). */
  readonly persists: boolean;
}

/** What a parser tells of the requests that it reads, in their order. */
export interface RequestSink {
  head(head: RequestHead): void;
  /** Some of the body, without its framing. */
  body(octets: Uint8Array): void;
  /** All of the request is there. */
  end(): void;
}

const lineFeed = 10;

/** Why the octets are no HTTP/1.1. */
export type Unreadable = 'header too long' | 'unknown method' | 'malformed';

/**
 * Reads the requests of one connection (RFC 9112): llhttp, the parser of Node, at its strictest. node:http has the same one
 * inside, below streams and objects for each request that cost more than TLS does.
 */
export class RequestParser {
  readonly #parser = new HTTPParser();
  #open = true;
  /** A request of HTTP/0.9 has come, which has no header (RFC 1945 §4.1). */
  #headless = false;
  #line: UnknownMethodLine | undefined;

  /** `headerOctets`: the most that request line and header, or the trailer, may have. */
  constructor(headerOctets: number, sink: RequestSink) {
    const parser = this.#parser;
    parser.initialize(HTTPParser.REQUEST, {}, headerOctets, HTTPParser.kLenientNone);
    // Where there are many fields they come in parts, the target with the first one.
    let early: string[] = [];
    let earlyTarget = '';
    let inHeader = true;
    parser[HTTPParser.kOnHeaders] = (fields: string[], target: string): void => {
      if (!inHeader) return; // the trailer, of which nothing is used
      if (early.length === 0) earlyTarget = target;
      early.push(...fields);
    };
    parser[HTTPParser.kOnHeadersComplete] = (
      major,
      minor,
      fields,
      method,
      target,
      _0,
      _1,
      upgrade,
      persists,
    ) => {
      if (major < 1) {
        this.#headless = true;
        return 0;
      }
      const head = {
        method: methods[method] ?? '',
        target: target ?? earlyTarget,
        old: major === 1 && minor === 0,
        fields: fields ?? early,
        // What follows a request for another protocol is not read: we speak no other.
        persists: persists && !upgrade,
      };
      if (early.length > 0) early = [];
      inHeader = false;
      sink.head(head);
      return 0;
    };
    parser[HTTPParser.kOnBody] = (octets: Buffer): void => {
      if (!this.#headless) sink.body(octets);
    };
    parser[HTTPParser.kOnMessageComplete] = (): void => {
      inHeader = true;
      if (!this.#headless) sink.end();
    };
  }

  /** Takes what came next. After a complaint there is nothing more to be read. */
  read(octets: Uint8Array): Unreadable | undefined {
    if (!this.#open) return undefined;
    if (this.#line) return this.#line.read(octets);
    const read = this.#parser.execute(octets);
    if (this.#headless) return 'malformed';
    if (typeof read === 'number' || read.code === 'HPE_CLOSED_CONNECTION') return undefined;
    if (read.code === 'HPE_HEADER_OVERFLOW') return 'header too long';
    if (read.code !== 'HPE_INVALID_METHOD' && !read.reason.startsWith('Invalid method')) return 'malformed';
    this.#line = new UnknownMethodLine();
    const begin = octets.subarray(0, read.bytesParsed).lastIndexOf(lineFeed) + 1;
    return this.#line.read(octets.subarray(begin));
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#parser.close();
  }
}
