import type { RequestContext } from '#core/ports/platform.ts';
import type { Connection } from './connection.ts';
import type { HttpRequest, HttpResponse, Mount } from './exchange.ts';
import type { RequestHead } from './parser.ts';
import { traceparentIn } from './request-id.ts';
import { plainText, respond, respondAndClose } from './respond.ts';

/** A request that passed the checks of its header; its body follows. */
export interface Accepted {
  readonly mount: Mount;
  readonly request: HttpRequest & { body: Uint8Array };
  /** The maximum size of the body in octets. */
  readonly limit: number;
}

export interface Refused {
  readonly mount: Mount | undefined;
  readonly status: number;
  readonly detail: string;
  /** Added to the header fields of the mount's refusal. */
  readonly headers?: Readonly<Record<string, string>>;
}

export const tooLong = (limit: number): string => `the body is longer than ${limit} octets`;

/** A request from the end of its header to its response: collects the body, then has the mount handle or refuse it. */
export class IncomingRequest {
  readonly #connection: Connection;
  readonly #head: RequestHead;
  readonly #requests: RequestContext | undefined;
  readonly #onError: (error: unknown) => void;
  #decision: Accepted | Refused;
  #chunks: Uint8Array[] = [];
  #octets = 0;
  #ended = false;
  #refusalSent = false;

  constructor(
    connection: Connection,
    head: RequestHead,
    decision: Accepted | Refused,
    requests: RequestContext | undefined,
    onError: (error: unknown) => void,
  ) {
    this.#connection = connection;
    this.#head = head;
    this.#decision = decision;
    this.#requests = requests;
    this.#onError = onError;
  }

  /** Takes part of the body. The body of a refused request is dropped. */
  receive(octets: Uint8Array): void {
    if ('status' in this.#decision) return;
    const { limit } = this.#decision;
    this.#octets += octets.length;
    if (this.#octets > limit) this.refuse(413, tooLong(limit));
    else this.#chunks.push(octets);
  }

  /** Ends the body: the request is complete. */
  end(): void {
    this.#ended = true;
    if ('status' in this.#decision) {
      if (this.#refusalSent) this.#connection.complete();
      return;
    }
    const [first] = this.#chunks;
    if (first) this.#decision.request.body = this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
    this.#chunks.length = 0;
    this.#connection.run(this);
  }

  refuse(status: number, detail: string, headers?: Readonly<Record<string, string>>): void {
    this.#decision = { mount: this.#decision.mount, status, detail, ...(headers && { headers }) };
    this.#chunks = [];
    this.#connection.run(this);
  }

  run(): void {
    const decision = this.#decision;
    const traceparent =
      'status' in decision ? undefined : traceparentIn(decision.request.headers.traceparent);
    const trace = { id: this.#head.id, ...(traceparent !== undefined && { traceparent }) };
    if (this.#requests) this.#requests.run(trace, () => this.#respond(decision));
    else this.#respond(decision);
  }

  #respond(decision: Accepted | Refused): void {
    if ('status' in decision) this.#sendRefusal(decision);
    else void this.#handle(decision);
  }

  async #handle({ mount, request }: Accepted): Promise<void> {
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

  /** Sends 500. If part of the response has been sent, closes the connection, so that the client sees it is incomplete. */
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

  #sendRefusal(refused: Refused): void {
    try {
      respondAndClose(this.#connection, this.#head, this.#refusal(refused));
      this.#refusalSent = true;
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
