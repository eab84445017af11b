import { expiredWithDevice } from '../approvals/expiry.ts';
import { audit } from '../audit/record.ts';
import { revocationWrites } from '../ca/revocation.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Kind, Write } from '../ports/store.ts';
import type { Actor } from '../records/audit-event.ts';
import type { StoredCertificate } from '../records/certificate.ts';
import type { Device } from '../records/device.ts';
import { retried } from '../storage/commit.ts';
import type { WithCircuits } from '../upstream/circuits.ts';
import { revokeUpstreamIfPossible } from '../upstream/revocation.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'issuers' | 'log' | 'store'>,
    WithCircuits,
    WithConfiguration {}

/**
 * Deletes a device in one commit, and returns the CAs that need a new CRL. Its configuration is deleted, its valid
 * certificates are revoked (cessationOfOperation), other records no longer refer to it, and its pending and uncollected
 * approvals expire. Faults: notFound, conflict.
 */
export const removeDevice = (context: Dependencies, id: number, actor: Actor): Promise<ReadonlySet<number>> =>
  // Retries, because the device may receive a certificate, its configuration may be given to another device, or an
  // approval may be decided concurrently.
  retried(async () => {
    const device = await context.store.get('device', id);
    if (!device) throw new Fault('notFound', 'there is no such device');
    const certificates = await certificatesOf(context, id);
    const held = certificates.filter(({ status }) => status === 'good' || status === 'hold');
    const { commonName } = device;
    const configuration = await context.configuration.current();
    const revocations = held.flatMap((record) =>
      revocationWrites(context, configuration, actor, record, { reason: 'cessationOfOperation' }),
    );
    await context.store.commit([
      ...revocations,
      ...certificates.map(detached),
      { op: 'delete', kind: 'device', id },
      ...(await ownConfiguration(context, device)),
      ...(await expiredWithDevice(context, configuration, id, actor)),
      audit(context, actor, {
        action: 'device.delete',
        object: `device:${id}`,
        detail: { commonName, revoked: held.length },
      }),
    ]);
    await revokeUpstreamIfPossible(context, configuration, actor, held, 'cessationOfOperation');
    return new Set(held.map(({ ca }) => ca));
  });

async function certificatesOf(
  { store }: Pick<Ports, 'store'>,
  device: number,
): Promise<readonly StoredCertificate[]> {
  const records: StoredCertificate[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list('certificate', {
      where: [{ field: 'device', is: 'equal', value: device }],
      limit: 1000,
      ...(cursor && { cursor }),
    });
    records.push(...page.records);
    cursor = page.next;
  } while (cursor);
  return records;
}

/** Certificates that are being signed for the device are marked as failed. */
const detached = ({ id, status }: StoredCertificate): Write =>
  status === 'intended'
    ? {
        op: 'update',
        kind: 'certificate',
        id,
        where: { status: 'intended' },
        set: { device: null, status: 'failed' },
      }
    : { op: 'update', kind: 'certificate', id, set: { device: null } };

/** Returns the writes that delete the configurations that no other device uses. */
export async function ownConfiguration(
  { store }: Pick<Ports, 'store'>,
  { onboardingConfig, noOnboardingConfig }: Pick<Device, 'onboardingConfig' | 'noOnboardingConfig'>,
): Promise<readonly Write[]> {
  const writes: Write[] = [];
  for (const [kind, id] of [
    ['onboardingConfig', onboardingConfig],
    ['noOnboardingConfig', noOnboardingConfig],
  ] as const satisfies readonly (readonly [Kind, number | null])[]) {
    if (id === null) continue;
    const users = await store.count('device', [{ field: kind, is: 'equal', value: id }], 2);
    if (users === 1) writes.push({ op: 'delete', kind, id });
  }
  return writes;
}
