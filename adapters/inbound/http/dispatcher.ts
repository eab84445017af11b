import { Fault } from '#core/fault.ts';
import type { Connection } from './connection.ts';
import { peerOf, type TrustedProxies } from './evidence.ts';
import type { HttpRequest, HttpResponse, Mount, Peer } from './exchange.ts';
import { type Header, headerOf } from './header.ts';
import type { RequestHead } from './parser.ts';
import { Reception } from './reception.ts';
import { plainText, respond, respondAndClose } from './respond.ts';
import { findMount, parseTarget } from './target.ts';

/** A request as its header announces it. */
interface Announced {
  readonly mount: Mount;
  readonly request: Omit<HttpRequest, 'body'>;
  /** Octets of the body, at most. */
  readonly limit: number;
}

interface Refused {
  readonly mount: Mount | undefined;
  readonly status: number;
  readonly detail: string;
}

/** From a request whose header is there to the mount that answers it, and back. */
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

  /** What is to take the rest of the request. */
  dispatch(connection: Connection, head: RequestHead): Reception {
    const announced = this.#announced(connection, head);
    const { mount } = announced;
    const limit = 'status' in announced ? 0 : announced.limit;
    const reception = new Reception(limit, (body) => {
      if (!body || 'status' in announced) refuse(413, tooLong(limit));
      else
        connection.run(() => this.#answer(connection, head, announced.mount, { ...announced.request, body }));
    });
    const refuse = (status: number, detail: string): void => {
      reception.drop();
      connection.run(() => this.#refuse(connection, head, reception, this.#refusal(mount, status, detail)));
    };
    if ('status' in announced) refuse(announced.status, announced.detail);
    else {
      connection.expect(connection.limits.bodyMs, refuse);
      if (announced.request.headers.expect !== undefined && !head.old) connection.invite();
    }
    return reception;
  }

  #announced(connection: Connection, head: RequestHead): Announced | Refused {
    const target = parseTarget(head.target);
    const found = target && findMount(this.#mounts, target.path);
    const mount = connection.peer.secure || found?.plainHttp ? found : undefined;
    const refused = (status: number, detail: string): Refused => ({ mount, status, detail });

    if (head.fields.length > 2 * connection.limits.headerFields) {
      return refused(431, 'too many header fields');
    }
    if (!target) return refused(400, 'the request target is not a valid path');
    const headers = headerOf(head.fields);
    if (typeof headers === 'string') return refused(400, headers);
    const misframed = framingProblem(head, headers);
    if (misframed !== undefined) return refused(400, misframed);
    if (!mount) return refused(404, 'not found');
    const { expect } = headers;
    if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
      return refused(417, 'nothing but 100-continue can be expected');
    }

    let peer: Peer;
    try {
      peer = peerOf(connection.peer, headers, this.#proxies);
    } catch (error) {
      if (error instanceof Fault) return refused(400, error.detail);
      throw error;
    }
    const limit = typeof mount.bodyLimit === 'number' ? mount.bodyLimit : mount.bodyLimit(target.path);
    if (Number(headers['content-length'] ?? 0) > limit) return refused(413, tooLong(limit));

    const method = head.method === 'HEAD' ? 'GET' : head.method;
    return { mount, request: { method, path: target.path, query: target.query, headers, peer }, limit };
  }

  async #answer(
    connection: Connection,
    head: RequestHead,
    mount: Mount,
    request: HttpRequest,
  ): Promise<void> {
    try {
      const response = await mount.handle(request);
      const sent = respond(connection, head, response);
      if (sent) await sent;
    } catch (error) {
      this.#onError(error);
      this.#failed(connection, head, mount);
    }
  }

  /** Once a response has begun, nobody is to take it for whole. */
  #failed(connection: Connection, head: RequestHead, mount: Mount): void {
    if (connection.responding) {
      connection.socket.destroy();
      return;
    }
    try {
      void respond(connection, head, this.#refusal(mount, 500, 'internal error'));
    } catch (error) {
      this.#onError(error);
      connection.socket.destroy();
    }
  }

  async #refuse(
    connection: Connection,
    head: RequestHead,
    reception: Reception,
    response: HttpResponse,
  ): Promise<void> {
    try {
      respondAndClose(connection, head, reception, response);
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

/** What the parser lets pass and RFC 9112 §3.2, §6.1 do not: another party on the way might frame the request otherwise. */
function framingProblem({ old }: RequestHead, header: Header): string | undefined {
  const encoding = header['transfer-encoding'];
  if (encoding !== undefined && (old || encoding.toLowerCase() !== 'chunked')) {
    return 'Transfer-Encoding other than chunked';
  }
  return header.host === undefined && !old ? 'there has to be one Host field' : undefined;
}
