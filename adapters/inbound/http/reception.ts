const noOctets = new Uint8Array();

/** A request that is coming in after its header. */
export class Reception {
  readonly #limit: number;
  readonly #chunks: Uint8Array[] = [];
  #octets = 0;
  #done: ((body: Uint8Array | undefined) => void) | undefined;
  #ended = false;
  #onEnd: (() => void) | undefined;

  /** `done` is called once, unless `drop` is before it: with the body, or with undefined as soon as it exceeds `limit` octets. */
  constructor(limit: number, done: (body: Uint8Array | undefined) => void) {
    this.#limit = limit;
    this.#done = done;
  }

  take(octets: Uint8Array): void {
    if (!this.#done) return;
    this.#octets += octets.length;
    if (this.#octets > this.#limit) this.#finish(undefined);
    else this.#chunks.push(octets);
  }

  end(): void {
    this.#ended = true;
    if (this.#chunks.length === 1) this.#finish(this.#chunks[0]);
    else this.#finish(this.#octets === 0 ? noOctets : Buffer.concat(this.#chunks, this.#octets));
    this.#onEnd?.();
  }

  /** Nobody wants the body any more: what comes is not kept. */
  drop(): void {
    this.#done = undefined;
    this.#chunks.length = 0;
  }

  /** Calls back when the request has come to its end: at once, if it has. */
  whenEnded(then: () => void): void {
    if (this.#ended) then();
    else this.#onEnd = then;
  }

  #finish(body: Uint8Array | undefined): void {
    const done = this.#done;
    this.drop();
    done?.(body);
  }
}
