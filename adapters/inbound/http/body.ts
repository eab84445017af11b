import { isFieldValue } from './head.ts';

/** The octets of a request's body, as they come. */
export interface Body {
  /**
   * Takes what belongs to the body; what follows it in `octets`, or undefined while more is to come. Throws
   * Misframed.
   */
  take(octets: Buffer): Buffer | undefined;
}

/** What came cannot be a body. */
export class Misframed extends Error {
  override readonly name = 'Misframed';
}

const together = (pieces: readonly Buffer[]): Buffer =>
  pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);

/** A body of known length. `done` is called once, with all of it. */
export class SizedBody implements Body {
  readonly #done: (body: Uint8Array) => void;
  readonly #pieces: Buffer[] = [];
  #missing: number;

  constructor(length: number, done: (body: Uint8Array) => void) {
    this.#missing = length;
    this.#done = done;
  }

  take(octets: Buffer): Buffer | undefined {
    const piece = octets.length > this.#missing ? octets.subarray(0, this.#missing) : octets;
    this.#missing -= piece.length;
    this.#pieces.push(piece);
    if (this.#missing > 0) return undefined;
    this.#done(together(this.#pieces));
    return octets.subarray(piece.length);
  }
}

const chunkSize = /^([0-9a-f]{1,8})[ \t]*(?:;.*)?$/i;
/** Of a size with its extensions, and of all trailer fields. */
const longestLine = 1024;
const longestTrailer = 8192;

/**
 * A body in chunks (RFC 9112 §7.1); extensions and trailer fields are read past. `done` is called once: with all of it, or with
 * undefined as soon as it is longer than `limit`.
 */
export class ChunkedBody implements Body {
  readonly #limit: number;
  readonly #done: (body: Uint8Array | undefined) => void;
  readonly #pieces: Buffer[] = [];
  #octets = 0;
  #awaits: 'size' | 'data' | 'end of data' | 'trailer' | 'nothing' = 'size';
  /** Of the chunk, what is still to come. */
  #left = 0;
  /** The line that has begun. */
  #line = '';
  #trailer = 0;

  constructor(limit: number, done: (body: Uint8Array | undefined) => void) {
    this.#limit = limit;
    this.#done = done;
  }

  take(octets: Buffer): Buffer | undefined {
    let rest = octets;
    while (rest.length > 0) {
      rest = this.#awaits === 'data' ? this.#takeData(rest) : this.#takeLine(rest);
      if (this.#octets + this.#left > this.#limit) {
        this.#done(undefined);
        return undefined;
      }
      if (this.#awaits === 'nothing') {
        this.#done(together(this.#pieces));
        return rest;
      }
    }
    return undefined;
  }

  #takeData(octets: Buffer): Buffer {
    const piece = octets.subarray(0, this.#left);
    this.#pieces.push(piece);
    this.#octets += piece.length;
    this.#left -= piece.length;
    if (this.#left === 0) this.#awaits = 'end of data';
    return octets.subarray(piece.length);
  }

  #takeLine(octets: Buffer): Buffer {
    const end = octets.indexOf(0x0a) + 1 || octets.length;
    this.#line += octets.toString('latin1', 0, end);
    if (this.#line.length > longestLine) throw new Misframed('a line between chunks is too long');
    if (this.#line.endsWith('\n')) {
      const line = this.#line.slice(0, -2);
      if (!this.#line.endsWith('\r\n') || !isFieldValue(line)) throw new Misframed('not a line');
      this.#line = '';
      this.#read(line);
    }
    return octets.subarray(end);
  }

  #read(line: string): void {
    if (this.#awaits === 'size') {
      const size = chunkSize.exec(line)?.[1];
      if (size === undefined) throw new Misframed('not the size of a chunk');
      this.#left = Number.parseInt(size, 16);
      this.#awaits = this.#left > 0 ? 'data' : 'trailer';
    } else if (this.#awaits === 'end of data') {
      if (line !== '') throw new Misframed('a chunk is longer than its size');
      this.#awaits = 'size';
    } else if (line === '') {
      this.#awaits = 'nothing';
    } else {
      this.#trailer += line.length;
      if (this.#trailer > longestTrailer) throw new Misframed('the trailer is too long');
    }
  }
}
