import { hash } from 'node:crypto';
import { type AuditNote, audit } from '../audit/record.ts';
import type { Crls } from '../ca/crls.ts';
import { revocationWrites } from '../ca/revocation.ts';
import { sameBytes } from '../der/bytes.ts';
import { Fault } from '../fault.ts';
import { notOnboardedWrites } from '../onboarding/onboarded.ts';
import type { Ports } from '../ports/ports.ts';
import type { Write } from '../ports/store.ts';
import { requesterActor } from '../requester/admit.ts';
import type { Requester } from '../requester/requester.ts';
import type { ExchangeWithResponse } from '../transactions/exchange.ts';
import {
  demandOpener,
  exchangeWrite,
  isOnboarding,
  refusedExchange,
  responseRetention,
} from '../transactions/record.ts';
import type { WithCircuits } from '../upstream/circuits.ts';
import { revokeUpstreamIfPossible } from '../upstream/revocation.ts';
import { type HashName, type SignatureAlgorithm, signatureHash } from '../x509/algorithm.ts';
import { parseCertificate } from '../x509/certificate.ts';

interface Dependencies extends Pick<Ports, 'clock' | 'entropy' | 'issuers' | 'log' | 'store'>, WithCircuits {}

/** The sender accepts or rejects the certificate that it received, or withdraws its pending request. */
export interface Confirmation {
  readonly exchange: ExchangeWithResponse<void>;
  readonly accepted: boolean;
  /** The hash of the certificate, and its hash function if the sender names one; required to accept. */
  readonly certHash?: Uint8Array | undefined;
  readonly hash?: HashName | undefined;
}

/** See `Transactions.confirm`. */
export async function confirm(
  context: Dependencies,
  crls: Crls,
  requester: Requester,
  { exchange, accepted, certHash, hash: hashName }: Confirmation,
): Promise<void> {
  const { configuration } = requester;
  const transaction = exchange.follows;
  if (!transaction) throw new Fault('conflict', 'there is no transaction to confirm');
  demandOpener(requester, exchange);
  const isExpected = transaction.state === 'waiting';
  if (!isExpected && (accepted || transaction.state !== 'pending')) {
    throw new Fault('conflict', `the transaction expects no confirmation: it is ${transaction.state}`);
  }
  // `expireTransactions` revokes the certificate, at any instance and at any moment now.
  if (isExpected && accepted && context.clock.now() > transaction.expiresAt) {
    throw new Fault('conflict', 'the confirmation is too late: the certificate is being revoked');
  }
  const { certificate: id } = transaction;
  const record = id === null ? undefined : await context.store.get('certificate', id);
  if (accepted && !(record && certHash && sameBytes(certHash, certificateHash(record.der, hashName)))) {
    throw new Fault('badProof', 'the hash does not match the certificate');
  }
  const answer = await exchange.answer();
  const progress = {
    state: accepted ? 'done' : 'rejected',
    lasts: responseRetention,
    certificate: id,
  } as const;
  const actor = requesterActor(requester);
  const event: AuditNote = {
    action: accepted ? 'certificate.confirm' : 'certificate.reject',
    object: record ? `certificate:${record.id}` : `domain:${requester.domain.uniqueName}`,
    detail: { protocol: requester.target.protocol },
  };
  const writes: Write[] = [
    exchangeWrite(context, requester, exchange, answer, progress),
    audit(context, actor, event),
  ];
  const revoked = !accepted && record && (record.status === 'good' || record.status === 'hold');
  // A certificate that its requester rejects is revoked, because nobody will use it.
  if (revoked) {
    writes.push(
      ...revocationWrites(context, configuration, actor, record, { reason: 'cessationOfOperation' }),
    );
    if (isOnboarding(transaction)) writes.push(...(await notOnboardedWrites(context, record, actor)));
  }
  try {
    await context.store.commit(writes);
  } catch (error) {
    throw refusedExchange(error, exchange);
  }
  if (!revoked) return;
  await revokeUpstreamIfPossible(context, configuration, actor, [record], 'cessationOfOperation');
  await crls.generateAfterRevocation([record.ca], actor);
}

/**
 * The certHash of RFC 9810 §5.3.18, by the hash function of the certificate's signature unless the sender names another. For
 * signature schemes that hash by themselves, it is SHA-512 (RFC 9481 §3.3 for Ed25519; ML-DSA in the same way).
 */
function certificateHash(der: Uint8Array, named: HashName | undefined): Uint8Array {
  return hash(named ?? usualHash(parseCertificate(der).signatureAlgorithm), der, 'buffer');
}

const usualHash = (algorithm: SignatureAlgorithm | undefined): HashName =>
  algorithm === undefined ? 'sha256' : (signatureHash(algorithm) ?? 'sha512');
