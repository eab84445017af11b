import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Device } from '../records/device.ts';
import type { Requester } from '../requester/requester.ts';
import { commonName, type Name } from '../x509/name.ts';

/**
 * The device that a registration authority speaks for: the one of its own domain that the common name of the requested subject
 * names. Faults: forbidden.
 */
export async function namedDevice(
  { store }: Pick<Ports, 'store'>,
  { domain }: Requester,
  subject: Name,
): Promise<Device> {
  const name = commonName(subject);
  const device = name === undefined ? undefined : await store.find('device', { commonName: name });
  if (device?.domain !== domain.id) {
    throw new Fault('forbidden', 'the common name of the subject names no device of this domain');
  }
  return device;
}
