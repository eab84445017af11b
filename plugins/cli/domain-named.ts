import { Fault } from '#core/fault.ts';
import type { Domain } from '#core/records/domain.ts';
import type { Opened } from './command.ts';

/** Faults: notFound. */
export async function domainNamed(
  { gateway, principal }: Pick<Opened, 'gateway' | 'principal'>,
  uniqueName: string,
): Promise<Domain> {
  const { records } = await gateway.domains.list(principal, {
    where: [{ field: 'uniqueName', is: 'equal', value: uniqueName }],
    limit: 1,
  });
  const [domain] = records;
  if (!domain) throw new Fault('notFound', `there is no domain called ${uniqueName}`);
  return domain;
}
