import type { DeviceView } from '#core/devices/state.ts';
import { Fault } from '#core/fault.ts';
import type { Kind, Page, Query } from '#core/ports/store.ts';
import type { Domain } from '#core/records/domain.ts';
import type { Opened } from './command.ts';

/** Finds a device by common name; if there is none and the name is a number, by id. Faults: notFound. */
export async function deviceNamed({ gateway, principal }: Opened, name: string): Promise<DeviceView> {
  const { records } = await gateway.devices.list(principal, {
    where: [{ field: 'commonName', is: 'equal', value: name }],
    limit: 1,
  });
  const [device] = records;
  if (device) return device;
  if (!/^[1-9]\d{0,14}$/.test(name))
    throw new Fault('notFound', `there is no device ${name}: see postern device list`);
  return gateway.devices.read(principal, Number(name));
}

/** Finds a domain by its unique name. Faults: notFound. */
export async function domainNamed(
  { gateway, principal }: Pick<Opened, 'gateway' | 'principal'>,
  uniqueName: string,
): Promise<Domain> {
  const { records } = await gateway.domains.list(principal, {
    where: [{ field: 'uniqueName', is: 'equal', value: uniqueName }],
    limit: 1,
  });
  const [domain] = records;
  if (!domain) throw new Fault('notFound', `there is no domain ${uniqueName}: see postern domain list`);
  return domain;
}

const pageSize = 1000;

/** Reads all records of a list, or the first `limit` records; oldest first unless `order` is given. */
export async function pages<K extends Kind, T>(
  list: (query: Query<K>) => Promise<Page<T>>,
  query: Pick<Query<K>, 'where' | 'search' | 'referral' | 'order'> = {},
  limit = Number.POSITIVE_INFINITY,
): Promise<T[]> {
  const records: T[] = [];
  let cursor: string | undefined;
  do {
    const page = await list({
      order: { field: 'id', descending: false },
      ...query,
      limit: Math.min(pageSize, limit - records.length),
      ...(cursor !== undefined && { cursor }),
    });
    records.push(...page.records);
    cursor = page.next;
  } while (cursor !== undefined && records.length < limit);
  return records;
}
