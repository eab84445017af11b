import { infoTypes } from '#adapters/wire/cmp/info-types.ts';
import type { PkiMessage } from '#adapters/wire/cmp/message.ts';
import { hasValue } from '#adapters/wire/cmp/typed-value.ts';
import { Fault } from '#core/fault.ts';
import type { RevocationReason } from '#core/x509/crl.ts';
import { refusal } from './failure.ts';

/** The result of an enrolment request or of a poll (pollReq). */
export type EnrolmentResult =
  | {
      readonly kind: 'issued';
      /** DER. `others`: further certificates of the response, DER, unordered and unverified. */
      readonly certificate: Uint8Array;
      readonly others: readonly Uint8Array[];
      readonly certReqId: number;
      /** The upstream does without a confirmation (RFC 9483 §4.1.1). */
      readonly confirmed: boolean;
    }
  /** `seconds`: checkAfter, if the response has one. */
  | { readonly kind: 'waiting'; readonly certReqId: number; readonly seconds: number | undefined };

/** RFC 9483 §4.4: the certReqId of messages that do not concern a certificate request. */
const noCertReqId = -1;

/** Whether the upstream rejected the messageTime as too far from its own time (RFC 9483 §3.5). */
export const isBadTime = ({ body }: PkiMessage): boolean =>
  body.type === 'error' && body.status.failInfo?.includes('badTime') === true;

const malformed = (what: string): Fault => new Fault('malformed', `the upstream CA responded ${what}`);

/** Reads the response to an enrolment request or a poll. `nested`: see `refusal`. Faults: malformed; those of `refusal`. */
export function readEnrolmentResponse(
  { body, header, extraCerts }: PkiMessage,
  certReqIds: readonly number[],
  nested = false,
): EnrolmentResult {
  switch (body.type) {
    case 'ip':
    case 'cp':
    case 'kup': {
      const [response, ...more] = body.responses;
      if (!response || more.length > 0) throw malformed('without exactly one certificate');
      const { certReqId, status, certifiedKeyPair } = response;
      if (!certReqIds.includes(certReqId)) throw malformed('another request (certReqId)');
      if (status.status === 'rejection') throw refusal(status, nested);
      if (status.status === 'waiting') return { kind: 'waiting', certReqId, seconds: undefined };
      const certificate = certifiedKeyPair?.certificate;
      if (!certificate) throw malformed('that a certificate was issued, but did not include it');
      if (!(certificate instanceof Uint8Array)) throw malformed('with an encrypted certificate');
      const confirmed = hasValue(header.generalInfo, infoTypes.implicitConfirm);
      const others = [...body.caPubs, ...extraCerts];
      return { kind: 'issued', certificate, others, certReqId, confirmed };
    }
    case 'pollRep': {
      const [poll, ...more] = body.polls;
      if (!poll || more.length > 0) throw malformed('without exactly one pollRep entry');
      if (![...certReqIds, noCertReqId].includes(poll.certReqId))
        throw malformed('about another request (certReqId)');
      return { kind: 'waiting', certReqId: poll.certReqId, seconds: poll.checkAfter };
    }
    case 'error':
      if (body.status.status === 'waiting')
        return { kind: 'waiting', certReqId: noCertReqId, seconds: undefined };
      throw refusal(body.status, nested);
    default:
      throw malformed(`a message of type ${body.type}`);
  }
}

/** Throws unless the upstream revoked or released the certificate: Faults as of `Issuer.revoke`. `pause`: Retry-After in seconds. */
export function readRevocation({ body }: PkiMessage, reason: RevocationReason, pause: number): void {
  const status = body.type === 'rp' ? body.statuses[0] : body.type === 'error' ? body.status : undefined;
  if (!status) throw malformed(`a revocation with a message of type ${body.type}`);
  if (status.status === 'waiting')
    throw new Fault('unavailable', 'the revocation is pending at the upstream CA', {
      retryAfter: pause,
    });
  if (body.type === 'rp' && status.status !== 'rejection') return;
  // The certificate was revoked before. For a release (removeFromCRL), certRevoked is a failure instead.
  if (reason !== 'removeFromCRL' && status.failInfo?.includes('certRevoked')) return;
  // RFC 9483 §4.2: wrongIntegrity rejects the MAC for revocations only; the shared secret still works for enrolment.
  if (status.failInfo?.includes('wrongIntegrity'))
    throw new Fault(
      'unsupported',
      'the upstream CA does not accept a revocation protected by a shared secret',
      {
        hint: 'configure a client_certificate for the issuer, or revoke the certificate at the upstream CA',
      },
    );
  throw refusal(status);
}

/** Returns the senderNonce, which the next message repeats as recipNonce. Faults: malformed. */
export function senderNonceOf({ header: { senderNonce } }: PkiMessage): Uint8Array {
  if (!senderNonce?.length) throw malformed('without a senderNonce');
  return senderNonce;
}
