import { mediaType } from '#adapters/inbound/http/header.ts';
import { openPkiMessage, type SealedPkiMessage } from '#adapters/wire/cmp/message.ts';
import { Fault } from '#core/fault.ts';
import type { HttpRequest, HttpResponse, Mount } from '../http/exchange.ts';
import type { CmpServices } from './message-context.ts';
import { parseCmpPath } from './path.ts';
import { respond } from './server.ts';

const prefix = '/.well-known/cmp';
const bodyLimit = 128 * 1024;
const contentType = 'application/pkixcmp';

/** Serves CMP over HTTP (RFC 9811), with or without TLS: the messages carry their own protection. */
export function createCmp(services: CmpServices): Mount {
  return {
    prefix,
    plainHttp: true,
    bodyLimit,
    refuse,
    async handle(request) {
      const path = parseCmpPath(request.path.slice(prefix.length));
      if (!path) return refuse(404, 'no such endpoint');
      if (request.method !== 'POST') return refuse(405, 'method not allowed', { allow: 'POST' });
      if (mediaType(request.headers['content-type'] ?? '') !== contentType) {
        return refuse(415, `Content-Type must be ${contentType}`);
      }
      if (request.body.length > bodyLimit) return refuse(413, 'request too large');
      const message = open(request);
      if (!message) return refuse(400, 'the body is not a PKIMessage in DER');
      const { address, secure } = request.peer;
      const arrival = { path, address, secure, relay: undefined };
      const body = await respond(services, message, arrival);
      return { status: 200, headers: { 'content-type': contentType }, body };
    },
  };
}

function open({ body }: HttpRequest): SealedPkiMessage | undefined {
  try {
    return openPkiMessage(body);
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

/** Responds in plain text to a body that is not a PKIMessage. */
function refuse(status: number, detail: string, headers: Record<string, string> = {}): HttpResponse {
  return { status, headers: { 'content-type': 'text/plain', ...headers }, body: `${detail}\n` };
}
