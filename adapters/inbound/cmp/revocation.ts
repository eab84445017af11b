import type { PkiBody } from '#adapters/wire/cmp/body.ts';
import type { RevDetails } from '#adapters/wire/cmp/revocation.ts';
import type { PkiStatusInfo } from '#adapters/wire/cmp/status.ts';
import type { RevocationEntry, RevocationResults } from '#core/enrolment/revoke.ts';
import type { Fault } from '#core/fault.ts';
import type { Exchange, ResponseMessage } from '#core/transactions/exchange.ts';
import { extension, formatSerial } from '#core/x509/certificate.ts';
import { decodeInvalidityDate, decodeReasonCode } from '#core/x509/extensions/revocation.ts';
import { oid } from '#core/x509/oids.ts';
import type { CmpServices, Handler, MessageContext } from './message-context.ts';
import { replayableUntil } from './message-time.ts';
import { type FailureTable, failures, Refusal, refusalStatus } from './refusal.ts';
import { reply } from './reply.ts';
import { pollResponse, waitingStatus } from './status-responses.ts';

const maxEntries = 16;

type RevocationBody = Extract<PkiBody, { type: 'rr' }>;

/** Handles rr (RFC 9483 §4.2), also with several certificates (RFC 9810 §5.3.9). */
export const revoke: Handler<'rr'> = async (services, context, body) => {
  if (context.protection === 'mac') {
    throw new Refusal(
      'wrongIntegrity',
      'a revocation request must be signed with the key of the certificate itself, of a domain credential of the device, or of a registration authority',
    );
  }
  return submit(services, context, body, undefined);
};

/** The certReqId in a pollReq for anything but a certificate request (RFC 9483 §4.4). */
const noCertReqId = -1;

/** Repeats a pending revocation for a pollReq. */
export async function resumeRevocation(
  services: CmpServices,
  context: MessageContext,
  body: RevocationBody,
  certReqIds: readonly number[],
): Promise<Uint8Array> {
  if (certReqIds.length !== 1 || certReqIds[0] !== noCertReqId) {
    throw new Refusal('badRequest', 'the certReqId in a pollReq for a revocation must be -1');
  }
  return submit(services, context, body, context.transaction);
}

async function submit(
  services: CmpServices,
  context: MessageContext,
  { requests }: RevocationBody,
  follows: Exchange['follows'],
): Promise<Uint8Array> {
  if (requests.length === 0 || requests.length > maxEntries) {
    throw new Refusal('badRequest', `a revocation request must name 1 to ${maxEntries} certificates`);
  }
  const entries = requests.map(readEntry);
  const { gateway, decideWithin } = services;
  const { message, requester, seal, name, relay, expires } = context;
  const exchange = {
    name,
    operation: 'rr',
    certReqId: 0,
    message: message.der,
    replayableUntil: replayableUntil(services, message.header, expires),
    follows,
    relay,
  };
  let response: ResponseMessage | undefined;
  const keep = async (made: Promise<ResponseMessage>): Promise<ResponseMessage> => {
    response = await made;
    return response;
  };
  const answer = (results: RevocationResults): Promise<ResponseMessage> => {
    const statuses = results.map((fault, n) => statusOf(fault, entries[n]!));
    return keep(reply(services, message, seal, { type: 'rp', statuses, revCerts: [], crls: [] }));
  };
  const deferral = await gateway.revoke(requester, { entries, exchange: { ...exchange, answer } });
  if (deferral) {
    const notYet = (): Promise<ResponseMessage> =>
      keep(
        follows
          ? pollResponse(services, context, noCertReqId, deferral)
          : reply(services, message, seal, { type: 'error', status: waitingStatus(deferral) }),
      );
    await gateway.transactions.defer(requester, deferral, { ...exchange, answer: notYet }, decideWithin);
  }
  if (!response) throw new Error('the core did not ask for the response to a revocation');
  return response.message;
}

function readEntry({ certDetails, crlEntryDetails }: RevDetails): RevocationEntry {
  const { issuer, serial } = certDetails;
  if (!issuer || !serial) {
    throw new Refusal('addInfoNotAvailable', 'certDetails must contain issuer and serialNumber');
  }
  const details = { extensions: crlEntryDetails };
  const reason = extension(details, oid.reasonCode);
  const invalidityDate = extension(details, oid.invalidityDate);
  return {
    certificate: { issuer, serialNumber: formatSerial(serial) },
    described: certDetails,
    reason: reason ? decodeReasonCode(reason.value) : 'unspecified',
    ...(invalidityDate && { invalidityDate: decodeInvalidityDate(invalidityDate.value) }),
  };
}

const entryFailures: FailureTable = { ...failures, notFound: 'badCertId', conflict: 'certRevoked' };

function statusOf(fault: Fault | undefined, { reason }: RevocationEntry): PkiStatusInfo {
  if (!fault) return { status: 'accepted' };
  // A certificate that is not on hold cannot be released.
  return refusalStatus(
    fault,
    reason === 'removeFromCRL' ? { ...entryFailures, conflict: 'badRequest' } : entryFailures,
  );
}
