import type { DeviceView } from '#core/devices/state.ts';
import { Fault } from '#core/fault.ts';
import type { Opened } from './command.ts';

/** By common name, or by id where it is a number and no device is called so. Faults: notFound. */
export async function deviceNamed({ gateway, principal }: Opened, name: string): Promise<DeviceView> {
  const { records } = await gateway.devices.list(principal, {
    where: [{ field: 'commonName', is: 'equal', value: name }],
    limit: 1,
  });
  const [device] = records;
  if (device) return device;
  if (!/^[1-9]\d{0,14}$/.test(name)) throw new Fault('notFound', `there is no device called ${name}`);
  return gateway.devices.read(principal, Number(name));
}
