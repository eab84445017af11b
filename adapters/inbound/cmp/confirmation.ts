import type { PkiStatusInfo } from '#adapters/wire/cmp/status.ts';
import { readDer } from '#core/der/reader.ts';
import type { Confirmation } from '#core/enrolment/confirm.ts';
import { toFault } from '#core/fault.ts';
import type { ResponseMessage } from '#core/transactions/exchange.ts';
import type { HashName } from '#core/x509/algorithm.ts';
import { oid } from '#core/x509/oids.ts';
import type { CmpServices, Handler, MessageContext } from './message-context.ts';
import { noTransaction, Refusal } from './refusal.ts';
import { reply } from './reply.ts';

/** Handles certConf (RFC 9483 §4.1.1): the sender accepts or rejects its certificate. An empty certConf rejects it. */
export const confirm: Handler<'certConf'> = async (services, context, { statuses }) => {
  const [status, ...more] = statuses;
  if (more.length > 0) throw new Refusal('badRequest', 'certConf must confirm exactly one certificate');
  if (status && status.certReqId !== context.transaction?.certReqId) {
    throw new Refusal('badRequest', 'certReqId differs from that of the request');
  }
  const accepted = status !== undefined && isAcceptance(status.statusInfo);
  return conclude(services, context, {
    accepted,
    certHash: status?.certHash,
    hash: status?.hashAlg && readHashAlgorithm(status.hashAlg),
  });
};

/** A certificate is accepted or rejected, and failInfo is allowed only with a rejection (RFC 9483 §4.1.1). */
function isAcceptance(info: PkiStatusInfo | undefined): boolean {
  if (!info || (info.status === 'accepted' && !info.failInfo)) return true;
  if (info.status === 'rejection') return false;
  throw new Refusal('badRequest', 'statusInfo must be "accepted" without failInfo, or "rejection"');
}

/** Handles an error message of the sender (RFC 9483 §3.6.2): it ends the transaction and rejects the certificate. */
export const abandon: Handler<'error'> = async (services, context) =>
  conclude(services, context, { accepted: false });

async function conclude(
  services: CmpServices,
  context: MessageContext,
  confirmation: Omit<Confirmation, 'exchange'>,
): Promise<Uint8Array> {
  const { message, requester, seal, name, transaction: follows } = context;
  if (!follows) throw noTransaction();
  const { operation, certReqId, state } = follows;
  const exchange = { name, operation, certReqId, message: message.der, follows };
  let response: ResponseMessage | undefined;
  const answer = async (): Promise<ResponseMessage> => {
    response = await reply(services, message, seal, { type: 'pkiConf' });
    return response;
  };
  try {
    await services.gateway.transactions.confirm(requester, {
      ...confirmation,
      exchange: { ...exchange, answer },
    });
  } catch (error) {
    const { code, detail } = toFault(error);
    if (code === 'badProof') throw new Refusal('badCertId', detail);
    if (code === 'conflict') throw new Refusal(state === 'done' ? 'certConfirmed' : 'badRequest', detail);
    throw error;
  }
  if (!response) throw new Error('the core did not ask for the response to a confirmation');
  return response.message;
}

const hashes: readonly HashName[] = ['sha256', 'sha384', 'sha512'];

/** Reads the AlgorithmIdentifier (DER) of a hash function (RFC 5754 §2: without parameters, or with NULL). */
function readHashAlgorithm(identifier: Uint8Array): HashName {
  const identifierOid = readDer(identifier, (reader) => {
    const algorithm = reader.sequence();
    const found = algorithm.oid();
    if (!algorithm.empty) algorithm.null();
    algorithm.finish();
    return found;
  });
  const name = hashes.find((hash) => oid[hash] === identifierOid);
  if (!name)
    throw new Refusal(
      'badAlg',
      `the hash function ${identifierOid} is unknown or weak: use SHA-256, -384 or -512`,
    );
  return name;
}
