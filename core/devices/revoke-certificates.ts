import { audit } from '../audit/record.ts';
import type { Crls } from '../ca/crls.ts';
import { deactivationWrites, revocationWrites } from '../ca/revocation.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Actor } from '../records/audit-event.ts';
import type { StoredCertificate } from '../records/certificate.ts';
import { retried } from '../storage/commit.ts';
import type { WithCircuits } from '../upstream/circuits.ts';
import { revokeUpstreamIfPossible } from '../upstream/revocation.ts';
import type { RevocationReason } from '../x509/crl.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'issuers' | 'log' | 'store'>,
    WithCircuits,
    WithConfiguration {}

const perCommit = 100;

/**
 * Revokes all certificates of a device, or with certificateHold puts them on hold, issues new CRLs and returns the
 * number of certificates. Uses several commits for many certificates: after an interruption, a repeated call completes
 * the rest. Faults: malformed for removeFromCRL, conflict, unavailable.
 */
export async function revokeCertificatesOf(
  context: Dependencies,
  crls: Crls,
  actor: Actor,
  device: number,
  reason: RevocationReason,
): Promise<number> {
  if (reason === 'removeFromCRL') {
    throw new Fault('malformed', 'removeFromCRL is not possible here: release certificates one by one', {
      field: 'reason',
    });
  }
  const cas = new Set<number>();
  let count = 0;
  for (;;) {
    const configuration = await context.configuration.current();
    // One of them may be revoked by somebody else meanwhile.
    const records = await retried(async () => {
      const held = await heldBy(context, device, reason);
      if (held.length === 0) return held;
      const writes = held.flatMap((record) => [
        ...revocationWrites(context, configuration, actor, record, { reason }),
        ...deactivationWrites(context, configuration, actor, record),
      ]);
      await context.store.commit([
        ...writes,
        audit(context, actor, {
          action: 'device.revokeCertificates',
          object: `device:${device}`,
          detail: { reason, count: held.length },
        }),
      ]);
      return held;
    });
    for (const { ca } of records) cas.add(ca);
    count += records.length;
    await revokeUpstreamIfPossible(context, configuration, actor, records, reason);
    if (records.length < perCommit) break;
  }
  if (count > 0) {
    context.configuration.expire();
    await crls.generateAfterRevocation(cas, actor);
  }
  return count;
}

async function heldBy(
  { store }: Pick<Ports, 'store'>,
  device: number,
  reason: RevocationReason,
): Promise<readonly StoredCertificate[]> {
  const { records } = await store.list('certificate', {
    where: [
      { field: 'device', is: 'equal', value: device },
      { field: 'status', is: 'oneOf', value: reason === 'certificateHold' ? ['good'] : ['good', 'hold'] },
    ],
    limit: perCommit,
  });
  return records;
}
