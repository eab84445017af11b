import { enrolmentEvidence } from '#adapters/inbound/http/enrolment.ts';
import { mediaType } from '#adapters/inbound/http/header.ts';
import { decodeCertificationRequest } from '#adapters/wire/certification-request.ts';
import type { Gateway } from '#core/gateway.ts';
import type { EnrolmentRequest } from '#core/issuance/enrolment-request.ts';
import type { Evidence } from '#core/requester/evidence.ts';
import type { HttpResponse, Mount } from '../http/exchange.ts';
import { type EstPath, parseEstPath } from './path.ts';
import { certsOnly, noAttributes, refusal, renderChallenge, renderFault, renderOutcome } from './response.ts';

const prefix = '/.well-known/est';
const bodyLimit = 64 * 1024;

type EstGateway = Pick<Gateway, 'admit' | 'enrol' | 'caCertificates'>;

interface Operation {
  readonly method: string;
  readonly allow: string;
  /** The requested operation; undefined for CA certificates. */
  readonly requested?: EnrolmentRequest['operation'];
  readonly keyMadeHere?: boolean;
}

/** The operations of RFC 7030 §3.2.2. CSR attributes are served separately, fullcmc is not supported. */
const operations = new Map<string, Operation>([
  ['cacerts', { method: 'GET', allow: 'GET, HEAD' }],
  ['simpleenroll', { method: 'POST', allow: 'POST', requested: 'enrol' }],
  ['simplereenroll', { method: 'POST', allow: 'POST', requested: 'renew' }],
  ['serverkeygen', { method: 'POST', allow: 'POST', requested: 'enrol', keyMadeHere: true }],
]);

/** Serves Enrollment over Secure Transport (RFC 7030), only over TLS. */
export function createEst(gateway: EstGateway): Mount {
  return {
    prefix,
    plainHttp: false,
    bodyLimit,
    refuse: refusal,
    async handle(request) {
      const path = parseEstPath(request.path.slice(prefix.length));
      if (path?.operation === 'csrattrs') return await attributes(gateway, path);
      const operation = path && operations.get(path.operation);
      if (!operation) return refusal(404, 'no such endpoint');
      if (request.method !== operation.method) {
        return refusal(405, 'method not allowed', { allow: operation.allow });
      }
      const { domain, profile } = path;
      let evidence: Evidence | undefined;
      try {
        // §4.1. The response depends on the domain only, but a profile in the path must belong to it.
        if (!operation.requested) return certsOnly(await gateway.caCertificates(domain, profile));
        // §4.2. Only this type is possible, so it may be missing.
        const contentType = request.headers['content-type'];
        if (contentType !== undefined && mediaType(contentType) !== 'application/pkcs10') {
          return refusal(415, 'Content-Type must be application/pkcs10');
        }
        if (request.body.length > bodyLimit) return refusal(413, 'request too large');
        // The client is authenticated before its body is read.
        evidence = enrolmentEvidence(request, operation.requested);
        const requester = await gateway.admit(evidence, { protocol: 'est', domain, profile });
        const der = decodeCertificationRequest(request.body);
        const { keyMadeHere } = operation;
        const enrolment: EnrolmentRequest = {
          operation: operation.requested,
          request: { kind: 'pkcs10', der, keyMadeHere },
          channelBinding: () => request.peer.channelBinding?.(),
        };
        return renderOutcome(await gateway.enrol(requester, enrolment));
      } catch (error) {
        return evidence?.kind === 'none' && operation.requested === 'enrol'
          ? renderChallenge(error)
          : renderFault(error, operation.requested);
      }
    },
  };
}

/** Responds that there are no CSR attributes, if the domain and the profile exist. */
async function attributes(gateway: EstGateway, { domain, profile }: EstPath): Promise<HttpResponse> {
  try {
    await gateway.caCertificates(domain, profile);
    return noAttributes;
  } catch (error) {
    return renderFault(error, undefined);
  }
}
