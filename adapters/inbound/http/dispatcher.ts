import { Fault } from '#core/fault.ts';
import type { Connection } from './connection.ts';
import { peerOf, type TrustedProxies } from './evidence.ts';
import type { HttpResponse, Mount, Peer } from './exchange.ts';
import { type Header, headerOf } from './header.ts';
import { allowedSomewhere, knownMethods } from './methods.ts';
import type { RequestHead } from './parser.ts';
import { type Announced, Reception, type Refused, tooLong } from './reception.ts';
import { plainText } from './respond.ts';
import { findMount, isHost, parseTarget } from './target.ts';

const noOctets = new Uint8Array();

/** From a request whose header is there to the mount that answers it. */
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
    const fate = this.#fateOf(connection, head);
    const reception = new Reception(connection, head, fate, this.#onError);
    if ('status' in fate) reception.refuse(fate.status, fate.detail, fate.headers);
    else {
      connection.expect(connection.limits.bodyMs, reception);
      if (fate.request.headers.expect !== undefined && !head.old) connection.invite();
    }
    return reception;
  }

  #fateOf(connection: Connection, head: RequestHead): Announced | Refused {
    const everything = head.method === 'OPTIONS' && head.target === '*';
    const target = everything ? { path: '*', query: '' } : parseTarget(head.target);
    // Of a target that is none, the beginning still says in whose words it is refused.
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
      return { mount, status: 417, detail: 'nothing but 100-continue can be expected' };
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

/** RFC 9110 §9.3.7: `OPTIONS *` is about the server, not about a resource. */
const wholeServer: Mount = {
  prefix: '*',
  plainHttp: true,
  bodyLimit: 0,
  handle: (): Promise<HttpResponse> =>
    Promise.resolve({ status: 204, headers: { allow: allowedSomewhere }, body: '' }),
  refuse: plainText,
};

/** RFC 9110 §8.4.1: `identity` is no coding. */
const isEncoded = (codings = ''): boolean =>
  codings.split(',').some((coding) => !['', 'identity'].includes(coding.trim().toLowerCase()));

/** What the parser lets pass and RFC 9112 §3.2, §6.1 do not: another party on the way might frame the request otherwise. */
function framingProblem({ old }: RequestHead, header: Header): string | undefined {
  const encoding = header['transfer-encoding'];
  if (encoding !== undefined && (old || encoding.toLowerCase() !== 'chunked')) {
    return 'Transfer-Encoding other than chunked';
  }
  if (header.host === undefined) return old ? undefined : 'there has to be one Host field';
  return isHost(header.host) ? undefined : 'Host is not the name of a host';
}
