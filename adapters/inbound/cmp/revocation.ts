import type { PkiBody } from '#adapters/wire/cmp/body.ts';
import type { RevDetails } from '#adapters/wire/cmp/revocation.ts';
import type { PkiStatusInfo } from '#adapters/wire/cmp/status.ts';
import type { RevocationEntry, RevocationResults } from '#core/enrolment/revoke.ts';
import type { Fault } from '#core/fault.ts';
import type { Exchange, ResponseMessage } from '#core/transactions/exchange.ts';
import { extension, formatSerial } from '#core/x509/certificate.ts';
import { decodeInvalidityDate, decodeReasonCode } from '#core/x509/extensions/revocation.ts';
import { oid } from '#core/x509/oids.ts';
import { wait, waiting } from './deferral.ts';
import type { CmpSurroundings, Dialogue, Handler } from './dialogue.ts';
import { replayableUntil } from './message-time.ts';
import { type FailureTable, failures, Refusal, refusalStatus } from './refusal.ts';
import { reply } from './reply.ts';

const mostEntries = 16;

type RevocationBody = Extract<PkiBody, { type: 'rr' }>;

/** rr (RFC 9483 §4.2), and several certificates at once as RFC 9810 §5.3.9 has it. */
export const revoke: Handler<'rr'> = async (surroundings, dialogue, body) => {
  if (dialogue.protection === 'mac') {
    throw new Refusal(
      'wrongIntegrity',
      'a revocation request has to be signed: by the certificate itself, a domain credential of the device, or a registration authority',
    );
  }
  return ask(surroundings, dialogue, body, undefined);
};

/** RFC 9483 §4.4: what is not about certificate requests is polled for by this number. */
const noCertReqId = -1;

/** The same once more, for a pollReq. */
export async function resumeRevocation(
  surroundings: CmpSurroundings,
  dialogue: Dialogue,
  body: RevocationBody,
  certReqIds: readonly number[],
): Promise<Uint8Array> {
  if (certReqIds.length !== 1 || certReqIds[0] !== noCertReqId) {
    throw new Refusal('badRequest', 'pollReq has to name a revocation that is waiting by the certReqId -1');
  }
  return ask(surroundings, dialogue, body, dialogue.transaction);
}

async function ask(
  surroundings: CmpSurroundings,
  dialogue: Dialogue,
  { requests }: RevocationBody,
  follows: Exchange['follows'],
): Promise<Uint8Array> {
  if (requests.length === 0 || requests.length > mostEntries) {
    throw new Refusal('badRequest', `a message names 1 to ${mostEntries} certificates`);
  }
  const entries = requests.map(readEntry);
  const { gateway, decideWithin } = surroundings;
  const { message, requester, seal, name, relay, expires } = dialogue;
  const exchange = {
    name,
    operation: 'rr',
    certReqId: 0,
    message: message.der,
    replayableUntil: replayableUntil(surroundings, message.header, expires),
    follows,
    relay,
  };
  let answered: ResponseMessage | undefined;
  const remember = async (made: Promise<ResponseMessage>): Promise<ResponseMessage> => {
    answered = await made;
    return answered;
  };
  const answer = (results: RevocationResults): Promise<ResponseMessage> => {
    const statuses = results.map((fault, n) => statusOf(fault, entries[n]!));
    return remember(reply(surroundings, message, seal, { type: 'rp', statuses, revCerts: [], crls: [] }));
  };
  const deferral = await gateway.revoke(requester, { entries, exchange: { ...exchange, answer } });
  if (deferral) {
    const later = (): Promise<ResponseMessage> =>
      remember(
        follows
          ? wait(surroundings, dialogue, noCertReqId, deferral)
          : reply(surroundings, message, seal, { type: 'error', status: waiting(deferral) }),
      );
    await gateway.transactions.defer(requester, deferral, { ...exchange, answer: later }, decideWithin);
  }
  if (!answered) throw new Error('a revocation without its answer');
  return answered.message;
}

function readEntry({ certDetails, crlEntryDetails }: RevDetails): RevocationEntry {
  const { issuer, serial } = certDetails;
  if (!issuer || !serial) {
    throw new Refusal('addInfoNotAvailable', 'a certificate is named by issuer and serialNumber, both');
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
  // What is not on hold cannot be released.
  return refusalStatus(
    fault,
    reason === 'removeFromCRL' ? { ...entryFailures, conflict: 'badRequest' } : entryFailures,
  );
}
