import { HTTPParser, methods } from 'node:_http_common';
import { UnknownMethodLine } from './methods.ts';
import { newRequestId } from './request-id.ts';

/** A request line and its header fields, as received. */
export interface RequestHead {
  /** See `newRequestId`. */
  readonly id: string;
  /** Empty when the parser has no name for the method. */
  readonly method: string;
  readonly target: string;
  /** HTTP/1.0: no chunked coding, and the connection closes after the response unless both sides agree to keep it. */
  readonly http10: boolean;
  /** Alternates names and values. */
  readonly fields: readonly string[];
  /** The client keeps the connection open after the response (RFC 9112 §9.3). */
  readonly keepAlive: boolean;
}

/** Receives the parts of the requests that a parser reads, in order. */
export interface RequestSink {
  head(head: RequestHead): void;
  /** Part of the body, without its framing. */
  body(octets: Uint8Array): void;
  /** The request is complete. */
  end(): void;
}

const lineFeed = 10;

/** Why the octets are not a request of HTTP/1.1. */
export type Unreadable = 'header too long' | 'unknown method' | 'malformed';

/**
 * Reads the requests of one connection (RFC 9112) with llhttp, the parser of Node, in its strictest mode. node:http uses the same
 * parser, but its streams and objects cost more per request than TLS does.
 */
export class RequestParser {
  readonly #parser = new HTTPParser();
  #open = true;
  /** A request of HTTP/0.9 has arrived, which has no header (RFC 1945 §4.1). */
  #headless = false;
  #line: UnknownMethodLine | undefined;

  /** `headerOctets`: the maximum size of request line and header together, and of the trailer. */
  constructor(headerOctets: number, sink: RequestSink) {
    const parser = this.#parser;
    parser.initialize(HTTPParser.REQUEST, {}, headerOctets, HTTPParser.kLenientNone);
    // llhttp delivers many fields in several parts, and the target with the first part.
    let early: string[] = [];
    let earlyTarget = '';
    let inHeader = true;
    parser[HTTPParser.kOnHeaders] = (fields: string[], target: string): void => {
      if (!inHeader) return; // the trailer is ignored
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
      keepAlive,
    ) => {
      if (major < 1) {
        this.#headless = true;
        return 0;
      }
      const head = {
        id: newRequestId(),
        method: methods[method] ?? '',
        target: target ?? earlyTarget,
        http10: major === 1 && minor === 0,
        fields: fields ?? early,
        // Postern supports no upgrade, so whatever follows such a request is not read.
        keepAlive: keepAlive && !upgrade,
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

  /** Reads the next octets. Returns why they are invalid, after which the parser reads nothing more; or undefined. */
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
