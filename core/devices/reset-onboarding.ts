import { demand, type Principal } from '../access/principal.ts';
import { audit } from '../audit/record.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Device } from '../records/device.ts';
import { notOnboarded } from './configs.ts';

/**
 * Lets a device onboard once more, with whatever IDevID of its truststore bears its serial number. The certificates that it has
 * stay as they are. Faults: forbidden, notFound, conflict.
 */
export async function resetOnboarding(
  context: Pick<Ports, 'clock' | 'store'>,
  principal: Principal,
  id: number,
): Promise<Device> {
  demand(principal, 'devices.write');
  const device = await context.store.get('device', id);
  if (!device) throw new Fault('notFound', 'there is no such device');
  if (device.onboardingConfig === null)
    throw new Fault('conflict', 'the device has no onboarding configuration');
  await context.store.commit([
    { op: 'update', kind: 'onboardingConfig', id: device.onboardingConfig, set: notOnboarded },
    audit(context, principal.actor, { action: 'device.resetOnboarding', object: `device:${id}` }),
  ]);
  return device;
}
