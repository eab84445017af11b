import type { IncomingMessage, ServerResponse } from 'node:http';
import { Fault } from '#core/fault.ts';
import type { Connection } from './connection.ts';
import { peerOf, type TrustedProxies } from './evidence.ts';
import type { HttpRequest, HttpResponse, Mount, Peer } from './exchange.ts';
import { plainText, respond, respondAndClose } from './respond.ts';
import { findMount, parseTarget } from './target.ts';

const noOctets = new Uint8Array();

/** A request as its header announces it. */
interface Announced {
  readonly mount: Mount;
  readonly request: Omit<HttpRequest, 'body'>;
  /** Of the body, in octets; undefined when it comes in chunks. */
  readonly length: number | undefined;
  readonly limit: number;
}

interface Refused {
  readonly mount: Mount | undefined;
  readonly status: number;
  readonly detail: string;
}

/** From a request of node:http to the mount that answers it, and back. */
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

  /** Takes a request whose header is there. `awaitsContinue`: its body comes after status 100 (RFC 9110 §10.1.1). */
  dispatch(connection: Connection, req: IncomingMessage, res: ServerResponse, awaitsContinue: boolean): void {
    if (connection.closed) return;
    const announced = this.#announced(connection, req);
    const { mount } = announced;
    const refuse = (status: number, detail: string): void => {
      req.resume(); // the parser knows no back-pressure: what nobody reads would be kept
      connection.run(() => this.#refuse(connection, req, res, this.#refusal(mount, status, detail)));
    };
    if ('status' in announced) {
      refuse(announced.status, announced.detail);
      return;
    }
    if (awaitsContinue) res.writeContinue();
    const { request, length, limit } = announced;
    const answer = (body: Uint8Array): void =>
      connection.run(() => this.#answer(connection, announced.mount, { ...request, body }, res));
    if (length === 0) {
      answer(noOctets);
      return;
    }
    const stop = receive(req, length, limit, (body) => (body ? answer(body) : refuse(413, tooLong(limit))));
    connection.expect(connection.limits.bodyMs, (status, detail) => {
      stop();
      refuse(status, detail);
    });
  }

  #announced(connection: Connection, req: IncomingMessage): Announced | Refused {
    const target = parseTarget(req.url ?? '');
    const found = target && findMount(this.#mounts, target.path);
    const mount = connection.peer.secure || found?.plainHttp ? found : undefined;
    const refused = (status: number, detail: string): Refused => ({ mount, status, detail });

    if (req.rawHeaders.length > 2 * connection.limits.headerFields)
      return refused(431, 'too many header fields');
    if (!target) return refused(400, 'the request target is not a valid path');
    const misframed = framingProblem(req);
    if (misframed !== undefined) return refused(400, misframed);
    if (!mount) return refused(404, 'not found');

    const headers = req.headers as Record<string, string | undefined>;
    let peer: Peer;
    try {
      peer = peerOf(connection.peer, headers, this.#proxies);
    } catch (error) {
      if (error instanceof Fault) return refused(400, error.detail);
      throw error;
    }
    const limit = typeof mount.bodyLimit === 'number' ? mount.bodyLimit : mount.bodyLimit(target.path);
    const chunked = headers['transfer-encoding'] !== undefined;
    const length = chunked ? undefined : Number(headers['content-length'] ?? 0);
    if (length !== undefined && length > limit) return refused(413, tooLong(limit));

    const method = req.method === 'HEAD' ? 'GET' : (req.method ?? '');
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
    request: HttpRequest,
    res: ServerResponse,
  ): Promise<void> {
    try {
      let response: HttpResponse;
      try {
        response = await mount.handle(request);
        await respond(connection, res, response);
      } catch (error) {
        this.#onError(error);
        if (res.headersSent) {
          connection.socket.destroy();
          return;
        }
        for (const name of res.getHeaderNames()) res.removeHeader(name);
        await respond(connection, res, this.#refusal(mount, 500, 'internal error'));
      }
    } catch (error) {
      this.#onError(error);
      connection.socket.destroy();
    }
  }

  async #refuse(
    connection: Connection,
    req: IncomingMessage,
    res: ServerResponse,
    response: HttpResponse,
  ): Promise<void> {
    try {
      respondAndClose(connection, req, res, response);
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
function framingProblem(req: IncomingMessage): string | undefined {
  const encoding = req.headers['transfer-encoding'];
  if (encoding !== undefined && (encoding.toLowerCase() !== 'chunked' || req.httpVersion === '1.0')) {
    return 'Transfer-Encoding other than chunked';
  }
  const { rawHeaders } = req;
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1 || (hosts === 0 && req.httpVersion !== '1.0')
    ? 'there has to be one Host field'
    : undefined;
}

/**
 * Collects a body of `length` octets, or of as many as come (chunked). Calls `done` once: with the body, or with
 * undefined as soon as it exceeds `limit`; not at all after the function returned has been called.
 */
function receive(
  req: IncomingMessage,
  length: number | undefined,
  limit: number,
  done: (body: Uint8Array | undefined) => void,
): () => void {
  const chunks: Buffer[] = [];
  let octets = 0;
  const stop = (): void => {
    req.off('data', onData);
    req.off('end', onEnd);
  };
  const onEnd = (): void => {
    stop();
    done(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, octets));
  };
  const onData = (chunk: Buffer): void => {
    octets += chunk.length;
    chunks.push(chunk);
    if (octets > limit) {
      stop();
      done(undefined);
    } else if (octets === length) {
      onEnd();
    }
  };
  req.on('data', onData);
  if (length === undefined) req.on('end', onEnd);
  return stop;
}
