import { Fault } from '#core/fault.ts';
import { type Body, ChunkedBody, SizedBody } from './body.ts';
import type { Connection } from './connection.ts';
import { peerOf, type TrustedProxies } from './evidence.ts';
import type { HttpRequest, HttpResponse, Mount, Peer } from './exchange.ts';
import { framing, type Head, isLast } from './head.ts';
import { plainText, prepare, refuse, send } from './respond.ts';
import { findMount, parseTarget } from './target.ts';

const noOctets = new Uint8Array();

/** A request as its header announces it. */
interface Announced {
  readonly mount: Mount;
  readonly request: Omit<HttpRequest, 'body'>;
  readonly length: number | 'chunked';
  /** Of the body, in octets. */
  readonly limit: number;
}

interface Refused {
  readonly mount: Mount | undefined;
  readonly status: number;
  readonly detail: string;
}

/** From a header and its body to the mount that answers them, and back. */
export class Dispatcher {
  readonly #mounts: readonly Mount[];
  readonly #proxies: TrustedProxies;
  readonly #onError: (error: unknown) => void;

  /** `mounts` as `orderMounts` leaves them. */
  constructor(mounts: readonly Mount[], proxies: TrustedProxies, onError: (error: unknown) => void) {
    this.#mounts = mounts;
    this.#proxies = proxies;
    this.#onError = onError;
  }

  /** Takes a request whose header is there; what takes its body, undefined when there is none to come. */
  dispatch(connection: Connection, head: Head): Body | undefined {
    if (connection.closed) return undefined;
    const announced = this.#announced(connection, head);
    const { mount } = announced;
    const refuse = (status: number, detail: string): void => {
      connection.reader.stop();
      connection.run(() => this.#refuse(connection, head, this.#refusal(mount, status, detail)));
    };
    if ('status' in announced) {
      refuse(announced.status, announced.detail);
      return undefined;
    }
    const { request, length, limit } = announced;
    const last = isLast(head);
    const answer = (body: Uint8Array): void => {
      if (last) connection.reader.stop();
      connection.run(() => this.#answer(connection, announced.mount, head, { ...request, body }, last));
    };
    if (length === 0) {
      answer(noOctets);
      return undefined;
    }
    // RFC 9110 §10.1.1
    if (head.version !== '1.0' && head.headers.expect?.toLowerCase() === '100-continue') {
      connection.run(async () => void connection.socket.write('HTTP/1.1 100 Continue\r\n\r\n'));
    }
    connection.expect(connection.limits.bodyMs, refuse);
    if (length !== 'chunked') return new SizedBody(length, answer);
    return new ChunkedBody(limit, (body) => (body ? answer(body) : refuse(413, tooLong(limit))));
  }

  #announced(connection: Connection, head: Head): Announced | Refused {
    const target = parseTarget(head.target);
    const found = target && findMount(this.#mounts, target.path);
    const mount = connection.peer.secure || found?.plainHttp ? found : undefined;
    const refused = (status: number, detail: string): Refused => ({ mount, status, detail });

    if (head.fields > connection.limits.headerFields) return refused(431, 'too many header fields');
    if (head.method === 'CONNECT') return refused(405, 'this is no proxy');
    if (!target) return refused(400, 'the request target is not a valid path');
    const framed = framing(head);
    if (typeof framed === 'string') return refused(400, framed);
    if (!mount) return refused(404, 'not found');

    const { headers } = head;
    let peer: Peer;
    try {
      peer = peerOf(connection.peer, headers, this.#proxies);
    } catch (error) {
      if (error instanceof Fault) return refused(400, error.detail);
      throw error;
    }
    const { length } = framed;
    const limit = typeof mount.bodyLimit === 'number' ? mount.bodyLimit : mount.bodyLimit(target.path);
    if (length !== 'chunked' && length > limit) return refused(413, tooLong(limit));

    const method = head.method === 'HEAD' ? 'GET' : head.method;
    return {
      mount,
      request: { method, path: target.path, query: target.query, headers, peer },
      length,
      limit,
    };
  }

  async #answer(
    connection: Connection,
    mount: Mount,
    head: Head,
    request: HttpRequest,
    last: boolean,
  ): Promise<void> {
    if (last) connection.closing = true;
    try {
      let ready: ReturnType<typeof prepare>;
      try {
        ready = prepare(connection, head, await mount.handle(request));
      } catch (error) {
        this.#onError(error);
        ready = prepare(connection, head, this.#refusal(mount, 500, 'internal error'));
      }
      await send(connection, ready);
    } catch (error) {
      this.#onError(error);
      connection.socket.destroy();
    }
  }

  async #refuse(connection: Connection, head: Head, response: HttpResponse): Promise<void> {
    try {
      refuse(connection, head, response);
    } catch (error) {
      this.#onError(error);
      connection.socket.destroy();
    }
  }

  #refusal(mount: Mount | undefined, status: number, detail: string): HttpResponse {
    try {
      if (mount) return mount.refuse(status, detail);
    } catch (error) {
      this.#onError(error);
    }
    return plainText(status, detail);
  }
}

const tooLong = (limit: number): string => `the body is longer than ${limit} octets`;
