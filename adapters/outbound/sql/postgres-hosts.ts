import { Fault } from '#core/fault.ts';
import { unavailable } from './queries.ts';

/** While no server lets us in, one attempt in so many milliseconds is enough for all who ask. */
const pause = 200;

const spelling = /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/s;

/**
 * The servers that a URL names, of which one takes writes: `postgres://user@a:5432,b:5432/name`. postgres.js knows such URLs
 * too (3.4.9), but goes round in them for ever while none of the servers is there, and forgets with each pool which one it was.
 */
export class Hosts {
  readonly #urls: readonly string[];
  #at = 0;
  #failures = 0;
  #notBefore = 0;
  #why: Fault | undefined;

  constructor(url: string) {
    const [, before = '', hosts = '', after = ''] = spelling.exec(url) ?? [];
    this.#urls = hosts.includes(',') ? hosts.split(',').map((host) => before + host + after) : [url];
  }

  /** Of the server that is believed to be the right one. */
  get url(): string {
    return this.#urls[this.#at]!;
  }

  get count(): number {
    return this.#urls.length;
  }

  /** Throws Fault unavailable when every server has just been tried, in vain. */
  demand(): void {
    if (performance.now() < this.#notBefore) throw this.#why ?? unavailable();
  }

  /** The server at `url` let us in. */
  worked(url: string): void {
    if (url !== this.url) return;
    this.#failures = 0;
    this.#why = undefined;
  }

  /** The server at `url` takes no writes any more. Where it is the only one, it still answers questions. */
  demoted(url: string): void {
    if (this.count > 1) this.failed(url);
  }

  /** The server at `url` does not let us in, or must not be used: the next one has its turn. A Fault says more than its absence does. */
  failed(url: string, why?: unknown): void {
    if (url !== this.url) return;
    if (why instanceof Fault) this.#why = why;
    this.#at = (this.#at + 1) % this.count;
    if (++this.#failures % this.count === 0) this.#notBefore = performance.now() + pause;
  }
}
