import { Fault } from '#core/fault.ts';
import { unavailable } from './queries.ts';

/** Milliseconds between two rounds of attempts while no server accepts a connection. */
const pause = 200;

const spelling = /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/s;

/**
 * The servers in a URL, one of which accepts writes: `postgres://user@a:5432,b:5432/name`. postgres.js (3.4.9) supports
 * such URLs too, but tries the servers in an endless loop while none is available, and each pool searches for the
 * primary again.
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

  /** The URL of the presumed primary. */
  get url(): string {
    return this.#urls[this.#at]!;
  }

  get count(): number {
    return this.#urls.length;
  }

  /** Throws Fault unavailable if all servers have just been tried without success. */
  demand(): void {
    if (performance.now() < this.#notBefore) throw this.#why ?? unavailable();
  }

  /** Records a successful connection to the server at `url`. */
  worked(url: string): void {
    if (url !== this.url) return;
    this.#failures = 0;
    this.#why = undefined;
  }

  /**
   * Records that the server at `url` does not accept writes any more. If it is the only one, it is still used for
   * reads.
   */
  demoted(url: string): void {
    if (this.count > 1) this.failed(url);
  }

  /**
   * Records that the server at `url` is unavailable or must not be used, and moves on to the next one. `why`: a Fault
   * is reported to callers.
   */
  failed(url: string, why?: unknown): void {
    if (url !== this.url) return;
    if (why instanceof Fault) this.#why = why;
    this.#at = (this.#at + 1) % this.count;
    if (++this.#failures % this.count === 0) this.#notBefore = performance.now() + pause;
  }
}
