import { Fault } from '#core/fault.ts';
import type { RequestContext } from '#core/ports/platform.ts';
import type { Connection } from './connection.ts';
import { peerOf, type TrustedProxies } from './evidence.ts';
import type { HttpResponse, Mount, Peer } from './exchange.ts';
import { type Header, headerOf } from './header.ts';
import { type Accepted, IncomingRequest, type Refused, tooLong } from './incoming-request.ts';
import { allowedSomewhere, knownMethods } from './methods.ts';
import type { RequestHead } from './parser.ts';
import { plainText } from './respond.ts';
import { findMount, isHost, parseTarget } from './target.ts';

const noOctets = new Uint8Array();

/** Finds the mount for each request once its header has arrived, and checks what all mounts would have to check. */
export class Dispatcher {
  readonly #mounts: readonly Mount[];
  readonly #proxies: TrustedProxies;
  readonly #onError: (error: unknown) => void;
  readonly #requests: RequestContext | undefined;

  /** `mounts`: in the order of `orderMounts`. */
  constructor(
    mounts: readonly Mount[],
    proxies: TrustedProxies,
    onError: (error: unknown) => void,
    requests?: RequestContext,
  ) {
    this.#mounts = mounts;
    this.#proxies = proxies;
    this.#onError = onError;
    this.#requests = requests;
  }

  /** Returns the object that receives the rest of the request. */
  dispatch(connection: Connection, head: RequestHead): IncomingRequest {
    const decision = this.#decide(connection, head);
    const incoming = new IncomingRequest(connection, head, decision, this.#requests, this.#onError);
    if ('status' in decision) incoming.refuse(decision.status, decision.detail, decision.headers);
    else {
      connection.expect(connection.limits.bodyMs, incoming);
      if (decision.request.headers.expect !== undefined && !head.http10) connection.sendContinue();
    }
    return incoming;
  }

  #decide(connection: Connection, head: RequestHead): Accepted | Refused {
    const everything = head.method === 'OPTIONS' && head.target === '*';
    const target = everything ? { path: '*', query: '' } : parseTarget(head.target);
    // An invalid target is still matched by its beginning: the refusal then has the format of the right protocol.
    const found = everything ? wholeServer : findMount(this.#mounts, target?.path ?? head.target);
    const mount = connection.peer.secure || found?.plainHttp ? found : undefined;

    if (head.fields.length > 2 * connection.limits.headerFields) {
      return { mount, status: 431, detail: 'too many header fields' };
    }
    if (!target) return { mount, status: 400, detail: 'the request target is not a valid path' };
    const headers = headerOf(head.fields);
    if (typeof headers === 'string') return { mount, status: 400, detail: headers };
    const misframed = framingProblem(head, headers);
    if (misframed !== undefined) return { mount, status: 400, detail: misframed };
    if (!knownMethods.has(head.method))
      return { mount, status: 501, detail: 'this method is not implemented' };
    if (!mount) return { mount, status: 404, detail: 'not found' };
    if (isEncoded(headers['content-encoding'])) {
      const detail = 'Content-Encoding other than identity is not supported';
      return { mount, status: 415, detail, headers: { 'accept-encoding': 'identity' } };
    }
    const { expect } = headers;
    if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
      return { mount, status: 417, detail: 'the only supported expectation is 100-continue' };
    }

    let peer: Peer;
    try {
      peer = peerOf(connection.peer, headers, this.#proxies);
    } catch (error) {
      if (error instanceof Fault) return { mount, status: 400, detail: error.detail };
      throw error;
    }
    const { path, query } = target;
    const limit = typeof mount.bodyLimit === 'number' ? mount.bodyLimit : mount.bodyLimit(path);
    if (Number(headers['content-length'] ?? 0) > limit) return { mount, status: 413, detail: tooLong(limit) };

    const method = head.method === 'HEAD' ? 'GET' : head.method;
    return { mount, request: { method, path, query, headers, body: noOctets, peer }, limit };
  }
}

/** Answers `OPTIONS *`, which concerns the server as a whole (RFC 9110 §9.3.7). */
const wholeServer: Mount = {
  prefix: '*',
  plainHttp: true,
  bodyLimit: 0,
  handle: (): Promise<HttpResponse> =>
    Promise.resolve({ status: 204, headers: { allow: allowedSomewhere }, body: '' }),
  refuse: plainText,
};

/** `identity` means "not encoded" (RFC 9110 §8.4.1). */
const isEncoded = (codings = ''): boolean =>
  codings.split(',').some((coding) => !['', 'identity'].includes(coding.trim().toLowerCase()));

/**
 * Returns what is wrong with the framing fields, as far as the parser accepts it and RFC 9112 §3.2, §6.1 do not. A proxy in front
 * might read such a request differently (request smuggling).
 */
function framingProblem({ http10 }: RequestHead, header: Header): string | undefined {
  const encoding = header['transfer-encoding'];
  if (encoding !== undefined && (http10 || encoding.toLowerCase() !== 'chunked')) {
    return 'Transfer-Encoding must be chunked';
  }
  if (header.host === undefined) return http10 ? undefined : 'the request needs exactly one Host field';
  return isHost(header.host) ? undefined : 'the Host field is not a host name';
}
