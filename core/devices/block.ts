import { demand, type Principal } from '../access/principal.ts';
import { audit, shorten } from '../audit/record.ts';
import type { Crls } from '../ca/crls.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithCircuits } from '../upstream/circuits.ts';
import type { RevocationReason } from '../x509/crl.ts';
import { revokeCertificatesOf } from './revoke-certificates.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'issuers' | 'log' | 'store'>,
    WithCircuits,
    WithConfiguration {}

export interface Blocking {
  /** A comment for the audit trail. */
  readonly comment: string;
  /** The reason with which its certificates are revoked too; if absent, they stay valid. */
  readonly revoke?: RevocationReason;
}

/** Blocks a device: from now on all its requests are rejected. Faults: forbidden, notFound, conflict. */
export async function blockDevice(
  context: Dependencies,
  crls: Crls,
  principal: Principal,
  id: number,
  { comment, revoke }: Blocking,
): Promise<void> {
  demand(principal, 'devices.write');
  if (revoke !== undefined) demand(principal, 'certificates.revoke');
  const { blockedAt } = await deviceWith(context, id);
  if (blockedAt !== null)
    throw new Fault('conflict', 'the device is already blocked', { id: 'device_blocked' });
  await context.store.commit([
    { op: 'update', kind: 'device', id, where: { blockedAt }, set: { blockedAt: context.clock.now() } },
    audit(context, principal.actor, {
      action: 'device.block',
      object: `device:${id}`,
      detail: { ...(comment !== '' && { comment: shorten(comment) }) },
    }),
  ]);
  if (revoke !== undefined) await revokeCertificatesOf(context, crls, principal.actor, id, revoke);
}

/** Unblocks a device. Faults: forbidden, notFound, conflict. */
export async function unblockDevice(
  context: Pick<Ports, 'clock' | 'store'>,
  principal: Principal,
  id: number,
): Promise<void> {
  demand(principal, 'devices.write');
  const { blockedAt } = await deviceWith(context, id);
  if (blockedAt === null)
    throw new Fault('conflict', 'the device is not blocked', { id: 'device_not_blocked' });
  await context.store.commit([
    { op: 'update', kind: 'device', id, where: { blockedAt }, set: { blockedAt: null } },
    audit(context, principal.actor, { action: 'device.unblock', object: `device:${id}` }),
  ]);
}

/** Reads a device. Faults: notFound. */
export async function deviceWith({ store }: Pick<Ports, 'store'>, id: number) {
  const device = await store.get('device', id);
  if (!device) throw new Fault('notFound', 'there is no such device');
  return device;
}
