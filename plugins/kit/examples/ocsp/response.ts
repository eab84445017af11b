import { createHash } from 'node:crypto';
import {
  addExtensions,
  context,
  contextConstructed,
  type DerBuilder,
  der,
  type FaultCode,
  type Responder,
  type RevocationStatus,
  revocationReasonCodes,
  tag,
  toFault,
} from 'postern';
import { basicResponse, nonceExtension } from './request.ts';

/** The status of one certificate. */
export interface Statement {
  /** CertID, DER. */
  readonly id: Uint8Array;
  readonly status: RevocationStatus;
}

/** Milliseconds since 1970, whole seconds. */
export interface Period {
  readonly thisUpdate: number;
  readonly nextUpdate: number;
}

/** OCSPResponseStatus (RFC 6960 §4.2.1). */
const responseStatus = {
  successful: 0,
  malformedRequest: 1,
  internalError: 2,
  tryLater: 3,
  unauthorized: 6,
} as const;

const bare = (status: keyof typeof responseStatus): Uint8Array =>
  der((b) => b.sequence((s) => s.integer(responseStatus[status], tag.enumerated)));

/** Error responses, which are not signed (§2.3). `unauthorized`: the responder is not authorised for this CA. */
const refusals = {
  malformed: bare('malformedRequest'),
  badCsr: bare('malformedRequest'),
  badProof: bare('malformedRequest'),
  badAlgorithm: bare('malformedRequest'),
  unauthenticated: bare('unauthorized'),
  forbidden: bare('unauthorized'),
  notFound: bare('unauthorized'),
  conflict: bare('tryLater'),
  replayed: bare('malformedRequest'),
  unsupported: bare('unauthorized'),
  tooManyRequests: bare('tryLater'),
  unavailable: bare('tryLater'),
  internal: bare('internalError'),
} as const satisfies Record<FaultCode, Uint8Array>;

/** Returns the OCSPResponse (DER) for whatever was thrown. */
export const refusal = (error: unknown): Uint8Array => refusals[toFault(error).code];

/** Returns an OCSPResponse (DER) with a signed BasicOCSPResponse (RFC 6960 §4.2.1). Throws the Faults of the responder. */
export async function signedResponse(
  responder: Responder,
  statements: readonly Statement[],
  period: Period,
  nonce: Uint8Array | undefined,
): Promise<Uint8Array> {
  const data = responseData(responder, statements, period, nonce);
  const signature = await responder.sign(data);
  const { algorithm, certificate } = responder;
  const basic = der((b) =>
    b.sequence((response) => {
      response.raw(data).raw(algorithm).bitString(signature);
      if (certificate) response.explicit(0, (certificates) => certificates.sequence(certificate));
    }),
  );
  return der((b) =>
    b.sequence((response) =>
      response
        .integer(responseStatus.successful, tag.enumerated)
        .explicit(0, (bytes) => bytes.sequence((s) => s.oid(basicResponse).octetString(basic))),
    ),
  );
}

function responseData(
  { publicKey }: Responder,
  statements: readonly Statement[],
  period: Period,
  nonce: Uint8Array | undefined,
): Uint8Array {
  return der((b) =>
    b.sequence((data) => {
      // byKey is shorter than byName. It is always SHA-1 of the key (§4.2.1).
      const keyHash = createHash('sha1').update(publicKey).digest();
      data.explicit(2, (id) => id.octetString(keyHash)).generalizedTime(period.thisUpdate);
      data.sequence((responses) => {
        for (const statement of statements) addStatement(responses, statement, period);
      });
      if (nonce) {
        const value = der((n) => n.octetString(nonce));
        data.explicit(1, (e) => addExtensions(e, [{ oid: nonceExtension, critical: false, value }]));
      }
    }),
  );
}

function addStatement(responses: DerBuilder, { id, status }: Statement, period: Period): void {
  responses.sequence((single) => {
    single.raw(id);
    addStatus(single, status);
    single.generalizedTime(period.thisUpdate);
    single.explicit(0, (next) => next.generalizedTime(period.nextUpdate));
  });
}

const nothing = new Uint8Array(0);

function addStatus(single: DerBuilder, status: RevocationStatus): void {
  if (status.kind === 'good') single.add(context(0), nothing);
  else if (status.kind === 'unknown') single.add(context(2), nothing);
  else {
    single.add(contextConstructed(1), (revoked) => {
      revoked.generalizedTime(status.at);
      const { reason } = status;
      // RFC 5280 §5.3.1: the reason should be absent instead of `unspecified`.
      if (reason === null || reason === 'unspecified') return;
      revoked.explicit(0, (code) => code.integer(revocationReasonCodes[reason], tag.enumerated));
    });
  }
}
