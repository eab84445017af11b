import type { Connection } from './connection.ts';
import type { HttpRequest, HttpResponse, Mount } from './exchange.ts';
import type { RequestHead } from './parser.ts';
import { plainText, respond, respondAndClose } from './respond.ts';

/** A request whose body is to come. */
export interface Announced {
  readonly mount: Mount;
  readonly request: HttpRequest & { body: Uint8Array };
  /** Octets of the body, at most. */
  readonly limit: number;
}

export interface Refused {
  readonly mount: Mount | undefined;
  readonly status: number;
  readonly detail: string;
  /** What goes along with this status, whatever the form of the mount. */
  readonly headers?: Readonly<Record<string, string>>;
}

export const tooLong = (limit: number): string => `the body is longer than ${limit} octets`;

/** A request after its header: what comes in of it, and when its turn has come, its answer or refusal. */
export class Reception {
  readonly #connection: Connection;
  readonly #head: RequestHead;
  readonly #onError: (error: unknown) => void;
  #fate: Announced | Refused;
  #chunks: Uint8Array[] = [];
  #octets = 0;
  #ended = false;
  #dismissed = false;

  constructor(
    connection: Connection,
    head: RequestHead,
    fate: Announced | Refused,
    onError: (error: unknown) => void,
  ) {
    this.#connection = connection;
    this.#head = head;
    this.#fate = fate;
    this.#onError = onError;
  }

  /** Some of the body; of a request that is refused, nobody wants it. */
  take(octets: Uint8Array): void {
    if ('status' in this.#fate) return;
    const { limit } = this.#fate;
    this.#octets += octets.length;
    if (this.#octets > limit) this.refuse(413, tooLong(limit));
    else this.#chunks.push(octets);
  }

  /** That was all of it. */
  end(): void {
    this.#ended = true;
    if ('status' in this.#fate) {
      if (this.#dismissed) this.#connection.complete();
      return;
    }
    const [first] = this.#chunks;
    if (first) this.#fate.request.body = this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
    this.#chunks.length = 0;
    this.#connection.run(this);
  }

  refuse(status: number, detail: string, headers?: Readonly<Record<string, string>>): void {
    this.#fate = { mount: this.#fate.mount, status, detail, ...(headers && { headers }) };
    this.#chunks = [];
    this.#connection.run(this);
  }

  run(): void {
    if ('status' in this.#fate) this.#dismiss(this.#fate);
    else void this.#answer(this.#fate);
  }

  async #answer({ mount, request }: Announced): Promise<void> {
    try {
      const response = await mount.handle(request);
      const sent = respond(this.#connection, this.#head, response);
      if (sent) await sent;
    } catch (error) {
      this.#onError(error);
      this.#fail(mount);
    }
    this.#connection.next();
  }

  /** Once a response has begun, nobody is to take it for whole. */
  #fail(mount: Mount): void {
    if (this.#connection.responding) {
      this.#connection.socket.destroy();
      return;
    }
    try {
      void respond(
        this.#connection,
        this.#head,
        this.#refusal({ mount, status: 500, detail: 'internal error' }),
      );
    } catch (error) {
      this.#onError(error);
      this.#connection.socket.destroy();
    }
  }

  #dismiss(refused: Refused): void {
    try {
      respondAndClose(this.#connection, this.#head, this.#refusal(refused));
      this.#dismissed = true;
      if (this.#ended) this.#connection.complete();
    } catch (error) {
      this.#onError(error);
      this.#connection.socket.destroy();
    }
    this.#connection.next();
  }

  #refusal({ mount, status, detail, headers }: Refused): HttpResponse {
    try {
      if (mount) {
        const response = mount.refuse(status, detail);
        return headers ? { ...response, headers: { ...response.headers, ...headers } } : response;
      }
    } catch (error) {
      this.#onError(error);
    }
    return plainText(status, detail);
  }
}
