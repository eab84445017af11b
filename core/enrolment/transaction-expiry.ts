import { audit, systemActor } from '../audit/record.ts';
import type { Crls } from '../ca/crls.ts';
import { revocationWrites } from '../ca/revocation.ts';
import type { Configuration, WithConfiguration } from '../configuration/configuration.ts';
import { notOnboardedWrites } from '../onboarding/onboarded.ts';
import type { Ports } from '../ports/ports.ts';
import type { Query, Write } from '../ports/store.ts';
import type { Transaction } from '../records/transaction.ts';
import type { WithDamagedRecords } from '../storage/damaged-records.ts';
import { eachRecord } from '../storage/each-record.ts';
import { isOnboarding, responseRetention } from '../transactions/record.ts';
import type { WithCircuits } from '../upstream/circuits.ts';
import { revokeUpstreamIfPossible } from '../upstream/revocation.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'issuers' | 'log' | 'store'>,
    WithCircuits,
    WithConfiguration,
    WithDamagedRecords {}

const page = 1000;
/** The most pages of one run; the next run continues. */
const mostPages = 100;

/**
 * Ends overdue transactions: a certificate that was not confirmed is revoked (RFC 9810 §5.3.18), an undecided request expires. Deletes
 * finished transactions after their retention period: first their responses, and the rest once the opening message can no longer be
 * replayed. One instance at a time calls this.
 */
export async function expireTransactions(context: Dependencies, crls: Crls): Promise<void> {
  const configuration = await context.configuration.current();
  const cas = new Set<number>();
  await eachRecord(context, {
    task: 'transactions',
    kind: 'transaction',
    without: [],
    query: overdue(context, ['pending', 'waiting']),
    async work(transaction) {
      const ca = await expire(context, configuration, transaction);
      if (ca !== undefined) cas.add(ca);
    },
  });
  if (cas.size > 0) await crls.generateAfterRevocation([...cas], systemActor);
  for (let n = 0; n < mostPages; n++) {
    const query = overdue(context, ['done', 'rejected', 'expired']);
    const { records: finished } = await context.store.list('transaction', query);
    if (finished.length > 0) {
      await context.store.commit(finished.map((one) => forgetting(one, context.clock.now())));
    }
    if (finished.length < page) break;
  }
}

/** Keeps as much of a replayable transaction as is needed to reject a replay. */
function forgetting({ id, replayableUntil }: Transaction, now: number): Write {
  if (replayableUntil === null || replayableUntil <= now) return { op: 'delete', kind: 'transaction', id };
  const nothing = new Uint8Array(0);
  const set = {
    expiresAt: replayableUntil,
    openingAnswer: nothing,
    latestDigest: null,
    latestAnswer: null,
  } as const;
  return { op: 'update', kind: 'transaction', id, set };
}

const overdue = (
  { clock }: Pick<Ports, 'clock'>,
  states: readonly Transaction['state'][],
): Query<'transaction'> => ({
  where: [
    { field: 'expiresAt', is: 'less', value: clock.now() },
    { field: 'state', is: 'oneOf', value: states },
  ],
  order: { field: 'expiresAt', descending: false },
  limit: page,
});

/** Expires one transaction. Returns the CA of the certificate that was revoked, if any. */
async function expire(
  context: Dependencies,
  configuration: Configuration,
  transaction: Transaction,
): Promise<number | undefined> {
  const { id, state, certificate, nonce, operation } = transaction;
  const record = certificate === null ? undefined : await context.store.get('certificate', certificate);
  const set = {
    state: 'expired',
    expiresAt: context.clock.now() + responseRetention,
    request: null,
  } as const;
  const object = record ? `certificate:${record.id}` : `transaction:${id}`;
  const writes: Write[] = [
    { op: 'update', kind: 'transaction', id, where: { state, nonce }, set },
    audit(context, systemActor, { action: 'transaction.expire', object, detail: { operation } }),
  ];
  const revoked = record && (record.status === 'good' || record.status === 'hold');
  if (revoked) {
    const revocation = { reason: 'cessationOfOperation' } as const;
    writes.push(...revocationWrites(context, configuration, systemActor, record, revocation));
    if (isOnboarding(transaction)) writes.push(...(await notOnboardedWrites(context, record, systemActor)));
  }
  // Conflict: the transaction was confirmed or the certificate revoked concurrently.
  await context.store.commit(writes);
  if (!revoked) return undefined;
  await revokeUpstreamIfPossible(context, configuration, systemActor, [record], 'cessationOfOperation');
  return record.ca;
}
