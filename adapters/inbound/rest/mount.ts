import { enrolmentEvidence } from '#adapters/inbound/http/enrolment.ts';
import { mediaType } from '#adapters/inbound/http/header.ts';
import { decodeCertificationRequest } from '#adapters/wire/certification-request.ts';
import { Fault } from '#core/fault.ts';
import type { Gateway } from '#core/gateway.ts';
import type { Mount } from '../http/exchange.ts';
import { parseRestPath, readEnrolmentBody } from './request.ts';
import { refusal, renderFault, renderOutcome } from './response.ts';

const prefix = '/rest';
const bodyLimit = 64 * 1024;

type RestGateway = Pick<Gateway, 'admit' | 'enrol'>;

/** Serves the JSON enrolment API, only over TLS. */
export function createRest(gateway: RestGateway): Mount {
  return {
    prefix,
    plainHttp: false,
    bodyLimit,
    refuse: refusal,
    async handle(request) {
      const path = parseRestPath(request.path.slice(prefix.length));
      if (!path) return refusal(404, 'no such endpoint');
      if (request.method !== 'POST') return refusal(405, 'method not allowed', { allow: 'POST' });
      if (mediaType(request.headers['content-type'] ?? '') !== 'application/json') {
        return refusal(415, 'Content-Type must be application/json');
      }
      if (request.body.length > bodyLimit) return refusal(413, 'request too large');
      const { operation, domain, profile } = path;
      let der: Uint8Array | undefined;
      try {
        // The client is authenticated before its body is read.
        const evidence = enrolmentEvidence(request, operation);
        const requester = await gateway.admit(evidence, { protocol: 'rest', domain, profile });
        der = decodeCertificationRequest(readEnrolmentBody(request.body));
        return renderOutcome(await gateway.enrol(requester, { operation, request: { kind: 'pkcs10', der } }));
      } catch (error) {
        return renderFault(der ? asCsrFault(error) : error, operation);
      }
    },
  };
}

/** Turns `malformed` into `badCsr`: once the JSON is parsed, only the CSR inside can be malformed. */
function asCsrFault(error: unknown): unknown {
  if (!(error instanceof Fault) || error.code !== 'malformed') return error;
  const { detail, hint } = error;
  return new Fault('badCsr', detail, hint === undefined ? { cause: error } : { hint, cause: error });
}
