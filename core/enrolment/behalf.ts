import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Device } from '../records/device.ts';
import type { Requester } from '../requester/requester.ts';
import { commonName, type Name } from '../x509/name.ts';

/**
 * Finds the device that a registration authority requests a certificate for: the device in the registration authority's domain
 * whose name is the common name of the requested subject. Faults: forbidden.
 */
export async function namedDevice(
  { store }: Pick<Ports, 'store'>,
  { domain }: Requester,
  subject: Name,
): Promise<Device> {
  const name = commonName(subject);
  const device = name === undefined ? undefined : await store.find('device', { commonName: name });
  if (device?.domain !== domain.id) {
    throw new Fault('forbidden', 'the common name in the subject is not the name of a device in this domain');
  }
  return device;
}
