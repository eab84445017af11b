import { decodeCertificationRequest } from '#adapters/wire/certification-request.ts';
import type { Ask } from '#core/enrolment/outcome.ts';
import type { Gateway } from '#core/gateway.ts';
import { enrolmentEvidence } from '../http/enrolment-evidence.ts';
import type { HttpRequest, HttpResponse, Mount } from '../http/exchange.ts';
import { mediaType } from '../http/media-type.ts';
import { type EstPath, parseEstPath } from './path.ts';
import { certsOnly, refusal, renderFault, renderOutcome } from './response.ts';

const prefix = '/.well-known/est';
const bodyLimit = 64 * 1024;

type EstGateway = Pick<Gateway, 'admit' | 'enrol' | 'caCertificates'>;
type Operation = (gateway: EstGateway, request: HttpRequest, path: EstPath) => Promise<HttpResponse>;

/** RFC 7030 §3.2.2. csrattrs (404: §4.5.2) and fullcmc are not offered. */
const operations = new Map<
  string,
  { readonly method: string; readonly allow: string; readonly run: Operation }
>([
  ['cacerts', { method: 'GET', allow: 'GET, HEAD', run: caCerts }],
  ['simpleenroll', { method: 'POST', allow: 'POST', run: enrol('enrol') }],
  ['simplereenroll', { method: 'POST', allow: 'POST', run: enrol('renew') }],
]);

/** Enrollment over Secure Transport (RFC 7030), over TLS alone. */
export function createEst(gateway: EstGateway): Mount {
  return {
    prefix,
    plainHttp: false,
    bodyLimit,
    refuse: refusal,
    async handle(request) {
      const path = parseEstPath(request.path.slice(prefix.length));
      const operation = path && operations.get(path.operation);
      if (!operation) return refusal(404, 'no such endpoint');
      if (request.method !== operation.method) {
        return refusal(405, 'method not allowed', { allow: operation.allow });
      }
      try {
        return await operation.run(gateway, request, path);
      } catch (error) {
        return renderFault(error);
      }
    },
  };
}

/** RFC 7030 §4.1. The profile that a path may name has no say: the certificates are the domain's. */
async function caCerts(gateway: EstGateway, _: HttpRequest, { domain }: EstPath): Promise<HttpResponse> {
  return certsOnly(await gateway.caCertificates(domain));
}

/** RFC 7030 §4.2. Who asks is settled before the body is looked at. */
function enrol(operation: Ask['operation']): Operation {
  return async (gateway, request, { domain, profile }) => {
    // A missing type is taken for the only one there is; another one is a mistake worth telling.
    const contentType = request.headers['content-type'];
    if (contentType !== undefined && mediaType(contentType) !== 'application/pkcs10') {
      return refusal(415, 'Content-Type is not application/pkcs10');
    }
    if (request.body.length > bodyLimit) return refusal(413, 'request too large');
    const evidence = enrolmentEvidence(request, operation);
    const requester = await gateway.admit(evidence, { protocol: 'est', domain, profile });
    const der = decodeCertificationRequest(request.body);
    return renderOutcome(await gateway.enrol(requester, { operation, request: { kind: 'pkcs10', der } }));
  };
}
