import type { PkiStatusInfo } from '#adapters/wire/cmp/status.ts';
import { readDer } from '#core/der/reader.ts';
import type { Confirmation } from '#core/enrolment/confirm.ts';
import { toFault } from '#core/fault.ts';
import type { ResponseMessage } from '#core/transactions/exchange.ts';
import type { HashName } from '#core/x509/algorithm.ts';
import { oid } from '#core/x509/oids.ts';
import type { CmpSurroundings, Dialogue, Handler } from './dialogue.ts';
import { noTransaction, Refusal } from './refusal.ts';
import { reply } from './reply.ts';

/** certConf (RFC 9483 §4.1.1): what the sender makes of its certificate. An empty one rejects it. */
export const confirm: Handler<'certConf'> = async (surroundings, dialogue, { statuses }) => {
  const [status, ...more] = statuses;
  if (more.length > 0) throw new Refusal('badRequest', 'there is one certificate to be confirmed');
  if (status && status.certReqId !== dialogue.transaction?.certReqId) {
    throw new Refusal('badRequest', 'certReqId is not that of the request');
  }
  const accepted = status !== undefined && isAcceptance(status.statusInfo);
  return conclude(surroundings, dialogue, {
    accepted,
    certHash: status?.certHash,
    hash: status?.hashAlg && readHashAlgorithm(status.hashAlg),
  });
};

/** RFC 9483 §4.1.1: a certificate is accepted or rejected, and only who rejects it gives a reason. */
function isAcceptance(info: PkiStatusInfo | undefined): boolean {
  if (!info || (info.status === 'accepted' && !info.failInfo)) return true;
  if (info.status === 'rejection') return false;
  throw new Refusal('badRequest', 'statusInfo is accepted without failInfo, or rejection');
}

/** An error of the sender's (RFC 9483 §3.6.2) ends the transaction: whatever it was given, it has not. */
export const abandon: Handler<'error'> = async (surroundings, dialogue) =>
  conclude(surroundings, dialogue, { accepted: false });

async function conclude(
  surroundings: CmpSurroundings,
  dialogue: Dialogue,
  confirmation: Omit<Confirmation, 'exchange'>,
): Promise<Uint8Array> {
  const { message, requester, seal, name, transaction: follows } = dialogue;
  if (!follows) throw noTransaction();
  const { operation, certReqId, state } = follows;
  const exchange = { name, operation, certReqId, message: message.der, follows };
  let answered: ResponseMessage | undefined;
  const answer = async (): Promise<ResponseMessage> => {
    answered = await reply(surroundings, message, seal, { type: 'pkiConf' });
    return answered;
  };
  try {
    await surroundings.gateway.transactions.confirm(requester, {
      ...confirmation,
      exchange: { ...exchange, answer },
    });
  } catch (error) {
    const { code, detail } = toFault(error);
    if (code === 'badProof') throw new Refusal('badCertId', detail);
    if (code === 'conflict') throw new Refusal(state === 'done' ? 'certConfirmed' : 'badRequest', detail);
    throw error;
  }
  if (!answered) throw new Error('a confirmation without its answer');
  return answered.message;
}

const hashes: readonly HashName[] = ['sha256', 'sha384', 'sha512'];

/** AlgorithmIdentifier of a hash function, DER (RFC 5754 §2: parameters left out, or NULL). */
function readHashAlgorithm(identifier: Uint8Array): HashName {
  const which = readDer(identifier, (reader) => {
    const algorithm = reader.sequence();
    const found = algorithm.oid();
    if (!algorithm.empty) algorithm.null();
    algorithm.finish();
    return found;
  });
  const name = hashes.find((hash) => oid[hash] === which);
  if (!name) throw new Refusal('badAlg', `unknown or weak hash function ${which}`);
  return name;
}
